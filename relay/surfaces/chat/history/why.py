"""Renders /why: the prompt of an answer, each fact with a button to forget it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import tzinfo

from relay.commands.history.why import explain_turn, forget_fact, read_tool_call
from relay.commands.history.why import why as explain_answer
from relay.core.models import Button
from relay.core.spending.prices import format_dollars
from relay.core.text import escape_markdown, pluralize, shorten
from relay.memory.derivations import artefacts
from relay.memory.rows.turns.record import PromptRecord
from relay.memory.rows.turns.why import Explanation, KnownFact
from relay.memory.rows.usage import ToolCall
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, shows
from relay.surfaces.chat.reply import ButtonReply, CommandReply, app_rows, button, wheel_rows
from relay.surfaces.chat.times import moment

PAGE = 6
LAYERS = ("soul", "persona", "memory", "preferences", "composed", "summary", "recent", "recalled", "message", "media")
TAINTS = {
    "message": "your message contained other people's words",
    "reply": "it replies to other people's words",
    "memory": "some of what I know here comes from others",
    "summary": "the summary contains other people's words",
    "composed": "the sessions that this conversation began with contained other people's words",
    "people": "several people spoke before",
    "recent": "earlier messages contained other people's words",
    "recalled": "what I recalled contained other people's words",
    "tool": "a tool brought in other people's words",
}
LEFT_OUT = {
    "project_override_suppression": "replaced by this chat's own",
    "provisional_excluded": "not sure enough",
    "hard_cap_applied": "too many",
    "polarity_ceiling_applied": "too many to avoid",
    "category_ceiling_applied": "too many of one kind",
    "token_budget_exceeded": "no room",
}
"""Reasons to leave a preference out of a prompt."""
SINCE = {"active": "", "superseded": " (replaced since)", "archived": " (archived since)"}
REWORDED = "- you've edited your message since: what its first wording taught stays, unless you undo it"
NOT_KEPT = "I no longer have the details of this answer."
TOOL_NAMES = {
    "search_memory": "searched memory",
    "open_memory": "opened a memory",
    "search_history": "searched earlier messages",
    "read_document": "read a document",
    "set_reminder": "set a reminder",
    "list_reminders": "looked at your reminders",
    "change_reminder": "changed a reminder",
    "delete_reminder": "deleted a reminder",
    "web_search": "searched the web",
    "web_fetch": "read a web page",
}


@shows("why", private=True)
async def why(call: ChatContext) -> CommandReply:
    """Explains the answer that this replies to, else the last one here."""
    found = await explain_answer(call, call.replied_id)
    text = format_explanation(found, 1, call.zone)
    return CommandReply(text, rows=_rows(call, found, 1), result=found)


@action("yp")
async def turn_page(call: ChatContext, turn_id: int, page: int) -> ButtonReply:
    """Shows a page of the facts, from 1 on."""
    return show_explanation(await explain_turn(call, turn_id), page, call)


@action("yf")
async def press_forget(call: ChatContext, turn_id: int, memory_id: int, page: int) -> ButtonReply:
    """Forgets a fact that went into the answer; `page` is shown afterwards."""
    done = await forget_fact(call, turn_id, memory_id)
    if not done.changes:
        line = "It's already forgotten." if done.gone else "That isn't yours to forget."
        return show_explanation(done.explanation, page, call, line)
    return show_explanation(done.explanation, page, call, "Forgotten.", CommandReply("", done.changes))


@action("yt")
async def press_tool(call: ChatContext, turn_id: int, number: int) -> ButtonReply:
    """Shows a tool call, from 1 on."""
    used = await read_tool_call(call, turn_id, number)
    return ButtonReply("", tool_text(used), tool_rows(used))


def tool_text(used: ToolCall) -> str:
    """Renders a tool call in Markdown, short enough for one message."""
    name = describe_tools([used.name or "tool"])
    head = f"**Tool {used.nr} of {used.total}**: {escape_markdown(name)}"
    given = f"**Given**\n{escape_markdown(used.input or '{}')}"
    returned = f"**Returned**{' (an error)' if used.failed else ''}\n{escape_markdown(used.result or '(nothing)')}"
    more = used.length - len(used.result or "")
    return f"{head}\n\n{given}\n\n{returned}" + (f"\n\n… and {pluralize(more, 'character')} more" if more else "")


def tool_rows(used: ToolCall) -> list[list[Button]]:
    """Returns the buttons to the other tool calls and back to the explanation."""
    turn = used.turn_id
    arrows = wheel_rows(used.nr, used.total, lambda number: press_tool(turn, number))
    return [*arrows, [button("‹ Why this answer", turn_page(turn, 1))]]


def show_explanation(
    found: Explanation, page: int, call: ChatContext, toast: str = "", says: CommandReply | None = None
) -> ButtonReply:
    """Redraws an explanation."""
    text = format_explanation(found, page, call.zone)
    return ButtonReply(toast, text, _rows(call, found, page), says)


def _rows(call: ChatContext, found: Explanation, page: int) -> list[list[Button]]:
    return [*fact_rows(found, page), *app_rows(call, f"/why/{found.turn_id}")]


def format_explanation(found: Explanation, page: int, zone: tzinfo) -> str:
    """Explains an answer in Markdown, short enough for one message."""
    prompt = found.prompt
    when = f"{moment(found.at, zone)}, " if found.at else ""
    lines = [f"**Why this answer** ({when}{escape_markdown(found.model or 'no model')})"]
    if prompt.soul is None:
        return f"{lines[0]}\n\n{NOT_KEPT}\n\n{tokens(found)}"
    lines.append(f"- soul: version {prompt.soul}")
    if found.persona:
        lines.append(f"- in this conversation: “{quote(found.persona, 100)}”")
    if begun := prompt.composed:
        name = f" as “{quote(found.composed, 64)}”" if found.composed else ""
        lines.append(f"- began with {pluralize(begun.parts, 'earlier session')}{name}")
    summary = found.summary
    lines.append(
        f"- summary of {moment(summary.at, zone)}: “{quote(summary.text, 160)}”" if summary else "- no summary"
    )
    since = f", since {moment(found.recent_from, zone)}" if found.recent_from else ""
    lines.append(f"- recent messages: {prompt.recent_count}{since}")
    lines.append(f"- recalled: {count_recalled(found)}")
    for row in found.recalled:
        who = "I" if row.role == "assistant" else escape_markdown(shorten(row.name or "you", 30))
        lines.append(f"  - {moment(row.at, zone)}, {who}: “{quote(row.text, 100)}”")
    lines += [f"  - #{row.number}: “{quote(row.content, 100)}”" for row in found.recalled_memories]
    derived = [*(("summary", row.at, row.text) for row in found.recalled_summaries)]
    derived += ((row.kind, row.at, row.text) for row in found.recalled_artefacts)
    lines += [f"  - {kind} of {moment(at, zone)}: “{quote(text, 100)}”" for kind, at, text in derived]
    if liked := preferences(found):
        lines.append(f"- how you like answers: {liked}")
    if media := prompt.media:
        lines.append(f"- pictures and documents: {media.shown} shown, {media.described} only described")
    lines.append(f"- tools: {escape_markdown(describe_tools(prompt.tools)) or 'none'}")
    lines += [f"- {line}" for line in (describe_left_out(prompt), describe_learning(found))]
    if "reworded" in found.signs:
        lines.append(REWORDED)
    return "\n".join(lines) + "\n\n" + facts(found, page) + "\n\n" + tokens(found)


def count_recalled(found: Explanation) -> str:
    """Counts the recalled passages by kind."""
    others = Counter(row.kind for row in found.recalled_artefacts)
    sorts = (
        (len(found.recalled), "message", "messages"),
        (len(found.recalled_memories), "memory", "memories"),
        (len(found.recalled_summaries), "summary", "summaries"),
        *((others[one.kind], one.kind, one.plural) for one in artefacts.KINDS),
    )
    return ", ".join(pluralize(number, one, many) for number, one, many in sorts if number) or "nothing"


def preferences(found: Explanation) -> str:
    """Lists the preferences that the answer had to follow, and counts those left out."""
    rows = found.preferences
    shown = ", ".join(f"{'' if row.polarity > 0 else 'no '}{escape_markdown(row.pattern)}" for row in rows)
    dropped: Counter[str] = Counter()
    for note in found.prompt.preference_notes:
        if reason := LEFT_OUT.get(note.type):
            dropped[reason] += note.dropped or note.count or 1
    counted = "; ".join(f"{number} {reason}" for reason, number in dropped.items())
    return shown + (f" (left out: {counted})" if counted else "")


def quote(text: str, length: int) -> str:
    """Returns the beginning of a text, escaped."""
    return escape_markdown(shorten(text, length))


def describe_left_out(prompt: PromptRecord) -> str:
    """Says what did not fit into the prompt, and why."""
    parts = []
    dropped = prompt.memory_layer.dropped if prompt.memory_layer else {}
    if prompt.left_out_memories:
        reasons = ", ".join(f"{number} {why}" for why, number in dropped.items())
        because = f" ({escape_markdown(reasons)})" if reasons else ""
        parts.append(pluralize(prompt.left_out_memories, "fact") + because)
    if prompt.dropped_recent:
        parts.append(pluralize(prompt.dropped_recent, "recent message"))
    if prompt.composed and prompt.composed.dropped:
        parts.append(pluralize(prompt.composed.dropped, "earlier session"))
    shortened = " (the model refused the first prompt as too long)" if prompt.share < 1 else ""
    return f"left out of the prompt: {' and '.join(parts) or 'nothing'}{shortened}"


def describe_learning(found: Explanation) -> str:
    """Says whether the answer's changes to memory took effect at once, and if not, why."""
    chosen = found.prompt.learning
    if "private" in found.signs:
        return "memory: off the record, so nothing was learned"
    if found.resting:
        return "memory: off or paused, so nothing was learned"
    if chosen == "off" or "unlearned here" in found.signs:
        return "memory: learning was off"
    if found.tainted:
        reasons = [TAINTS[name] for name in found.prompt.tainted_by if name in TAINTS]
        return f"memory: changes wait for your tap ({'; '.join(reasons) or 'it contained other people’s words'})"
    if chosen == "ask":
        return "memory: changes wait for your tap, as you chose in /settings"
    return "memory: changes take effect at once"


def page_of(found: Explanation, page: int) -> tuple[Sequence[KnownFact], int, int]:
    """Returns the facts of the nearest page, its number and the number of pages."""
    known = found.memories
    pages = max(1, -(-len(known) // PAGE))
    page = min(max(page, 1), pages)
    return known[(page - 1) * PAGE : page * PAGE], page, pages


def facts(found: Explanation, page: int) -> str:
    """Lists the facts of a page, each with its number."""
    rows, page, pages = page_of(found, page)
    lent = f" and {found.hidden} that someone lent to this group" if found.hidden else ""
    if not rows:
        return f"**Facts**: none{lent}"
    lines = [f"**Facts** ({len(found.memories)}{lent}{f', page {page} of {pages}' if pages > 1 else ''})"]
    for row in rows:
        subject = f"{row.subject}: " if found.space.kind == "group" and row.subject else ""
        since = SINCE.get(row.status, " (forgotten since)")
        mine = " (yours, lent)" if row.lent else ""
        lines.append(f"- `#{row.number}` {quote(subject + row.content, 120)}{mine}{since}")
    return "\n".join(lines)


def tokens(found: Explanation) -> str:
    """Lists estimated tokens by layer, and the total that the model's server counted, with its cost."""
    layers, usage = found.prompt.tokens, found.usage
    estimated = ", ".join(f"{name} {layers[name]:,}" for name in LAYERS if layers.get(name))
    price = (
        f"about {format_dollars(found.cost)}"
        if found.cost is not None
        else f"no price known for {escape_markdown(found.model or '?')}"
    )
    return (
        f"**Tokens** (estimated): {estimated or 'not recorded'}\n\n"
        f"**Counted**: {usage.asked:,} in ({usage.cached:,} from the cache, {usage.written:,} written to it), "
        f"{usage.output_tokens or 0:,} out; {price}"
    )


def fact_rows(found: Explanation, page: int) -> list[list[Button]]:
    """Returns a button for each fact that is still known, and those that turn the page."""
    rows, page, pages = page_of(found, page)
    turn = found.turn_id
    buttons = [
        [button(f"🗑 Forget #{row.number}: {shorten(row.content, 30)}", press_forget(turn, row.id, page))]
        for row in rows
        if row.status == "active"
    ]
    if found.tool_calls:
        buttons.append([button(f"🔎 {pluralize(found.tool_calls, 'tool call')}", press_tool(turn, 1))])
    return buttons + wheel_rows(page, pages, lambda to: turn_page(turn, to))


def describe_tools(tools: Iterable[str]) -> str:
    """Says what the tools did, each once; empty without tools. Not Markdown."""
    return ", ".join(dict.fromkeys(TOOL_NAMES.get(name, name) for name in tools))
