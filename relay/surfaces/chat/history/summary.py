"""The summary of a conversation: shown, made anew, corrected, and an older version taken again."""

from __future__ import annotations

import asyncio

from relay.core.charge import Charge
from relay.core.limits import SUMMARY_TOKENS
from relay.core.text import escape_markdown, parse_number, pluralize, shorten
from relay.memory.writing.summaries import LEASE_SECONDS, LEAST_MESSAGES, summarise
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import answers, pressed, verb
from relay.surfaces.chat.reply import NOT_YOURS, ButtonReply, CommandReply, Json, button, question
from relay.surfaces.chat.soul.versions import to_copy, unfit
from relay.surfaces.chat.times import moment

PAGE = 5
LONGEST = 3400
"""Characters of a summary that are shown: with its head it fits one Telegram message, which a button can redraw."""
WAIT_SECONDS = 45.0
LOOK_SECONDS = 0.5
HOW = "Write /summary, /summary refresh, /summary correct and the text as it should be, or /summary history."
NONE_YET = "There is no summary of this conversation yet: I still have all of it before me."
NOTHING_NEW = "There is nothing new to summarise yet."
CHANGED = "The summary has changed since you looked at it. Look at the new one first: /summary"
SLOW = "It takes longer than usual. Look again in a while: /summary"


@verb("summary", usage="[refresh | correct <text> | history]", help="what I keep of this conversation, in short")
async def summary(call: ChatContext) -> CommandReply:
    """Shows this thread's summary; refreshes or corrects it."""
    word, rest = (*call.text.split(None, 1), "", "")[:2]
    match word.lower(), bool(rest):
        case "", _:
            return await present(call)
        case "refresh", False:
            failure = await refreshed(call)
            return CommandReply(escape_markdown(failure)) if failure else await present(call)
        case "correct", True:
            return await correct(call, rest)
        case "correct", False:
            return await asked(call)
        case "history", False:
            return await history(call, 0)
    return CommandReply(HOW, refused=True)


@answers("summary")
async def corrected(call: ChatContext, summary_id: int) -> CommandReply:
    """Takes the reply to the question as the summary's new text."""
    return await correct(call, call.text, summary_id)


@pressed("zr")
async def press_refresh(call: ChatContext) -> ButtonReply:
    """Makes the summary anew and shows it."""
    if not await call.sees(call.space):
        return NOT_YOURS
    failure, now = await refreshed(call), await present(call)
    return ButtonReply(failure, now.text, now.rows)


@pressed("zc")
async def press_correct(call: ChatContext) -> ButtonReply:
    """Asks for the correction."""
    return ButtonReply(says=await asked(call)) if await call.sees(call.space) else NOT_YOURS


@pressed("zp")
async def press_present(call: ChatContext) -> ButtonReply:
    """Shows the present summary."""
    return redrawn(await present(call)) if await call.sees(call.space) else NOT_YOURS


@pressed("zh")
async def press_history(call: ChatContext, offset: str) -> ButtonReply:
    """Shows a page of its versions."""
    return redrawn(await history(call, parse_number(offset) or 0)) if await call.sees(call.space) else NOT_YOURS


@pressed("zv")
async def press_version(call: ChatContext, summary_id: str) -> ButtonReply:
    """Shows one version, with the button that takes it again."""
    if not await call.sees(call.space):
        return NOT_YOURS
    found = await call.store.summary(call.space, call.chat_id, call.topic_id, parse_number(summary_id) or 0)
    one, now = found["summary"], found["present"]
    if one is None:
        return ButtonReply("This version belongs to an earlier conversation.")
    rows = [[button("‹ History", "zh:0")]]
    if one["id"] != now:
        rows.insert(0, [button("↺ Take this one again", f"zs:{one['id']}:{now}")])
    return ButtonReply(text=shown(call, found), rows=rows)


@pressed("zs")
async def press_restore(call: ChatContext, summary_id: str, of: str) -> ButtonReply:
    """Takes an older version again, as a new one."""
    if not await call.sees(call.space):
        return NOT_YOURS
    done = await call.store.correct_summary(
        call.space,
        call.chat_id,
        call.topic_id,
        of=parse_number(of) or 0,
        user_id=call.user_id,
        name=call.name,
        version=parse_number(summary_id) or 0,
    )
    now = await present(call)
    return ButtonReply("Taken again." if done else "The summary has changed since. This is it now.", now.text, now.rows)


def redrawn(told: CommandReply) -> ButtonReply:
    """What a verb tells, in the place of the message under which a button was pressed."""
    return ButtonReply(text=told.text, rows=told.rows)


async def present(call: ChatContext) -> CommandReply:
    """The thread's present summary, with its buttons."""
    found = await call.store.summary(call.space, call.chat_id, call.topic_id)
    if found["summary"] is None:
        return CommandReply(
            NONE_YET, rows=[[button("⟳ Make one now", "zr")]] if found["fresh"] >= LEAST_MESSAGES else ()
        )
    rows = [[button("⟳ Refresh", "zr"), button("✎ Correct", "zc"), button("History", "zh:0")]]
    return CommandReply(shown(call, found), rows=rows)


async def history(call: ChatContext, offset: int) -> CommandReply:
    """A page of the versions, with their buttons."""
    found = await call.store.summaries(call.space, call.chat_id, call.topic_id, min(offset, 10_000), PAGE)
    if not found["versions"]:
        return CommandReply(NONE_YET)
    lines = [f"**Versions of this conversation's summary** ({found['total']})"]
    for one in found["versions"]:
        now = ", the present one" if one["id"] == found["present"] else ""
        lines.append(f"**{one['number']}** · {maker(call, one)}{now}\n{escape_markdown(shorten(one['text'], 160))}")
    rows = [[button(str(one["number"]), f"zv:{one['id']}") for one in found["versions"]]]
    steps = []
    if offset > 0:
        steps.append(button("‹ Newer", f"zh:{max(0, offset - PAGE)}"))
    if offset + PAGE < found["total"]:
        steps.append(button("Older ›", f"zh:{offset + PAGE}"))
    return CommandReply(
        "\n\n".join(lines), rows=[*rows, *([steps] if steps else []), [button("‹ The present one", "zp")]]
    )


def shown(call: ChatContext, found: Json) -> str:
    """A version of a summary, with what there is to know about it."""
    one = found["summary"]
    about = [maker(call, one), f"of {messages(found['messages'])} until {moment(found['through'], call.zone)}"]
    if found["fresh"]:
        about.append(f"{messages(found['fresh'])} since")
    text = one["text"] if len(one["text"]) <= LONGEST else one["text"][:LONGEST].rstrip() + " […]"
    quoted = "\n>\n> ".join(escape_markdown(line) for line in text.splitlines() if line.strip())
    return f"**Summary, version {one['number']} of {found['versions']}** · {' · '.join(about)}\n\n> {quoted}"


def messages(number: int) -> str:
    """A number of messages; they are counted to 5,000."""
    return pluralize(number, "message") if number < 5_000 else "over 5,000 messages"


def maker(call: ChatContext, one: Json) -> str:
    """Who made a version, and when."""
    who = (
        f"corrected by {escape_markdown(one['by'] or 'somebody')}"
        if one["author_id"]
        else f"by {escape_markdown(one['model'])}"
    )
    return f"{who}, {moment(one['created_at'], call.zone)}"


async def asked(call: ChatContext) -> CommandReply:
    """The question for a correction, with the text as it is, to copy from."""
    one = (await call.store.summary(call.space, call.chat_id, call.topic_id))["summary"]
    if one is None:
        return CommandReply(NONE_YET)
    head = f"{question('summary', one['id'])} – reply to this message with the summary as it should be."
    return to_copy(head, one["text"], "summary.md", "The summary in your words")


async def correct(call: ChatContext, text: str, of: int = 0) -> CommandReply:
    """Puts a person's words in the place of the present summary; `of`: the one that it must still be."""
    text = text.strip()
    if not text:
        return CommandReply("What should the summary say? Send it as a text.")
    if no := unfit(call, text, SUMMARY_TOKENS, "summary"):
        return CommandReply(no, refused=True)
    now = (await call.store.summary(call.space, call.chat_id, call.topic_id))["present"]
    if now is None:
        return CommandReply(NONE_YET)
    done = await call.store.correct_summary(
        call.space, call.chat_id, call.topic_id, of=of or now, user_id=call.user_id, name=call.name, text=text
    )
    return await present(call) if done else CommandReply(CHANGED)


async def refreshed(call: ChatContext) -> str:
    """Makes a summary of what is new, waiting for it a while. Returns why there is none; empty when there is."""
    if line := await call.services.summariser.gate.used_up(Charge("summary", user_id=call.user_id)):
        return line
    due = await call.store.owe_summary(call.space, call.chat_id, call.topic_id, LEAST_MESSAGES)
    if due is None:
        return NOTHING_NEW
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                work = await call.store.claim_summary(due, LEASE_SECONDS)
                if work is not None:
                    await summarise(call.services.summariser, work, call.user_id)
                state = await call.store.summary_due(due)
                if state["status"] != "due":
                    return "" if state["status"] == "done" else NOTHING_NEW
                if state["error"]:
                    why = state["error"] if call.admin and call.private else "I can't write it right now."
                    return f"⚠️ {why} I try again by myself in a while."
                await asyncio.sleep(LOOK_SECONDS)
    except TimeoutError:
        return SLOW
