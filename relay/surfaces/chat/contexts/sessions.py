"""Renders /sessions: the list, and a session with what can be done with it."""

from __future__ import annotations

from relay.commands.contexts.library import open_original, register_session, unregister_session
from relay.commands.contexts.space_settings import show_settings
from relay.commands.history.sessions import open_session, session_named
from relay.commands.history.sessions import sessions as list_sessions
from relay.core.errors import NotFound
from relay.core.models import Button
from relay.core.text import escape_markdown, format_tokens, pluralize, shorten
from relay.memory.contexts.markers import remove_markers
from relay.memory.rows.contexts.library import OriginalMessage
from relay.memory.rows.sessions import SaidWords, Session, SessionPage
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.buttons import ListVersions, OpenSession
from relay.surfaces.chat.contexts.compose import press_use
from relay.surfaces.chat.contexts.compress import press_compress
from relay.surfaces.chat.contexts.markers.keepit import open_session_markers
from relay.surfaces.chat.contexts.space_settings import show_or_change
from relay.surfaces.chat.handlers import action, pressed, shows
from relay.surfaces.chat.reply import ButtonReply, CommandReply, app_rows, button, step_rows
from relay.surfaces.chat.times import moment

PAGE = 6
SETTINGS = "settings"
SHOWN = 500
"""The most characters of each message."""


@shows("sessions")
async def sessions(call: ChatContext) -> CommandReply:
    """Lists this thread's sessions, newest first, or shows one by its number in that list."""
    word, _, rest = call.text.strip().partition(" ")
    if not word:
        return await page(call, 0)
    if word.lower() == SETTINGS:
        return await show_or_change(call, rest)
    one = await session_named(call, call.text.strip())
    return CommandReply(await _describe(call, one), rows=_rows(one, 0), result=one)


@action("kp")
async def turn_page(call: ChatContext, offset: int) -> ButtonReply:
    """Shows the sessions starting at an offset."""
    return (await page(call, offset)).redraw()


@action("ko")
async def press_earlier(call: ChatContext, session_id: int, offset: int) -> ButtonReply:
    """Shows one session: the button of earlier versions, in old messages."""
    return await press_session(call, OpenSession(session_id, offset))


@pressed(OpenSession)
async def press_session(call: ChatContext, to: OpenSession) -> ButtonReply:
    one = await open_session(call, to.session_id)
    return ButtonReply(text=await _describe(call, one), rows=_rows(one, to.offset))


@action("or")
async def press_register(call: ChatContext, session_id: int, on: bool) -> ButtonReply:
    """Adds a session to the library, or removes it."""
    toast = "It's in the library now." if on else "Removed from the library. Its versions and markers stay."
    try:
        one = await (register_session if on else unregister_session)(call, session_id)
    except NotFound as refusal:  # it isn't there any more
        one, toast = await open_session(call, session_id), str(refusal)
    return ButtonReply(toast, await _describe(call, one), _rows(one, 0), result=one)


async def page(call: ChatContext, offset: int) -> CommandReply:
    """Renders a page of the list, with its buttons."""
    found = await list_sessions(call, offset, PAGE)
    if not found.sessions and not found.linked:
        text = "There are no more." if found.total else "We haven't talked here yet."
        return CommandReply(text, result=found)
    estimates = (await show_settings(call)).ui.tokens
    lines = [f"**Sessions in this conversation** ({found.total})"]
    lines += [f"**{one.number}** · {title(one)}{' · now' if one.present else ''}\n{numbers(call, one, estimates)}"
              for one in found.sessions]  # fmt: skip
    for one in found.linked:
        lines.append(f"Linked: {escape_markdown(one.linked or '…')}\n{title(one)}\n{numbers(call, one, estimates)}")
    rows = [*_list_rows(found, offset), *app_rows(call, "/sessions")]
    return CommandReply("\n\n".join(lines), rows=rows, result=found)


def _list_rows(found: SessionPage, offset: int) -> list[list[Button]]:
    own = [button(str(one.number), OpenSession(one.id, offset)) for one in found.sessions]
    linked = [button(f"🔗 {shorten(plain_title(one), 24)}", OpenSession(one.id, offset)) for one in found.linked]
    return [[*own], *([one] for one in linked), *step_rows(offset, PAGE, found.total, turn_page)]


async def _describe(call: ChatContext, one: Session) -> str:
    """Renders a session: title, numbers, topics, summary, first and last words."""
    estimates = (await show_settings(call)).ui.tokens
    lines = [f"**{title(one)}**", f"{numbers(call, one, estimates)}\n{_describe_use(one)}"]
    if one.linked is not None:
        lines.append(f"Linked: {escape_markdown(one.linked or '…')}")
    if one.topics:
        lines.append(f"Topics: {escape_markdown(', '.join(one.topics))}")
    if one.summary:
        lines.append(f"> {escape_markdown(shorten(one.summary, 1000))}")
    if one.first:
        lines.append(f"It began with {words(call, one.first)}")
    if one.last and one.messages > 1:
        lines.append(f"It ended with {words(call, one.last)}")
    return "\n\n".join(lines)


def _describe_use(one: Session) -> str:
    """Says how long ago a session was used, where it is used, and how many tokens its answers took."""
    ago = (one.distance or 1) - 1
    said = [f"counts as {pluralize(ago, 'session')} ago" if ago else "counts as the most recent"]
    if one.compositions:
        said.append(f"in {pluralize(one.compositions, 'composition')}")
    return " · ".join([*said, f"used {one.input:,} input and {one.output:,} output tokens"])


def _rows(one: Session, offset: int) -> list[list[Button]]:
    """Returns what can be done with a session."""
    versions = f"Versions ({one.versions})" if one.versions else "Versions"
    markers = f"Markers 📌{one.markers}" if one.markers else "Markers"
    library = "Remove from library" if one.registered else "Add to library"
    return [
        [button("View original", press_original(one.id, 0)), button(versions, ListVersions(one.id))],
        [button("Compress", press_compress(one.id, offset)), button(markers, open_session_markers(one.id))],
        [
            button(library, press_register(one.id, not one.registered)),
            button("Use in…", press_use(one.id)),
        ],
        [button("‹ Sessions", turn_page(offset))],
    ]


def plain_title(one: Session) -> str:
    """Returns a session's title, or its first words if it has none yet."""
    if one.title:
        return shorten(one.title, 80)
    first = shorten(remove_markers(one.first.text), 50) if one.first else ""
    return f"“{first}”" if first else "without a title"


def title(one: Session) -> str:
    """Returns the same as Markdown."""
    return escape_markdown(plain_title(one))


def numbers(call: ChatContext, one: Session, estimates: bool) -> str:
    """Says when a session was, how long it is, and what it has: markers, versions, a place in the library."""
    ended = one.ended or one.began
    same_day = one.began.astimezone(call.zone).date() == ended.astimezone(call.zone).date()
    until = f"{ended.astimezone(call.zone):%H:%M}" if same_day else moment(ended, call.zone)
    said = [f"{moment(one.began, call.zone)} – {until}", pluralize(one.messages, "message")]
    if estimates:
        said.append(f"{format_tokens(one.tokens)} tokens")
    if one.markers:
        said.append(f"📌 {one.markers}")
    if one.versions:
        said.append(pluralize(one.versions, "version"))
    if one.registered:
        said.append(escape_markdown("[M]"))
    return " · ".join(said)


def words(call: ChatContext, said: SaidWords) -> str:
    """Quotes a message and its author on one line."""
    who = "me" if said.role == "assistant" else escape_markdown(shorten(said.name or "you", 40))
    if said.role == "user" and call.space.kind == "private" and said.user_id == call.space.owner_id:
        who = "you"
    return f"{who}: {escape_markdown(shorten(remove_markers(said.text), 240))}"


@action("oo")
async def press_original(call: ChatContext, session_id: int, offset: int = 0) -> ButtonReply:
    """Shows a session's messages starting at an offset."""
    found = await open_original(call, session_id, offset, PAGE)
    last = min(offset + PAGE, found.total)
    lines = [f"**Messages {min(offset + 1, last)}–{last} of {found.total}**"]
    lines += [_line(call, one) for one in found.messages]
    rows = step_rows(offset, PAGE, found.total, lambda at: press_original(session_id, at), ("‹ Earlier", "Later ›"))
    return ButtonReply(text="\n\n".join(lines), rows=[*rows, [button("‹ Session", OpenSession(session_id))]])


def _line(call: ChatContext, one: OriginalMessage) -> str:
    """Quotes a message, with its time and author."""
    who = "me" if one.role == "assistant" else escape_markdown(shorten(one.name or "you", 40))
    return f"**{who}**, {moment(one.at, call.zone)}\n{escape_markdown(shorten(one.text, SHOWN))}"
