"""Shows the summary of a conversation and its versions."""

from __future__ import annotations

from dataclasses import replace

from relay.commands.history.summary import (
    NONE_YET,
    RefreshedSummary,
    correct_summary,
    refresh_summary,
    restore_summary,
    summary_versions,
)
from relay.commands.history.summary import summary as read_summary
from relay.core.limits import SUMMARY_TOKENS
from relay.core.text import escape_markdown, escape_sentence, pluralize, shorten
from relay.memory.rows.sessions import SummaryInUse, SummaryVersion
from relay.memory.writing.summaries import LEAST_MESSAGES
from relay.surfaces.chat.callbacks import Callback, callback
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import answers, pressed, shows
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, question
from relay.surfaces.chat.soul.versions import to_copy, unfit
from relay.surfaces.chat.times import moment

PAGE = 5
LONGEST = 3400
"""Characters of a summary that are shown: with its heading it fits one Telegram message, which a button can redraw."""
HOW = "Write /summary, /summary refresh, /summary correct and the text as it should be, or /summary history."


@callback("zr")
class RefreshSummary(Callback):
    """Writes a new summary."""


@callback("zc")
class CorrectSummary(Callback):
    """Asks for a correction."""


@callback("zp")
class ShowSummary(Callback):
    """Shows the present summary."""


@callback("zh")
class ListVersions(Callback):
    """Shows the versions from an offset on."""

    offset: int


@callback("zv")
class ShowVersion(Callback):
    """Shows one version."""

    version_id: int


@callback("zs")
class RestoreVersion(Callback):
    """Uses a version again, if `of` is still the present one."""

    version_id: int
    of: int


@shows("summary")
async def summary(call: ChatContext) -> CommandReply:
    """Shows this thread's summary; refreshes or corrects it."""
    word, rest = (*call.text.split(None, 1), "", "")[:2]
    match word.lower(), bool(rest):
        case "", _:
            return present(call, await read_summary(call))
        case "refresh", False:
            done = await refresh_summary(call)
            why = failure(done)
            now = CommandReply(escape_sentence(why)) if why else present(call, done.present)
            return replace(now, result=done)
        case "correct", True:
            return await correct(call, rest)
        case "correct", False:
            return await ask(call)
        case "history", False:
            return await history(call, 0)
    return CommandReply(HOW, refused=True)


@answers("summary")
async def corrected(call: ChatContext, version_id: int) -> CommandReply:
    """Takes the reply to the question as the summary's new text."""
    return await correct(call, call.text, version_id)


@pressed(RefreshSummary)
async def press_refresh(call: ChatContext, _: RefreshSummary) -> ButtonReply:
    """Writes a new summary and shows it."""
    await call.require_sight()
    done = await refresh_summary(call)
    now = present(call, done.present)
    return ButtonReply(failure(done), now.text, now.rows)


@pressed(CorrectSummary)
async def press_correct(call: ChatContext, _: CorrectSummary) -> ButtonReply:
    """Asks for the correction."""
    await call.require_sight()
    return ButtonReply(says=await ask(call))


@pressed(ShowSummary)
async def press_present(call: ChatContext, _: ShowSummary) -> ButtonReply:
    """Shows the present summary."""
    await call.require_sight()
    return redrawn(present(call, await read_summary(call)))


@pressed(ListVersions)
async def press_history(call: ChatContext, to: ListVersions) -> ButtonReply:
    """Shows a page of the versions."""
    await call.require_sight()
    return redrawn(await history(call, to.offset))


@pressed(ShowVersion)
async def press_version(call: ChatContext, to: ShowVersion) -> ButtonReply:
    """Shows one version, with a button to use it again."""
    await call.require_sight()
    found = await read_summary(call, to.version_id)
    if found.summary is None:
        return ButtonReply("This version belongs to an earlier conversation.")
    rows = [[button("‹ History", ListVersions(0))]]
    if found.present is not None and found.summary.id != found.present:
        rows.insert(0, [button("↺ Use this one again", RestoreVersion(found.summary.id, found.present))])
    return ButtonReply(text=version_text(call, found, found.summary), rows=rows)


@pressed(RestoreVersion)
async def press_restore(call: ChatContext, to: RestoreVersion) -> ButtonReply:
    """Uses an older version again."""
    await call.require_sight()
    done = await restore_summary(call, to.version_id, to.of)
    now = present(call, done.present)
    toast = "This one is used again." if done.restored else "The summary has changed since. This is it now."
    return ButtonReply(toast, now.text, now.rows)


def redrawn(reply: CommandReply) -> ButtonReply:
    """A command's reply in place of the message whose button was pressed."""
    return ButtonReply(text=reply.text, rows=reply.rows)


def failure(done: RefreshedSummary) -> str:
    """Why there is no new summary, in a sentence; empty when there is one."""
    match done.outcome:
        case "written":
            return ""
        case "no_budget":
            return done.detail
        case "nothing_new":
            return "There is nothing new to summarise yet."
        case "slow":
            return "It takes longer than usual. Look again in a while: /summary"
    why = done.detail or "I can't write it right now."
    return f"⚠️ {why} I'll try again in a while."


def present(call: ChatContext, found: SummaryInUse) -> CommandReply:
    """The present summary, with its buttons."""
    if found.summary is None:
        rows = [[button("⟳ Write one now", RefreshSummary())]] if found.fresh >= LEAST_MESSAGES else []
        return CommandReply(NONE_YET, rows=rows, result=found)
    rows = [
        [
            button("⟳ Refresh", RefreshSummary()),
            button("✎ Correct", CorrectSummary()),
            button("History", ListVersions(0)),
        ]
    ]
    return CommandReply(version_text(call, found, found.summary), rows=rows, result=found)


async def history(call: ChatContext, offset: int) -> CommandReply:
    """A page of the versions, with their buttons."""
    found = await summary_versions(call, offset, PAGE)
    if not found.versions:
        return CommandReply(NONE_YET, result=found)
    lines = [f"**Versions of this conversation's summary** ({found.total})"]
    for one in found.versions:
        now = ", the present one" if one.id == found.present else ""
        lines.append(f"**{one.number}** · {maker(call, one)}{now}\n{escape_markdown(shorten(one.text, 160))}")
    rows = [[button(str(one.number), ShowVersion(one.id)) for one in found.versions]]
    steps = []
    if offset > 0:
        steps.append(button("‹ Newer", ListVersions(max(0, offset - PAGE))))
    if offset + PAGE < found.total:
        steps.append(button("Older ›", ListVersions(offset + PAGE)))
    rows += [*([steps] if steps else []), [button("‹ The present one", ShowSummary())]]
    return CommandReply("\n\n".join(lines), rows=rows, result=found)


def version_text(call: ChatContext, found: SummaryInUse, one: SummaryVersion) -> str:
    """A version of a summary, with what it covers."""
    about = [maker(call, one)]
    if found.through:
        about.append(f"of {messages(found.messages)} until {moment(found.through, call.zone)}")
    if found.fresh:
        about.append(f"{messages(found.fresh)} since")
    text = one.text if len(one.text) <= LONGEST else one.text[:LONGEST].rstrip() + " […]"
    quoted = "\n>\n> ".join(escape_markdown(line) for line in text.splitlines() if line.strip())
    return f"**Summary, version {one.number} of {found.versions}** · {' · '.join(about)}\n\n> {quoted}"


def messages(number: int) -> str:
    """A number of messages; they are counted to 5,000."""
    return pluralize(number, "message") if number < 5_000 else "over 5,000 messages"


def maker(call: ChatContext, one: SummaryVersion) -> str:
    """Who made a version, and when."""
    who = f"corrected by {one.by or 'somebody'}" if one.author_id else f"by {one.model}"
    return f"{escape_markdown(who)}, {moment(one.created_at, call.zone)}"


async def ask(call: ChatContext) -> CommandReply:
    """The question for a correction, with the text as it is, to copy from."""
    one = (await read_summary(call)).summary
    if one is None:
        return CommandReply(NONE_YET)
    head = f"{question('summary', one.id)} – reply to this message with the summary as it should be."
    return to_copy(head, one.text, "summary.md", "The summary in your words")


async def correct(call: ChatContext, text: str, of: int = 0) -> CommandReply:
    """Replaces the present summary by a person's text. A message that Telegram may have split is refused."""
    if no := unfit(call, text, SUMMARY_TOKENS, "summary"):
        return CommandReply(no, refused=True)
    return present(call, await correct_summary(call, text, of))
