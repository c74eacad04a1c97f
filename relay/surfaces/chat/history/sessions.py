"""Past sessions of a conversation."""

from __future__ import annotations

from datetime import datetime

from relay.core.text import escape_markdown, parse_number, pluralize, shorten
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed, verb
from relay.surfaces.chat.reply import NOT_YOURS, ButtonReply, CommandReply, Json, button
from relay.surfaces.chat.times import moment

PAGE = 6


@verb("sessions", usage="[number]", help="what we talked about here, session by session")
async def sessions(call: ChatContext) -> CommandReply:
    """Lists this thread's sessions, newest first; or tells what one of them was about, by its number there."""
    word = call.text.strip()
    if not word:
        return await page(call, 0)
    number = parse_number(word) or 0
    listed = await call.store.sessions(call.space, call.chat_id, call.topic_id, max(0, min(number, 10_000) - 1), 1)
    if not number or not listed["sessions"]:
        return CommandReply("There is no session of that number. /sessions lists them.", refused=True)
    one = await call.store.session(call.space, call.chat_id, call.topic_id, listed["sessions"][0]["id"])
    return CommandReply(described(call, one) if one else "That session is gone.", refused=one is None)


@pressed("kp")
async def turn_page(call: ChatContext, offset: str) -> ButtonReply:
    """Shows another page of them."""
    if not await call.sees(call.space):
        return NOT_YOURS
    told = await page(call, parse_number(offset) or 0)
    return ButtonReply(text=told.text, rows=told.rows)


@pressed("ko")
async def open_session(call: ChatContext, session_id: str, offset: str) -> ButtonReply:
    """Shows what one was about: its summary, its first and its last words."""
    if not await call.sees(call.space):
        return NOT_YOURS
    one = await call.store.session(call.space, call.chat_id, call.topic_id, parse_number(session_id) or 0)
    if one is None:
        return ButtonReply("That session belongs to another conversation.")
    return ButtonReply(text=described(call, one), rows=[[button("‹ Sessions", f"kp:{parse_number(offset) or 0}")]])


def described(call: ChatContext, one: Json) -> str:
    """A session's title, numbers and summary, its first and its last words."""
    lines = [f"**{title(one)}**", numbers(call, one)]
    if one["summary"]:
        lines.append(f"> {escape_markdown(shorten(one['summary'], 1500))}")
    if one["first"]:
        lines.append(f"It began: {words(call, one['first'])}")
    if one["last"] and one["messages"] > 1:
        lines.append(f"It ended: {words(call, one['last'])}")
    return "\n\n".join(lines)


async def page(call: ChatContext, offset: int) -> CommandReply:
    """A page of the thread's sessions, with their buttons."""
    offset = min(offset, 10_000)
    found = await call.store.sessions(call.space, call.chat_id, call.topic_id, offset, PAGE)
    if not found["sessions"]:
        return CommandReply("There are no more." if found["total"] else "We have not talked here yet.")
    numbered = list(enumerate(found["sessions"], offset + 1))
    lines = [f"**Sessions in this conversation** ({found['total']})"]
    for number, one in numbered:
        lines.append(f"**{number}** · {title(one)}{' · now' if one['present'] else ''}\n{numbers(call, one)}")
    rows = [[button(str(number), f"ko:{one['id']}:{offset}") for number, one in numbered]]
    steps = []
    if offset > 0:
        steps.append(button("‹ Newer", f"kp:{max(0, offset - PAGE)}"))
    if offset + PAGE < found["total"]:
        steps.append(button("Older ›", f"kp:{offset + PAGE}"))
    return CommandReply("\n\n".join(lines), rows=[*rows, steps] if steps else rows)


def title(one: Json) -> str:
    """A session's title; before it has one, its first words."""
    if one["title"]:
        return escape_markdown(shorten(one["title"], 80))
    return f"“{escape_markdown(shorten(one['first']['text'], 50))}”" if one["first"] else "without a title"


def numbers(call: ChatContext, one: Json) -> str:
    """When a session was, and how much was said and used."""
    begun, ended = (datetime.fromisoformat(one[key]).astimezone(call.zone) for key in ("from", "to"))
    until = f"{ended:%H:%M}" if begun.date() == ended.date() else moment(one["to"], call.zone)
    tokens = f"{one['input']:,} tokens in, {one['output']:,} out"
    return f"{moment(one['from'], call.zone)} – {until} · {pluralize(one['messages'], 'message')} · {tokens}"


def words(call: ChatContext, said: Json) -> str:
    """Who said what, on one line."""
    who = "me" if said["role"] == "assistant" else escape_markdown(shorten(said["name"] or "you", 40))
    if said["role"] == "user" and call.space.kind == "private" and said["user_id"] == call.space.owner_id:
        who = "you"
    return f"{who}: {escape_markdown(shorten(said['text'], 240))}"
