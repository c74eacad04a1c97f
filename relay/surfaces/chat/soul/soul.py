"""Renders /soul: the soul, its versions and drafts, with buttons that activate one of them."""

from __future__ import annotations

from relay.commands.registry import ADMINS_ONLY
from relay.commands.soul import soul as commands
from relay.core.errors import NotAllowed, OutOfRange, WrongArgument, require_found
from relay.core.limits import SOUL_TOKENS
from relay.core.text import escape_markdown, parse_number, pluralize, shorten
from relay.memory.rows.soul import Soul, SoulDraft
from relay.surfaces.chat.callbacks import decode
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.difference import exact
from relay.surfaces.chat.handlers import action, answers, pressed, shows
from relay.surfaces.chat.reply import NOTHING, ButtonReply, CommandReply, button, question, step_rows
from relay.surfaces.chat.soul.buttons import ActivateDraft, DiscardDraft, RestoreVersion, back_rows, draft_rows
from relay.surfaces.chat.soul.documents import text_given
from relay.surfaces.chat.soul.growth import show_growth
from relay.surfaces.chat.soul.trial import offer_trial
from relay.surfaces.chat.soul.versions import ask_with_text, byline, check_text, describe_length, difference_to

USAGE = (
    "/soul shows my personality. /soul set <text> changes it. /soul try <text> answers your last questions with it "
    "first. /soul edit gives you the text to copy. /soul grow on lets me propose small changes. /soul history lists "
    "the versions, and /soul restore <number> brings one back."
)
WHAT = "What should I be? Write it after the command: /soul set <text>"
MESSAGE = (
    ". Or make a draft: send a .md or .txt document with the caption /soul set, or reply /soul set to a message that "
    "says it."
)
"""How to give a new soul without typing it, where there are documents and replies."""
REPLY = "reply to this message with my new soul, as text or as a document."
"""How to give a new soul, where messages can be replied to."""
NONE = "I don't have a soul yet. Give me one with /soul set &lt;text&gt;"


@shows("soul")
async def soul(call: ChatContext) -> CommandReply:
    """Shows the active soul, changes it, or lists its versions."""
    word, rest = [*call.text.strip().split(maxsplit=1), "", ""][:2]
    match word.lower(), rest:
        case "", _:
            return await _show(call)
        case "set", "":
            return await _take(call)
        case "set", _:
            check_text(call, rest, SOUL_TOKENS, "soul")
            return await _active(await commands.set_soul(call, rest))
        case "edit", "":
            return await _ask(call)
        case "grow", _:
            return await show_growth(call, rest.lower())
        case "try", _:
            return await _try(call, rest)
        case "history", _ if not rest or parse_number(rest):
            return await _history(call, parse_number(rest) or 1)
        case "restore", _ if number := parse_number(rest.removeprefix("#")):
            return await _active(await commands.restore_soul(call, number))
    raise OutOfRange(USAGE)


async def _show(call: ChatContext) -> CommandReply:
    active = await commands.show_soul(call)
    if active is None:
        return CommandReply(NONE)
    rows = [[button("✎ Edit", press_edit(active.version)), button("History", press_history(1))]]
    return CommandReply(f"{_headline(call, active)}\n\n{exact(active.text)}", rows=rows, result=active)


def _headline(call: ChatContext, version: Soul) -> str:
    """Returns a version's number, author, date, reason and length."""
    state = " (active)" if version.active else ""
    reason = f" · {escape_markdown(version.reason)}" if version.reason else ""
    length = describe_length(version.text, SOUL_TOKENS)
    return f"**Soul, version {version.version}**{state}\n{byline(call, version)}{reason} · {length}"


async def _active(now: commands.ActiveSoul) -> CommandReply:
    """Shows what changed with a version, and a button that undoes it."""
    if not now.changed:
        return CommandReply(f"That's already my soul, version {now.version}.", result=now)
    what = f", with the text of version {now.restored}" if now.restored else ""
    length = describe_length(now.text, SOUL_TOKENS)
    head = f"**Soul version {now.version} is active** from the next message on{what} ({length})."
    changes = await difference_to(now.before_text, now.text)
    text = f"{head} What changed since version {now.before_version}:\n\n{changes}"
    return CommandReply(text, rows=back_rows(now.version), result=now)


async def _take(call: ChatContext) -> CommandReply:
    """Makes a draft from a document, or from the message that is replied to."""
    given = require_found(await text_given(call), OutOfRange(WHAT + MESSAGE * bool(call.bot_id)))
    text, source = given
    return await _draft(call, text, f"from {source}", None)


async def _try(call: ChatContext, text: str) -> CommandReply:
    """Offers a trial of a text, on the person's last questions or on the one that is replied to."""
    replied = call.said.replied.message_id if text and call.said.replied else 0
    if not text:
        text, _ = await text_given(call) or ("", "")
    if not text:
        raise WrongArgument("What should I try? /soul try <text>")
    check_text(call, text, SOUL_TOKENS, "soul")
    drafted = await commands.draft_soul(call, text, "tried", None)
    if drafted.draft_id is None:
        return CommandReply(f"That's already my soul, version {drafted.active_version}.", result=drafted)
    return await offer_trial(call, drafted.draft_id, replied)


async def _ask(call: ChatContext) -> CommandReply:
    """Sends the active soul to copy, and asks for the new one."""
    active = await commands.show_soul(call)
    version, text = (active.version, active.text) if active else (0, "")
    how = REPLY if call.bot_id else "answer with my new soul, as text."
    return ask_with_text(f"{question('soul', version)} – {how}", text, f"soul-{version}.md", "My new soul")


@answers("soul")
async def hear_soul(call: ChatContext, based_on: int) -> CommandReply:
    """Makes a draft from the reply to the question."""
    if not call.admin:
        raise NotAllowed(ADMINS_ONLY)
    text = call.text.strip()
    if call.said.document:
        text, _ = await text_given(call) or ("", "")
    return await _draft(call, text, "edited", based_on)


async def _draft(call: ChatContext, text: str, reason: str, based_on: int | None) -> CommandReply:
    check_text(call, text, SOUL_TOKENS, "soul")
    drafted = await commands.draft_soul(call, text, reason, based_on)
    if drafted.draft_id is None:
        return CommandReply(f"That's already my soul, version {drafted.active_version}.", result=drafted)
    return await _draft_shown(drafted, drafted.draft_id)


async def _draft_shown(drafted: commands.Drafted, draft_id: int) -> CommandReply:
    """Shows a draft's difference to the active soul, with buttons that activate or discard it."""
    head = f"**A draft of my soul** ({describe_length(drafted.text, SOUL_TOKENS)}). Nothing has changed yet."
    active = drafted.active_version
    if drafted.based_on != active:
        head += (
            f" ⚠️ It's based on version {drafted.based_on}, but version {active} is active now; "
            "activating it would undo the changes in between."
        )
    changes = await difference_to(drafted.active_text, drafted.text) or "(none)"
    rows = draft_rows(draft_id, active)
    return CommandReply(f"{head} The difference to version {active}:\n\n{changes}", rows=rows, result=drafted)


@pressed(ActivateDraft, confirms=True)
async def press_activate(call: ChatContext, to: ActivateDraft) -> ButtonReply:
    return await _show_decision(
        call, await commands.activate_draft(call, to.draft_id, to.seen), "is active from the next message on"
    )


@pressed(DiscardDraft)
async def press_discard(call: ChatContext, to: DiscardDraft) -> ButtonReply:
    return await _show_decision(call, await commands.discard_draft(call, to.draft_id), "is already active")


async def _show_decision(call: ChatContext, draft: SoulDraft, activated: str) -> ButtonReply:
    """Shows the decision under a draft."""
    if draft.status == "activated":
        version = draft.version or 0
        rows = [[button(f"✅ Activated as version {version}", NOTHING)], *back_rows(version)]
        return ButtonReply(f"Version {version} {activated}.", rows=rows, result=draft)
    if draft.status == "discarded":
        return ButtonReply("Draft discarded.", rows=[[button("✖ Discarded", NOTHING)]], result=draft)
    active = await commands.show_soul(call)
    version, text = (active.version, active.text) if active else (0, "")
    again = await _draft_shown(commands.Drafted(draft.id, draft.text, draft.based_on or 0, version, text), draft.id)
    toast = f"Version {version} has become active in the meantime. Please check the difference to it."
    return ButtonReply(toast, rows=(), says=again, refused=True)


async def _history(call: ChatContext, page: int) -> CommandReply:
    """Lists the versions, newest first, each with buttons to view and to restore it."""
    found = await commands.list_souls(call, page)
    pages = max(1, -(-found.total // commands.PAGE))
    lines, rows = [], []
    for one in found.souls:
        lines.append(f"{_headline(call, one)}\n{exact(shorten(one.text, 120))}")
        rows.append([button(f"View {one.version}", press_view(one.version))])
        if not one.active:
            rows[-1].append(button(f"↩ Restore {one.version}", RestoreVersion(one.version)))
    rows += step_rows(
        (page - 1) * commands.PAGE,
        commands.PAGE,
        found.total,
        lambda offset: press_history(offset // commands.PAGE + 1),
    )
    head = pluralize(found.total, "version") + (f", page {page} of {pages}" if pages > 1 else "")
    return CommandReply(f"{head}\n\n" + "\n\n".join(lines), rows=rows, result=found)


@action("sh")
async def press_history(call: ChatContext, page: int) -> ButtonReply:
    """Shows a page of the history."""
    reply = await _history(call, max(1, page))
    if not reply.rows:
        return ButtonReply(reply.text)
    listed = any(type(decode(data)) is press_view for data in call.said.buttons)
    return reply.redraw() if listed else ButtonReply(says=reply)


@action("sv")
async def press_view(call: ChatContext, version: int) -> ButtonReply:
    """Shows a version in full."""
    found = await commands.view_soul(call, version)
    rows = [] if found.active else [[button(f"↩ Restore {found.version}", RestoreVersion(found.version))]]
    return ButtonReply(says=CommandReply(f"{_headline(call, found)}\n\n{exact(found.text)}", rows=rows, result=found))


@pressed(RestoreVersion)
async def press_restore(call: ChatContext, to: RestoreVersion) -> ButtonReply:
    reply = await _active(await commands.restore_soul(call, to.version))
    return ButtonReply(says=reply) if reply.rows else ButtonReply(reply.text)


@action("se")
async def press_edit(call: ChatContext, version: int) -> ButtonReply:
    """Sends the active soul to copy; `version` is the one above the button."""
    return ButtonReply(says=await _ask(call))
