"""Renders /summary."""

from __future__ import annotations

from dataclasses import replace

from relay.commands.history import summary as commands
from relay.core.errors import OutOfRange
from relay.core.limits import SUMMARY_TOKENS
from relay.core.text import escape_markdown, escape_sentence, pluralize, shorten
from relay.memory.rows.sessions import SummaryInUse, SummaryVersion
from relay.memory.writing.summaries import LEAST_MESSAGES
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, answers, shows
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, question, step_rows
from relay.surfaces.chat.soul.versions import ask_with_text, check_text
from relay.surfaces.chat.times import moment

PAGE = 5
LONGEST = 3400
"""The most characters of a summary: with its heading it fits into one Telegram message, which a button can redraw."""
HOW = "Write /summary, /summary refresh, /summary correct <the right text>, or /summary history."


@shows("summary")
async def summary(call: ChatContext) -> CommandReply:
    """Shows this thread's summary; refreshes or corrects it."""
    word, rest = (*call.text.split(None, 1), "", "")[:2]
    match word.lower(), bool(rest):
        case "", _:
            return present(call, await commands.summary(call))
        case "refresh", False:
            done = await commands.refresh_summary(call)
            why = failure(done)
            failed = done.outcome in ("no_budget", "failed")
            now = CommandReply(escape_sentence(why), refused=failed) if why else present(call, done.present)
            return replace(now, result=done)
        case "correct", True:
            return await correct(call, rest)
        case "correct", False:
            return await ask(call)
        case "history", False:
            return await history(call, 0)
    raise OutOfRange(HOW)


@answers("summary")
async def corrected(call: ChatContext, version_id: int) -> CommandReply:
    """Uses the reply to the question as the summary's new text."""
    return await correct(call, call.text, version_id)


@action("zr")
async def press_refresh(call: ChatContext) -> ButtonReply:
    """Writes a new summary."""
    done = await commands.refresh_summary(call)
    return present(call, done.present).redraw(failure(done))


@action("zc")
async def press_correct(call: ChatContext) -> ButtonReply:
    """Asks for a correction."""
    return ButtonReply(says=await ask(call))


@action("zp")
async def press_present(call: ChatContext) -> ButtonReply:
    """Shows the current summary."""
    return present(call, await commands.summary(call)).redraw()


@action("zh")
async def press_history(call: ChatContext, offset: int) -> ButtonReply:
    """Shows the versions starting at an offset."""
    return (await history(call, offset)).redraw()


@action("zv")
async def press_version(call: ChatContext, version_id: int) -> ButtonReply:
    """Shows one version."""
    found = await commands.summary(call, version_id)
    if found.summary is None:
        return ButtonReply("This version belongs to an earlier conversation.")
    rows = [[button("‹ History", press_history(0))]]
    if found.present is not None and found.summary.id != found.present:
        rows.insert(0, [button("↺ Use this one again", press_restore(found.summary.id, found.present))])
    return ButtonReply(text=version_text(call, found, found.summary), rows=rows)


@action("zs")
async def press_restore(call: ChatContext, version_id: int, of: int) -> ButtonReply:
    """Restores a version, if `of` is still the current one."""
    done = await commands.restore_summary(call, version_id, of)
    toast = "Restored." if done.restored else "The summary has changed since. This is the current one."
    return present(call, done.present).redraw(toast, refused=not done.restored)


def failure(done: commands.RefreshedSummary) -> str:
    """Says why there is no new summary; empty if there is one."""
    match done.outcome:
        case "written":
            return ""
        case "no_budget":
            return done.detail
        case "nothing_new":
            return "There's nothing new to summarise yet."
        case "slow":
            return "This is taking longer than usual. Try /summary again in a while."
    why = done.detail or "I can't write it right now."
    return f"⚠️ {why} I'll try again in a while."


def present(call: ChatContext, found: SummaryInUse) -> CommandReply:
    """Renders the current summary, with its buttons."""
    if found.summary is None:
        rows = [[button("⟳ Write one now", press_refresh())]] if found.fresh >= LEAST_MESSAGES else []
        return CommandReply(commands.NONE_YET, rows=rows, result=found)
    row = [button("⟳ Refresh", press_refresh()), button("✎ Correct", press_correct())]
    row.append(button("History", press_history(0)))
    return CommandReply(version_text(call, found, found.summary), rows=[row], result=found)


async def history(call: ChatContext, offset: int) -> CommandReply:
    """Renders a page of the versions, with their buttons."""
    found = await commands.summary_versions(call, offset, PAGE)
    if not found.versions:
        return CommandReply(commands.NONE_YET, result=found)
    lines = [f"**Versions of this conversation's summary** ({found.total})"]
    for one in found.versions:
        now = ", current" if one.id == found.present else ""
        lines.append(f"**{one.number}** · {maker(call, one)}{now}\n{escape_markdown(shorten(one.text, 160))}")
    rows = [[button(str(one.number), press_version(one.id)) for one in found.versions]]
    rows += [*step_rows(offset, PAGE, found.total, press_history), [button("‹ Current summary", press_present())]]
    return CommandReply("\n\n".join(lines), rows=rows, result=found)


def version_text(call: ChatContext, found: SummaryInUse, one: SummaryVersion) -> str:
    """Renders a version of a summary, with the range it covers."""
    about = [maker(call, one)]
    if found.through:
        about.append(f"covers {messages(found.messages)} until {moment(found.through, call.zone)}")
    if found.kept or found.left_out:
        about.append(marked_passages(found))
    if found.fresh:
        about.append(f"{messages(found.fresh)} since")
    text = one.text if len(one.text) <= LONGEST else one.text[:LONGEST].rstrip() + " […]"
    quoted = "\n>\n> ".join(escape_markdown(line) for line in text.splitlines() if line.strip())
    return f"**Summary, version {one.number} of {found.versions}** · {' · '.join(about)}\n\n> {quoted}"


def marked_passages(found: SummaryInUse) -> str:
    """Says how many marked passages a summary holds, and how many there was no room for."""
    said = f"📌 {found.kept} word for word" if found.kept else "📌"
    if not found.left_out:
        return said
    return f"{said}{', ' if found.kept else ' '}{found.left_out} more didn't fit"


def messages(number: int) -> str:
    """Says how many messages; the count ends at 5,000."""
    return pluralize(number, "message") if number < 5_000 else "over 5,000 messages"


def maker(call: ChatContext, one: SummaryVersion) -> str:
    """Says who made a version, and when."""
    who = f"corrected by {one.by or 'someone'}" if one.author_id else f"by {one.model}"
    return f"{escape_markdown(who)}, {moment(one.created_at, call.zone)}"


async def ask(call: ChatContext) -> CommandReply:
    """Asks for a correction, with the current text to copy."""
    one = (await commands.summary(call)).summary
    if one is None:
        return CommandReply(commands.NONE_YET, refused=True)
    how = "reply to this message" if call.bot_id else "answer"
    head = f"{question('summary', one.id)} – {how} with the summary as it should be."
    return ask_with_text(head, one.text, "summary.md", "The summary in your words")


async def correct(call: ChatContext, text: str, of: int = 0) -> CommandReply:
    """Replaces the current summary with a person's text. Refuses a message that Telegram may have split."""
    check_text(call, text, SUMMARY_TOKENS, "summary")
    return present(call, await commands.correct_summary(call, text, of))
