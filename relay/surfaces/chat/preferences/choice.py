"""Two answers to choose from, at once or one after the other: the buttons under them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from relay.commands.preferences.feedback import DIMENSIONS, Signal, choose_answer, give_reason, signal
from relay.core.models import Button
from relay.core.text import escape_markdown
from relay.memory.rows.changes import MemoryChange
from relay.surfaces.chat.changes import make_closed_row, memory_line, other_rows
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button
from relay.surfaces.chat.turn_buttons import PreferFirst

Choice = Literal["a", "b", "both", "neither"]
LABELS: dict[Choice, str] = {"a": "A", "b": "B", "both": "Both fine", "neither": "Neither"}
DONE: dict[Choice, str] = {
    "a": "A it is.",
    "b": "B it is.",
    "both": "Good, both are fine.",
    "neither": "Sorry about that. Noted.",
}


def choice_row(turn_id: int, chosen: str | None = None) -> list[Button]:
    """Returns the buttons that choose an answer, with a tick at the chosen one."""
    return [button(label, choose(turn_id, name), name == chosen) for name, label in LABELS.items()]


def compare_row(turn_id: int, before: int, chosen: bool = False) -> list[Button]:
    """Returns the buttons that choose between a turn's answer and the one `before`. `chosen`: a tick at this one."""
    return [button("First", PreferFirst(turn_id)), button("This one", prefer_this(turn_id, before), chosen)]


def reason_row(turn_id: int, given: tuple[str, ...] = ()) -> list[Button]:
    """Returns the buttons for the reasons of a choice, with a tick at each `given` one."""
    return [button(one, explain(turn_id, one), one in given) for one in DIMENSIONS]


@action("wa")
async def choose(call: ChatContext, turn_id: int, choice: Choice) -> ButtonReply:
    """Chooses between two answers."""
    done = await choose_answer(call, turn_id, choice)
    rows = [*other_rows(call.said.rows, choose, explain), choice_row(turn_id, done.chose)]
    if done.taught and done.chose in ("a", "b"):
        rows.append(reason_row(turn_id))
    return ButtonReply(DONE[choice], rows=rows, says=_say_changes(done.changes, turn_id))


def _say_changes(changes: Sequence[MemoryChange], turn_id: int) -> CommandReply | None:
    """Says what a choice changed in memory, with the button that undoes it. None: nothing."""
    if not changes:
        return None
    kept = [one for one in changes if one.status in ("applied", "pending")]
    return CommandReply(escape_markdown(memory_line(changes, [])), rows=make_closed_row(kept, turn_id))


@action("wt")
async def prefer_this(call: ChatContext, turn_id: int, over: int) -> ButtonReply:
    """Chooses the newer of the answers that two turns gave to the same message."""
    await signal(call, Signal("compare", turn_id, over=over), "button")
    rows = other_rows(call.said.rows, PreferFirst, prefer_this, explain)
    return ButtonReply("Noted.", rows=[*rows, compare_row(turn_id, over, chosen=True), reason_row(turn_id)])


@action("wr")
async def explain(call: ChatContext, turn_id: int, reason: str) -> ButtonReply:
    """Adds a reason for a choice, or removes it."""
    done = await give_reason(call, turn_id, reason)
    rows = [*other_rows(call.said.rows, explain), reason_row(turn_id, done.reasons)]
    return ButtonReply("Noted." if reason in done.reasons else "Removed.", rows=rows)
