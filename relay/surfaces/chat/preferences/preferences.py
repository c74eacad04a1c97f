"""Renders /preferences and /tag: how a person likes answers."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial
from typing import get_args

from relay.commands.memory.controls import show_controls
from relay.commands.preferences import preferences as commands
from relay.commands.preferences.feedback import Feedback, prefer, withdraw_feedback
from relay.commands.preferences.feedback import tag as tag_command
from relay.core.errors import OutOfRange
from relay.core.models import Rows
from relay.core.text import escape_markdown, pluralize
from relay.memory.rows.turns.preferences import in_words
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, answers, shows
from relay.surfaces.chat.memory.controls import confirmed_number
from relay.surfaces.chat.memory.spans import pause_end
from relay.surfaces.chat.preferences import pages
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, question

HOW_HERE = (
    "/preferences here ignore: answers in this chat don't follow what you like. "
    "/preferences here quiet: I don't learn from this chat. "
    "/preferences here own: what I learn here counts only here. /preferences here use: as everywhere else."
)


@shows("preferences", private=True)
async def preferences(call: ChatContext) -> CommandReply:
    """Lists preferences, opens one, adds or forgets some, or switches them."""
    text = " ".join(call.text.split())
    word, _, rest = text.partition(" ")
    if (number := re.fullmatch(r"(?:show )?#?([0-9]{1,9})", text)) is not None:
        found = await commands.open_listed(call, int(number[1]))
        return pages.card(found, await _space_id(call), call.zone).returning(found, private=True)
    if text:
        handler = WORDS.get(word.lower())
        if handler is None or (rest and word.lower() in ALONE):
            raise OutOfRange(
                "I don't understand that. Try /preferences prefer short answers, or /preferences alone for the list."
            )
        return await handler(call, rest)
    known = await commands.list_preferences(call)
    return pages.list_page(known, await _space_id(call), call.zone).returning(known, private=True)


@shows("tag", private=True)
async def tag(call: ChatContext) -> CommandReply:
    """Puts tags on the answer that this replies to, else the last one here."""
    done = await tag_command(call, call.text, call.replied_id)
    return CommandReply(pages.describe_feedback(done), rows=await _undo_rows(call, done), result=done)


async def _undo_rows(call: ChatContext, done: Feedback) -> Rows:
    """Returns a button for each preference that takes effect, which drops it, and one that takes this act back."""
    space_id = await _space_id(call)
    rows = [[button(pages.drop_label(row), pages.press_forget(space_id, row.id))] for row in done.acts if row.new]
    return [*rows, [button("↩ Undo", press_undo_feedback(space_id, done.id))]] if done.id else rows


async def _forget(call: ChatContext, words: str) -> CommandReply:
    """`/preferences forget <words>`: forgets the preference that matches; asks if there are several."""
    found = await commands.find_preferences(call, words)
    space_id = await _space_id(call)
    if len(found) > 1:
        rows = [
            [button(f"🗑 {row.pattern}{' (in this chat)' * row.here}", pages.press_forget(space_id, row.id))]
            for row in found[: pages.OPENED]
        ]
        return CommandReply(f"{len(found)} preferences match. Which one should I forget?", rows=rows, result=found)
    done = await commands.forget_preferences(call, [found[0].id])
    one = done.forgotten[0]
    rows = [[button("↩ Undo", pages.press_undo(space_id, one.decision_id))]]
    return CommandReply(f"🎚 Forgot: {escape_markdown(one.pattern)}.", rows=rows, result=done)


async def _pause(call: ChatContext, rest: str) -> CommandReply:
    end = pause_end(rest, datetime.now(call.zone), "/preferences pause")
    return await _switch(commands.PreferenceSwitch(paused_until=end), call, "")


def read_here(word: str) -> commands.PreferenceSwitch:
    """Reads what a conversation does with preferences. Raises `OutOfRange`, which says what it can do."""
    chosen = {"follow": "use", "teach": "use"}.get(word.lower(), word.lower())
    to = next((one for one in get_args(commands.Here) if one == chosen), None)
    if to is None:
        raise OutOfRange(HOW_HERE)
    return commands.PreferenceSwitch(here=to)


async def _switch(to: commands.PreferenceSwitch, call: ChatContext, _rest: str) -> CommandReply:
    now = await commands.switch_preferences(call, to)
    lines = pages.state(now, call.zone)
    return CommandReply("\n".join(lines if len(lines) > 1 else [*lines, "🎚 I follow your preferences."]), result=now)


async def _prefer(polarity: int, call: ChatContext, rest: str) -> CommandReply:
    done = await prefer(call, rest, 1 if polarity > 0 else -1)
    return CommandReply(pages.describe_feedback(done), rows=await _undo_rows(call, done), result=done)


async def _reset(call: ChatContext, _rest: str) -> CommandReply:
    known = (await commands.list_preferences(call)).known
    if not known:
        return CommandReply("There's nothing to forget: I don't know yet how you like answers.")
    where = "" if call.private else " in that group"
    return CommandReply(
        f"{question('preferences', await _space_id(call))} – forget **everything** I've learned about how you like "
        f"answers{where}, {pluralize(known, 'preference')}? Reply to this message with their number, {known}, within "
        "ten minutes.",
        asks=str(known),
    )


@answers("preferences")
async def confirm_reset(call: ChatContext, space_id: int) -> CommandReply:
    """Forgets all preferences in a space (0: the person's own), when their number is typed, right, and in time."""
    typed = confirmed_number(call, "/preferences reset")
    done = await commands.reset_preferences(call, -1 if typed is None else min(typed, 1_000_000), space_id)
    return CommandReply(f"🎚 Forgot all {pluralize(done.forgotten, 'preference')}.", result=done)


WORDS: dict[str, Callable[[ChatContext, str], Awaitable[CommandReply]]] = {
    "prefer": partial(_prefer, 1),
    "avoid": partial(_prefer, -1),
    "forget": _forget,
    "on": partial(_switch, commands.PreferenceSwitch(on=True)),
    "off": partial(_switch, commands.PreferenceSwitch(on=False)),
    "pause": _pause,
    "resume": partial(_switch, commands.PreferenceSwitch(resume=True)),
    "here": lambda call, rest: _switch(read_here(rest), call, ""),
    "reset": _reset,
}
"""The words after /preferences."""
ALONE = ("on", "off", "resume", "reset")
"""Those that nothing follows."""


@action("fw")
async def press_undo_feedback(call: ChatContext, space_id: int, feedback_id: int) -> ButtonReply:
    """Takes back what was said about an answer, or about all. Space 0 is the person's own."""
    gone = await withdraw_feedback(call, feedback_id, space_id)
    said = ", ".join(in_words(one.polarity, one.pattern) for one in gone)
    return ButtonReply("Taken back.", f"↩ Taken back: {escape_markdown(said)}." if said else "↩ Taken back.", [])


async def _space_id(call: ChatContext) -> int:
    """Returns the id of this chat's space in buttons; 0: the person's own."""
    if call.private:
        return 0
    return (await show_controls(call)).space_id or 0
