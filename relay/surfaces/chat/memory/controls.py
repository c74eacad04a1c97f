"""Memory as a whole: on, off, at rest; what this chat reads of it and teaches it; what waits; beginning anew."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

from relay.commands.registry import ADMINS_ONLY
from relay.core.models import Space
from relay.core.text import parse_number, pluralize
from relay.memory.rows.controls import Controls
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import answers, pressed
from relay.surfaces.chat.memory.decisions import history
from relay.surfaces.chat.memory.spans import HOW, until
from relay.surfaces.chat.memory_pages import Page
from relay.surfaces.chat.permissions import GONE, place_of, shown, space_of
from relay.surfaces.chat.reply import NOT_YOURS, ButtonReply, CommandReply, Json, button, question
from relay.surfaces.chat.times import moment

QUESTION_SECONDS = 600
"""How long the question about a reset can be answered."""
RECALLS = ("this chat uses what I know", "this chat ignores what I know")
TEACHES = ("this chat teaches me", "this chat teaches me nothing")
HERE: dict[str, Json] = {
    "ignore": {"recalls": False},
    "use": {"recalls": True},
    "quiet": {"teaches": False},
    "teach": {"teaches": True},
}
HOW_HERE = (
    "/memory here ignore: in this chat I use nothing that I know; /memory here use: I do again. "
    "/memory here quiet: this chat teaches me nothing; /memory here teach: it does again."
)


async def switch(call: ChatContext, rest: str, on: bool) -> CommandReply:
    """`/memory on|off`."""
    return await changed(call, {"memory": "on" if on else "off", "paused_until": None})


async def pause(call: ChatContext, rest: str) -> CommandReply:
    """`/memory pause 2h|until <date>`: nothing is recalled and nothing learned until then."""
    if rest.lower() in ("off", "end"):
        return await changed(call, {"paused_until": None})
    end = until(rest, datetime.now(call.zone))
    return CommandReply(HOW, refused=True) if end is None else await changed(call, {"paused_until": end.isoformat()})


async def here(call: ChatContext, rest: str) -> CommandReply:
    """`/memory here …`: what this chat or topic reads of the memory, and whether it teaches it."""
    change = HERE.get(rest.lower())
    if change is not None:
        return await changed(call, change)
    if rest:
        return CommandReply(HOW_HERE, refused=True)
    now = await call.store.controls(call.space, call.chat_id, call.topic_id)
    if not call.private:
        return CommandReply(f"{in_words(call, now)}\n\n{HOW_HERE}")
    return CommandReply(in_words(call, now), rows=rows(now, here=True))


async def waiting(call: ChatContext, rest: str) -> CommandReply:
    """`/memory waiting`: what waits for a tap, with Keep and Discard for each and for all."""
    page = await history(call, call.space, "w.1")
    return CommandReply(page.text, rows=page.rows, private=True)


async def controls(call: ChatContext, rest: str) -> CommandReply:
    """`/memory controls`: all the switches."""
    page = await board(call, call.space)
    return CommandReply(page.text, rows=page.rows, private=True)


async def reset(call: ChatContext, rest: str) -> CommandReply:
    """`/memory reset`: asks for the number of memories before it forgets them all."""
    if not may_switch(call, call.space):
        return CommandReply(ADMINS_ONLY)
    known = (await call.store.controls(call.space, call.chat_id, call.topic_id)).memories
    if not known:
        return CommandReply("There is nothing to forget: I know nothing.")
    return CommandReply(
        f"{question('reset', known)} – forget **everything** that I know here, "
        f"{pluralize(known, 'memory', 'memories')}? "
        f"Reply to this message with their number, {known}, within ten minutes. What was said stays; "
        "/forget --erase takes that away for good.",
        asks=str(known),
    )


WORDS: dict[str, Callable[[ChatContext, str], Awaitable[CommandReply]]] = {
    "on": lambda call, rest: switch(call, rest, True),
    "off": lambda call, rest: switch(call, rest, False),
    "pause": pause,
    "resume": lambda call, rest: changed(call, {"paused_until": None}),
    "here": here,
    "waiting": waiting,
    "pending": waiting,
    "controls": controls,
    "reset": reset,
}
"""What may stand after /memory and is no search."""


@answers("reset")
async def confirm_reset(call: ChatContext, known: int) -> CommandReply:
    """Forgets everything, when the number is typed, still right, and in time."""
    asked = (call.message.get("reply_to_message") or {}).get("date")
    if asked and int(call.message.get("date") or 0) - int(asked) > QUESTION_SECONDS:
        return CommandReply("That was too long ago. Ask again: /memory reset")
    if not may_switch(call, call.space):
        return CommandReply(ADMINS_ONLY)
    left = None
    if parse_number(call.text.strip()) == known:
        left = await call.store.confirm_reset(call.turn, call.space, call.user_id, known)
    if left is None:
        return CommandReply("That is not their number. Nothing was forgotten.")
    while left:
        left = await call.store.confirm_reset(call.turn, call.space, call.user_id, known)
    return CommandReply(
        f"🧠 Forgot all {pluralize(known, 'memory', 'memories')}. /memory changes shows them, and brings back each "
        "that "
        "you undo there."
    )


@pressed("mk")
async def show_controls(call: ChatContext, space_id: str) -> ButtonReply:
    """The switches of a space's memory, from its list."""
    space = await space_of(call, space_id)
    return GONE if space is None else shown(await board(call, space))


@pressed("ms")
async def press_switch(call: ChatContext, space_id: str, chosen: str) -> ButtonReply:
    """Switches a space's memory."""
    space = await space_of(call, space_id)
    if space is None or chosen not in SWITCHES:
        return GONE
    if not may_switch(call, space):
        return NOT_YOURS
    change = SWITCHES[chosen](call)
    await call.store.control(space, call.chat_id, call.topic_id, call.user_id, change)
    page = await board(call, space)
    return ButtonReply("Done.", page.text, page.rows)


@pressed("mt")
async def press_here(call: ChatContext, chosen: str) -> ButtonReply:
    """Switches what a private chat's topic reads and teaches."""
    if not call.private or chosen not in HERE:
        return GONE
    now = await call.store.control(call.space, call.chat_id, call.topic_id, call.user_id, HERE[chosen])
    return ButtonReply("Done.", in_words(call, now), rows(now, here=True))


@pressed("ma")
async def decide_all(call: ChatContext, space_id: str, decision: str) -> ButtonReply:
    """Keeps or discards all that waits, as far as this person decides it."""
    space = await space_of(call, space_id)
    if space is None or decision not in ("k", "x"):
        return GONE
    word = "keep" if decision == "k" else "discard"
    done = await call.store.decide_waiting(space, call.user_id, call.admin, word)
    page = await history(call, space, "w.1")
    left = f" {done.pending} still wait." if done.pending else ""
    said = f"{'Kept' if decision == 'k' else 'Discarded'}: {done.decided}.{left}"
    return ButtonReply(said, page.text, page.rows)


SWITCHES: dict[str, Callable[[ChatContext], Json]] = {
    "on": lambda call: {"memory": "on", "paused_until": None},
    "off": lambda call: {"memory": "off", "paused_until": None},
    "2h": lambda call: {"paused_until": _later(call, "2h")},
    "1d": lambda call: {"paused_until": _later(call, "1d")},
    "end": lambda call: {"paused_until": None},
}


def _later(call: ChatContext, span: str) -> str | None:
    end = until(span, datetime.now(call.zone))
    return end.isoformat() if end else None


def may_switch(call: ChatContext, space: Space) -> bool:
    """A person switches their own memory; a group's is switched by the people who run the bot."""
    return space.owner_id == call.user_id if space.kind == "private" else call.admin


async def changed(call: ChatContext, change: Json) -> CommandReply:
    """Switches something in the space and chat where it was asked, and says how it stands then."""
    if not may_switch(call, call.space):
        return CommandReply(ADMINS_ONLY)
    now = await call.store.control(call.space, call.chat_id, call.topic_id, call.user_id, change)
    return CommandReply(in_words(call, now))


async def board(call: ChatContext, space: Space) -> Page:
    """The switches of a space's memory as a page."""
    own = space == call.space
    now = await call.store.controls(space, call.chat_id if own else 0, call.topic_id if own else 0)
    return Page(in_words(call, now, await place_of(call, space), own), rows(now, own and call.private))


def in_words(call: ChatContext, now: Controls, place: str = "", here: bool = True) -> str:
    """How it stands with a memory, one thing a line."""
    if now.memory == "off":
        state = "⛔ Memory is off: I recall nothing and learn nothing. /memory on"
    elif now.paused_until:
        end = moment(now.paused_until, call.zone)
        state = f"💤 Memory rests until {end}: I recall nothing and learn nothing. /memory resume"
    else:
        state = "🧠 Memory is on."
    lines = [f"**Memory{place}**", f"- {state}"]
    if here:
        rests = "once memory is on again, " if now.memory == "off" or now.paused_until else ""
        lines += [f"- {rests}{RECALLS[not now.recalls]}; {TEACHES[not now.teaches]}"]
        if now.private:
            lines.append("- 🕶 this conversation is off the record. /private off")
    lines.append(f"- {pluralize(now.memories, 'memory', 'memories')}, {now.pending:,} waiting for a tap")
    return "\n".join(lines)


def rows(now: Controls, here: bool) -> list[list[Json]]:
    """What can be switched; what would change nothing is not there."""
    space: Any = now.space_id or 0
    if now.memory == "off":
        first = [button("🧠 On", f"ms:{space}:on")]
    elif now.paused_until:
        first = [button("🧠 End the rest", f"ms:{space}:end"), button("⛔ Off", f"ms:{space}:off")]
    else:
        first = [
            button("💤 2 hours", f"ms:{space}:2h"),
            button("💤 1 day", f"ms:{space}:1d"),
            button("⛔ Off", f"ms:{space}:off"),
        ]
    chat = [
        button("Ignore memory here", "mt:ignore") if now.recalls else button("Use memory here", "mt:use"),
        button("Learn nothing here", "mt:quiet") if now.teaches else button("Learn here", "mt:teach"),
    ]
    ways = [button("‹ What I know", f"ml:{space}:a.1")]
    if now.pending:
        ways.append(button(f"⏳ {now.pending} waiting", f"mc:{space}:w.1"))
    return [first, *([chat] if here else []), ways]
