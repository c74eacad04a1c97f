"""Why: what went into an answer, each fact with a button to forget it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from relay.core.models import Space
from relay.core.prices import Prices, dollars
from relay.core.text import escape_markdown, parse_number, pluralize, shorten
from relay.memory.rows.usage import ToolCall
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed, verb
from relay.surfaces.chat.history.tools import tools_told
from relay.surfaces.chat.reply import NOT_YOURS, ButtonReply, CommandReply, Json, button
from relay.surfaces.chat.times import moment

PAGE = 6
LAYERS = ("soul", "persona", "memory", "summary", "recent", "recalled", "message", "media")
TAINTS = {
    "message": "what you sent held words of others",
    "reply": "it replies to words of others",
    "memory": "some of what I know here is from others",
    "summary": "the summary comes from words of others",
    "people": "several people spoke before",
    "recent": "earlier messages held words of others",
    "recalled": "what was recalled holds words of others",
    "tool": "a tool brought in words of others",
}
SINCE = {"active": "", "superseded": " (replaced since)", "archived": " (put away since)"}
NOT_KEPT = "What went into it is not kept any more."
NO_ANSWER = "That is no answer of mine. Reply with /why to an answer, or send it alone for my last one here."


@verb("why", help="what went into an answer (reply to it), and what it cost")
async def why(call: ChatContext) -> CommandReply:
    """Explains the answer that this replies to, else the last one here."""
    target = call.message.get("reply_to_message") or {}
    under = 0 if "forum_topic_created" in target else int(target.get("message_id") or 0)
    turn_id = await call.store.answered_turn(call.bot_id, call.chat_id, call.topic_id, under, call.space)
    if not turn_id:
        return CommandReply(NO_ANSWER if under else "I have not answered anything here yet.", private=True)
    found = await seen(call, turn_id)
    if found is None:
        return CommandReply("That answer is not yours to look into.", private=True)
    return CommandReply(
        explained(found, 1, call.zone, call.services.budget.prices), rows=fact_rows(found, 1), private=True
    )


@pressed("yp")
async def turn_page(call: ChatContext, turn_id: str, page: str) -> ButtonReply:
    """Shows another page of the facts."""
    found = await seen(call, parse_number(turn_id) or 0)
    return NOT_YOURS if found is None else shown(found, parse_number(page) or 1, call)


@pressed("yf")
async def forget_fact(call: ChatContext, turn_id: str, memory_id: str, page: str) -> ButtonReply:
    """Forgets one of the facts, as /forget does."""
    found = await seen(call, parse_number(turn_id) or 0)
    fact = next((row for row in (found or {}).get("memories", []) if str(row["id"]) == memory_id), None)
    if found is None or fact is None:
        return NOT_YOURS
    space = Space("private", owner_id=call.user_id) if fact["lent"] else space_of(found)
    action = {"action": "forget", "content": "", "memory_id": fact["id"]} | ({"admin": True} if call.admin else {})
    done = await call.store.change_memory(call.turn, space, [action])
    now = await seen(call, found["turn_id"]) or found
    if not done.changes:
        line = "It is forgotten already." if fact["status"] != "active" else "This is not yours to forget."
        return shown(now, parse_number(page) or 1, call, line)
    return shown(now, parse_number(page) or 1, call, "Forgotten.", CommandReply("", done.changes))


@pressed("yt")
async def tool_page(call: ChatContext, turn_id: str, number: str) -> ButtonReply:
    """Shows what a tool was given and returned."""
    found = await seen(call, parse_number(turn_id) or 0)
    if found is None:
        return NOT_YOURS
    used = await call.store.tool_call(found["turn_id"], parse_number(number) or 1)
    if used is None:
        return shown(found, 1, call, "No tool was called.")
    return ButtonReply("", tool_told(used), tool_rows(used))


def tool_told(used: ToolCall) -> str:
    """A tool's call in Markdown; short enough for one message."""
    name = tools_told([used.name or "tool"])
    lines = [
        f"**Tool {used.nr} of {used.total}**: {escape_markdown(name)}",
        "",
        "**Given**",
        escape_markdown(used.input or "{}"),
    ]
    more = used.length - len(used.result or "")
    lines += [
        "",
        "**Returned**" + (" (an error)" if used.failed else ""),
        escape_markdown(used.result or "(nothing)"),
    ]
    return "\n".join(lines) + (f"\n\n… and {pluralize(more, 'character')} more" if more else "")


def tool_rows(used: ToolCall) -> list[list[Json]]:
    """The buttons that turn from tool to tool, and back to the explanation."""
    turn, number, total = used.turn_id, used.nr, used.total
    arrows = [
        button("‹", f"yt:{turn}:{(number - 2) % total + 1}"),
        button(f"{number}/{total}", "n"),
        button("›", f"yt:{turn}:{number % total + 1}"),
    ]
    return [*([arrows] if total > 1 else []), [button("‹ Why this answer", f"yp:{turn}:1")]]


async def seen(call: ChatContext, turn_id: int) -> Json | None:
    """What went into a turn's answer; None when there is none that this person may look into."""
    found = await call.store.why(turn_id, call.user_id)
    return found if found is not None and await call.sees(space_of(found)) else None


def space_of(found: Json) -> Space:
    """The space in which an answer was given."""
    return Space(found["space"]["kind"], found["space"]["owner_id"], found["space"]["chat_id"])


def shown(found: Json, page: int, call: ChatContext, toast: str = "", says: CommandReply | None = None) -> ButtonReply:
    """An explanation in place of the one under whose button somebody tapped."""
    text = explained(found, page, call.zone, call.services.budget.prices)
    return ButtonReply(toast, text, fact_rows(found, page), says)


def explained(found: Json, page: int, zone: tzinfo, prices: Prices) -> str:
    """The explanation, in Markdown; short enough for one message."""
    prompt = found["prompt"]
    lines = [f"**Why this answer** ({moment(found['at'], zone)}, {escape_markdown(found['model'] or 'no model')})"]
    if "soul" not in prompt:
        return f"{lines[0]}\n\n{NOT_KEPT}\n\n{tokens(found, prices)}"
    lines.append(f"- soul: version {prompt.get('soul', 0)}")
    if found["persona"]:
        lines.append(f"- in this conversation: “{quoted(found['persona'], 100)}”")
    summary = found["summary"]
    lines.append(
        f"- summary of {moment(summary['at'], zone)}: “{quoted(summary['text'], 160)}”" if summary else "- no summary"
    )
    since = f", since {moment(found['recent_from'], zone)}" if found["recent_from"] else ""
    lines.append(f"- recent messages: {prompt.get('recent_count', 0)}{since}")
    lines.append(f"- recalled: {recalled(found)}")
    for row in found["recalled"]:
        who = "I" if row["role"] == "assistant" else escape_markdown(shorten(row["name"] or "you", 30))
        lines.append(f"  - {moment(row['at'], zone)}, {who}: “{quoted(row['text'], 100)}”")
    lines += [f"  - #{row['number']}: “{quoted(row['content'], 100)}”" for row in found["recalled_memories"]]
    lines += [
        f"  - summary of {moment(row['at'], zone)}: “{quoted(row['text'], 100)}”" for row in found["recalled_summaries"]
    ]
    if media := prompt.get("media"):
        lines.append(f"- pictures and documents: {media['shown']} shown, {media['described']} only described")
    lines.append(f"- tools: {escape_markdown(tools_told(prompt.get('tools', []))) or 'none'}")
    lines += [f"- {line}" for line in (left_out(prompt), learning(found))]
    return "\n".join(lines) + "\n\n" + facts(found, page) + "\n\n" + tokens(found, prices)


def recalled(found: Json) -> str:
    """How many passages of what sort were recalled."""
    sorts = (
        ("recalled", "message", "messages"),
        ("recalled_memories", "memory", "memories"),
        ("recalled_summaries", "summary", "summaries"),
    )
    return ", ".join(pluralize(len(found[key]), one, many) for key, one, many in sorts if found[key]) or "nothing"


def quoted(text: str, length: int) -> str:
    """The first words of a text, shown just as they are."""
    return escape_markdown(shorten(text, length))


def left_out(prompt: Json) -> str:
    """What did not fit into the prompt, and why."""
    parts = []
    dropped = prompt.get("memory_layer", {}).get("dropped", {})
    if prompt.get("left_out_memories"):
        reasons = ", ".join(f"{number} {why}" for why, number in dropped.items())
        parts.append(
            pluralize(prompt["left_out_memories"], "fact") + (f" ({escape_markdown(reasons)})" if reasons else "")
        )
    if prompt.get("dropped_recent"):
        parts.append(pluralize(prompt["dropped_recent"], "recent message"))
    told = f"left out of the prompt: {' and '.join(parts) or 'nothing'}"
    return told + (" (the model found it too long at first)" if prompt.get("share", 1) < 1 else "")


def learning(found: Json) -> str:
    """Whether what the answer taught took effect at once, and if not, why."""
    chosen = found["prompt"].get("learning", "on")
    if chosen == "off":
        return "memory: learning was off"
    if found["tainted"]:
        reasons = [TAINTS[name] for name in found["prompt"].get("tainted_by", []) if name in TAINTS]
        return f"memory: changes wait for your tap ({'; '.join(reasons) or 'words of others were in it'})"
    if chosen == "ask":
        return "memory: changes wait for your tap, as you chose in /settings"
    return "memory: changes at once"


def page_of(found: Json, page: int) -> tuple[Sequence[Json], int, int]:
    """The facts of a page, its number (the nearest there is) and how many there are."""
    known = found["memories"]
    pages = max(1, -(-len(known) // PAGE))
    page = min(max(page, 1), pages)
    return known[(page - 1) * PAGE : page * PAGE], page, pages


def facts(found: Json, page: int) -> str:
    """The facts of a page, each with its number."""
    rows, page, pages = page_of(found, page)
    lent = f" and {found['hidden']} that somebody lent to this group" if found["hidden"] else ""
    if not rows:
        return f"**Facts**: none{lent}"
    lines = [f"**Facts** ({len(found['memories'])}{lent}{f', page {page} of {pages}' if pages > 1 else ''})"]
    for row in rows:
        subject = f"{row['subject']}: " if found["space"]["kind"] == "group" and row["subject"] else ""
        since = SINCE.get(row["status"], " (forgotten since)")
        mine = " (yours, lent)" if row["lent"] else ""
        lines.append(f"- `#{row['number']}` {quoted(subject + row['content'], 120)}{mine}{since}")
    return "\n".join(lines)


def tokens(found: Json, prices: Prices) -> str:
    """Tokens by layer, as estimated, and in all, as the model's server counted them, with their cost."""
    layers, usage = found["prompt"].get("tokens", {}), found["usage"]
    estimated = ", ".join(f"{name} {layers[name]:,}" for name in LAYERS if layers.get(name))
    cached, written = usage.get("cache_read_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
    asked = (usage.get("input_tokens") or 0) + cached + written
    spent = prices.cost(found["model"], usage)
    price = (
        f"about {dollars(spent)}"
        if spent is not None
        else f"no price known for {escape_markdown(found['model'] or '?')}"
    )
    return (
        f"**Tokens** (estimated): {estimated or 'not noted'}\n\n"
        f"**Counted**: {asked:,} in ({cached:,} from the cache, {written:,} written to it), "
        f"{usage.get('output_tokens') or 0:,} out; {price}"
    )


def fact_rows(found: Json, page: int) -> list[list[Json]]:
    """A button for each fact of a page that is still known, and those that turn it."""
    rows, page, pages = page_of(found, page)
    turn = found["turn_id"]
    buttons = [
        [button(f"🗑 Forget #{row['number']}: {shorten(row['content'], 30)}", f"yf:{turn}:{row['id']}:{page}")]
        for row in rows
        if row["status"] == "active"
    ]
    if found["tool_calls"]:
        buttons.append([button(f"🔎 {pluralize(found['tool_calls'], 'tool call')}", f"yt:{turn}:1")])
    if pages > 1:
        before, after = (page - 2) % pages + 1, page % pages + 1
        arrows = [button("‹", f"yp:{turn}:{before}"), button(f"{page}/{pages}", "n"), button("›", f"yp:{turn}:{after}")]
        buttons.append(arrows)
    return buttons
