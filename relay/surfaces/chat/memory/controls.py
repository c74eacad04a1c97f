"""Renders the switches of a memory, /memory reset and /private."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Literal

from relay.commands.memory.access import GONE, find_space
from relay.commands.memory.controls import MemorySwitch, count_for_reset, show_controls, switch, talk_privately
from relay.commands.memory.controls import reset as reset_command
from relay.core.errors import CommandRefused, NotAllowed, OutOfRange
from relay.core.models import Button
from relay.core.text import parse_number, pluralize
from relay.memory.rows.controls import Controls
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, answers, pressed, shows
from relay.surfaces.chat.memory.decisions import history
from relay.surfaces.chat.memory.places import place_of
from relay.surfaces.chat.memory.spans import pause_end
from relay.surfaces.chat.memory_buttons import ListMemories, ShowControls
from relay.surfaces.chat.memory_pages import make_waiting_button
from relay.surfaces.chat.memory_views import HistoryView, View
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, question
from relay.surfaces.chat.times import moment

BEGUN = (
    "🕶 **Off the record.** This is a new conversation. I won't learn from it, summarise it, search it, export it or "
    "back it up, and I'll erase it when it ends: with /private off, with /new, or after 12 silent hours. I still use "
    "what I know about you. "
)
IN_TELEGRAM = "Your messages stay in Telegram, and the model that answers still sees them."
AT_A_TERMINAL = "The model that answers still sees your messages."
IS_OFF = "🕶 This conversation is off the record."
IS_ON = "This conversation is on the record."
ON_OR_OFF = {"": True, "on": True, "off": False, "status": None}
PAUSE = "/memory pause"
QUESTION_SECONDS = 600
"""How long a reset can be confirmed."""
RECALLS = ("in this chat I use what I know", "in this chat I don't use what I know")
TEACHES = ("I learn from it", "I don't learn from it")
HERE = {
    "ignore": MemorySwitch(recalls=False),
    "use": MemorySwitch(recalls=True),
    "quiet": MemorySwitch(teaches=False),
    "teach": MemorySwitch(teaches=True),
}
HOW_HERE = (
    "/memory here ignore: in this chat I don't use what I know; /memory here use: I do again. "
    "/memory here quiet: I don't learn from this chat; /memory here teach: I do again."
)


async def pause(call: ChatContext, rest: str) -> CommandReply:
    """`/memory pause 2h|until <date>`: stops recalling and learning until then."""
    if rest.lower() in ("off", "end"):
        return await _switch(call, MemorySwitch(resume=True))
    return await _switch(call, MemorySwitch(paused_until=pause_end(rest, datetime.now(call.zone), PAUSE)))


async def here(call: ChatContext, rest: str) -> CommandReply:
    """`/memory here …`: whether this chat or topic uses memory and adds to it."""
    change = HERE.get(rest.lower())
    if change is not None:
        return await _switch(call, change)
    if rest:
        raise OutOfRange(HOW_HERE)
    now = await show_controls(call)
    if not call.private:
        return CommandReply(f"{describe_switches(call, now)}\n\n{HOW_HERE}", result=now)
    return CommandReply(describe_switches(call, now), rows=rows(now, here=True), result=now)


async def board(call: ChatContext, rest: str) -> CommandReply:
    """`/memory controls`: all the switches."""
    return await _page(call, await show_controls(call))


async def reset(call: ChatContext, rest: str) -> CommandReply:
    """`/memory reset`: asks for the number of memories before forgetting them all."""
    known = await count_for_reset(call)
    if not known:
        return CommandReply("There's nothing to forget: I don't know anything yet.")
    return CommandReply(
        f"{question('reset', known)} – forget **everything** I know here, {pluralize(known, 'memory', 'memories')}? "
        f"To confirm, reply to this message with their number, {known}, within ten minutes. Your messages stay; "
        "/forget --erase removes those for good.",
        asks=str(known),
    )


WORDS: dict[str, Callable[[ChatContext, str], Awaitable[CommandReply]]] = {
    "on": lambda call, rest: _switch(call, MemorySwitch(on=True)),
    "off": lambda call, rest: _switch(call, MemorySwitch(on=False)),
    "pause": pause,
    "resume": lambda call, rest: _switch(call, MemorySwitch(resume=True)),
    "here": here,
    "waiting": lambda call, rest: history(call, HistoryView(waiting=True)),
    "pending": lambda call, rest: history(call, HistoryView(waiting=True)),
    "controls": board,
    "reset": reset,
}
"""The words after /memory that aren't a search."""


@answers("reset")
async def confirm_reset(call: ChatContext, known: int) -> CommandReply:
    """Forgets everything, if the number is right and in time."""
    done = await reset_command(call, known if confirmed_number(call, "/memory reset") == known else -1)
    return CommandReply(
        f"🧠 Forgot all {pluralize(done.forgotten, 'memory', 'memories')}. You can undo each one in /memory changes.",
        result=done,
    )


def confirmed_number(call: ChatContext, command: str) -> int | None:
    """Returns the number in the reply to a reset's question. Raises `CommandRefused` if it comes too late."""
    asked = call.said.replied.sent_at if call.said.replied else 0
    if asked and call.said.sent_at - asked > QUESTION_SECONDS:
        raise CommandRefused(f"That was too long ago. Please start again with {command}.")
    return parse_number(call.text.strip())


@pressed(ShowControls)
async def press_controls(call: ChatContext, to: ShowControls) -> ButtonReply:
    return (await _page(call, await show_controls(call, to.space_id), to.space_id)).redraw()


@action("ms")
async def press_switch(call: ChatContext, space_id: int, to: Literal["on", "off", "2h", "1d", "end"]) -> ButtonReply:
    """Turns a space's memory on or off, or pauses it."""
    if to in ("on", "off"):
        change = MemorySwitch(on=to == "on")
    elif to == "end":
        change = MemorySwitch(resume=True)
    else:
        change = MemorySwitch(paused_until=pause_end(to, datetime.now(call.zone), PAUSE))
    return (await _page(call, await switch(call, change, space_id), space_id)).redraw("Done.")


@action("mt")
async def press_here(call: ChatContext, to: Literal["ignore", "use", "quiet", "teach"]) -> ButtonReply:
    """Sets whether this chat uses memory and adds to it."""
    if not call.private:
        raise NotAllowed(GONE)
    now = await switch(call, HERE[to])
    return ButtonReply("Done.", describe_switches(call, now), rows(now, here=True))


async def _switch(call: ChatContext, change: MemorySwitch) -> CommandReply:
    """Switches something in this chat, and shows the result."""
    now = await switch(call, change)
    return CommandReply(describe_switches(call, now), result=now)


async def _page(call: ChatContext, now: Controls, space_id: int | None = None) -> CommandReply:
    """Renders the switches of a space's memory. `space_id`: None is the space of this chat."""
    space = await find_space(call, space_id)
    own = space == call.space
    text = describe_switches(call, now, await place_of(call, space), own)
    return CommandReply(text, rows=rows(now, own and call.private), private=True, result=now)


def describe_switches(call: ChatContext, now: Controls, place: str = "", here: bool = True) -> str:
    """Describes a memory's switches, one per line."""
    if now.memory == "off":
        state = "⛔ Memory is off; I'm not using it. /memory on"
    elif now.paused_until:
        end = moment(now.paused_until, call.zone)
        state = f"💤 Memory is paused until {end}; I'm not using it. /memory resume"
    else:
        state = "🧠 Memory is on."
    lines = [f"**Memory{place}**", f"- {state}"]
    if here:
        later = "once memory is on again: " if now.memory == "off" or now.paused_until else ""
        lines += [f"- {later}{RECALLS[not now.recalls]}; {TEACHES[not now.teaches]}"]
        if now.private:
            lines.append("- 🕶 this conversation is off the record. /private off")
    lines.append(f"- {pluralize(now.memories, 'memory', 'memories')}, {now.pending:,} waiting for a tap")
    return "\n".join(lines)


def rows(now: Controls, here: bool) -> list[list[Button]]:
    """Returns the buttons that would change something."""
    space = now.space_id or 0
    if now.memory == "off":
        first = [button("🧠 On", press_switch(space, "on"))]
    elif now.paused_until:
        first = [button("🧠 Resume", press_switch(space, "end")), button("⛔ Off", press_switch(space, "off"))]
    else:
        first = [
            button("💤 2 hours", press_switch(space, "2h")),
            button("💤 1 day", press_switch(space, "1d")),
            button("⛔ Off", press_switch(space, "off")),
        ]
    chat = [
        button("Ignore memory here", press_here("ignore"))
        if now.recalls
        else button("Use memory here", press_here("use")),
        button("Don't learn here", press_here("quiet")) if now.teaches else button("Learn here", press_here("teach")),
    ]
    ways = [button("‹ What I know", ListMemories(space, View()))]
    if now.pending:
        ways.append(make_waiting_button(now.pending, space))
    return [first, *([chat] if here else []), ways]


@shows("private")
async def private(call: ChatContext) -> CommandReply:
    """Starts a conversation off the record in this thread, or ends and erases it."""
    word = call.text.strip().lower()
    if word not in ON_OR_OFF:
        raise OutOfRange("Write /private to talk off the record, and /private off to end it.")
    on = ON_OR_OFF[word]
    begun = BEGUN + (IN_TELEGRAM if call.bot_id else AT_A_TERMINAL)
    done = await talk_privately(call, on)
    if on is None:
        text = IS_OFF if done.private else IS_ON
    elif on:
        text = "🕶 This conversation is already off the record. /private off ends it." if done.was else begun
    elif done.was:
        text = "I've erased the conversation off the record. From now on, we're on the record."
    else:
        text = f"{IS_ON} /private starts one off the record."
    return CommandReply(text, result=done)
