"""Past sessions of a conversation."""

from __future__ import annotations

from datetime import datetime

from relay.verbs.registry import (
    NOT_YOURS,
    Call,
    Json,
    Pressed,
    Told,
    button,
    counted,
    literal,
    number_in,
    pressed,
    short,
    verb,
)
from relay.verbs.times import moment

PAGE = 6


@verb("sessions", usage="[number]", help="what we talked about here, session by session")
async def sessions(call: Call) -> Told:
    """Lists this thread's sessions, newest first; or tells what one of them was about, by its number there."""
    word = call.text.strip()
    if not word:
        return await page(call, 0)
    number = number_in(word) or 0
    listed = await call.store.sessions(call.space, call.chat_id, call.topic_id, max(0, min(number, 10_000) - 1), 1)
    if not number or not listed["sessions"]:
        return Told("There is no session of that number. /sessions lists them.", refused=True)
    one = await call.store.session(call.space, call.chat_id, call.topic_id, listed["sessions"][0]["id"])
    return Told(described(call, one) if one else "That session is gone.", refused=one is None)


@pressed("kp")
async def turn_page(call: Call, offset: str) -> Pressed:
    """Shows another page of them."""
    if not await call.sees(call.space):
        return NOT_YOURS
    told = await page(call, number_in(offset) or 0)
    return Pressed(text=told.text, rows=told.rows)


@pressed("ko")
async def open_session(call: Call, session_id: str, offset: str) -> Pressed:
    """Shows what one was about: its summary, its first and its last words."""
    if not await call.sees(call.space):
        return NOT_YOURS
    one = await call.store.session(call.space, call.chat_id, call.topic_id, number_in(session_id) or 0)
    if one is None:
        return Pressed("That session belongs to another conversation.")
    return Pressed(text=described(call, one), rows=[[button("‹ Sessions", f"kp:{number_in(offset) or 0}")]])


def described(call: Call, one: Json) -> str:
    """A session's title, numbers and summary, its first and its last words."""
    lines = [f"**{title(one)}**", numbers(call, one)]
    if one["summary"]:
        lines.append(f"> {literal(short(one['summary'], 1500))}")
    if one["first"]:
        lines.append(f"It began: {words(call, one['first'])}")
    if one["last"] and one["messages"] > 1:
        lines.append(f"It ended: {words(call, one['last'])}")
    return "\n\n".join(lines)


async def page(call: Call, offset: int) -> Told:
    """A page of the thread's sessions, with their buttons."""
    offset = min(offset, 10_000)
    found = await call.store.sessions(call.space, call.chat_id, call.topic_id, offset, PAGE)
    if not found["sessions"]:
        return Told("There are no more." if found["total"] else "We have not talked here yet.")
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
    return Told("\n\n".join(lines), rows=[*rows, steps] if steps else rows)


def title(one: Json) -> str:
    """A session's title; before it has one, its first words."""
    if one["title"]:
        return literal(short(one["title"], 80))
    return f"“{literal(short(one['first']['text'], 50))}”" if one["first"] else "without a title"


def numbers(call: Call, one: Json) -> str:
    """When a session was, and how much was said and used."""
    begun, ended = (datetime.fromisoformat(one[key]).astimezone(call.zone) for key in ("from", "to"))
    until = f"{ended:%H:%M}" if begun.date() == ended.date() else moment(one["to"], call.zone)
    tokens = f"{one['input']:,} tokens in, {one['output']:,} out"
    return f"{moment(one['from'], call.zone)} – {until} · {counted(one['messages'], 'message')} · {tokens}"


def words(call: Call, said: Json) -> str:
    """Who said what, on one line."""
    who = "me" if said["role"] == "assistant" else literal(short(said["name"] or "you", 40))
    if said["role"] == "user" and call.space.kind == "private" and said["user_id"] == call.space.owner_id:
        who = "you"
    return f"{who}: {literal(short(said['text'], 240))}"
