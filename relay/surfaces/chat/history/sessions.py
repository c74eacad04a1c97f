"""Renders /sessions."""

from __future__ import annotations

from relay.commands.history.sessions import open_session, session_numbered
from relay.commands.history.sessions import sessions as list_sessions
from relay.core.text import escape_markdown, parse_number, pluralize, shorten
from relay.memory.rows.sessions import SaidWords, Session
from relay.surfaces.chat.callbacks import Callback, callback
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed, shows
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, step_rows
from relay.surfaces.chat.times import local, moment

PAGE = 6


@callback("kp")
class ListSessions(Callback):
    """Shows the sessions from an offset on."""

    offset: int


@callback("ko")
class OpenSession(Callback):
    """Shows one session; `offset` leads back to the list."""

    session_id: int
    offset: int


@shows("sessions")
async def sessions(call: ChatContext) -> CommandReply:
    """Lists this thread's sessions, newest first, or shows one by its number in that list."""
    word = call.text.strip()
    if not word:
        return await page(call, 0)
    one = await session_numbered(call, parse_number(word) or 0)
    return CommandReply(describe(call, one), result=one)


@pressed(ListSessions)
async def turn_page(call: ChatContext, to: ListSessions) -> ButtonReply:
    await call.require_sight()
    listed = await page(call, to.offset)
    return ButtonReply(text=listed.text, rows=listed.rows)


@pressed(OpenSession)
async def press_session(call: ChatContext, to: OpenSession) -> ButtonReply:
    await call.require_sight()
    one = await open_session(call, to.session_id)
    return ButtonReply(text=describe(call, one), rows=[[button("‹ Sessions", ListSessions(to.offset))]])


async def page(call: ChatContext, offset: int) -> CommandReply:
    """Renders a page of the list, with its buttons."""
    found = await list_sessions(call, offset, PAGE)
    if not found.sessions:
        text = "There are no more." if found.total else "We haven't talked here yet."
        return CommandReply(text, result=found)
    numbered = list(enumerate(found.sessions, offset + 1))
    lines = [f"**Sessions in this conversation** ({found.total})"]
    for number, one in numbered:
        lines.append(f"**{number}** · {title(one)}{' · now' if one.present else ''}\n{numbers(call, one)}")
    rows = [[button(str(number), OpenSession(one.id, offset)) for number, one in numbered]]
    rows += step_rows(offset, PAGE, found.total, ListSessions)
    return CommandReply("\n\n".join(lines), rows=rows, result=found)


def describe(call: ChatContext, one: Session) -> str:
    """Renders a session: title, numbers, summary, first and last words."""
    lines = [f"**{title(one)}**", numbers(call, one)]
    if one.summary:
        lines.append(f"> {escape_markdown(shorten(one.summary, 1500))}")
    if one.first:
        lines.append(f"It began: {words(call, one.first)}")
    if one.last and one.messages > 1:
        lines.append(f"It ended: {words(call, one.last)}")
    return "\n\n".join(lines)


def title(one: Session) -> str:
    """Returns a session's title, or its first words if it has none yet."""
    if one.title:
        return escape_markdown(shorten(one.title, 80))
    return f"“{escape_markdown(shorten(one.first.text, 50))}”" if one.first else "without a title"


def numbers(call: ChatContext, one: Session) -> str:
    """Says when a session was, how many messages it has and how many tokens it used."""
    ended = one.ended or one.began
    same_day = local(one.began, call.zone).date() == local(ended, call.zone).date()
    until = f"{local(ended, call.zone):%H:%M}" if same_day else moment(ended, call.zone)
    tokens = f"{one.input:,} tokens in, {one.output:,} out"
    return f"{moment(one.began, call.zone)} – {until} · {pluralize(one.messages, 'message')} · {tokens}"


def words(call: ChatContext, said: SaidWords) -> str:
    """Quotes a message and its author on one line."""
    who = "me" if said.role == "assistant" else escape_markdown(shorten(said.name or "you", 40))
    if said.role == "user" and call.space.kind == "private" and said.user_id == call.space.owner_id:
        who = "you"
    return f"{who}: {escape_markdown(shorten(said.text, 240))}"
