"""Two answers to choose from, at once or one after the other: the buttons under them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from relay.commands.preferences.feedback import DIMENSIONS, Signal, choose_answer, give_reason, signal
from relay.core.models import Button
from relay.core.text import escape_markdown
from relay.memory.rows.changes import MemoryChange
from relay.surfaces.chat.callbacks import AboutTurn
from relay.surfaces.chat.changes import make_closed_row, memory_line, other_rows
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed
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


class ChooseAnswer(AboutTurn, code="wa"):
    """Chooses between two answers."""

    choice: Choice


class PreferThis(AboutTurn, code="wt"):
    """Chooses the newer of the answers that two turns gave to the same message."""

    over: int


class GiveReason(AboutTurn, code="wr"):
    """Adds a reason for a choice, or removes it."""

    reason: str


def choice_row(turn_id: int, chosen: str | None = None) -> list[Button]:
    """Returns the buttons that choose an answer, with a tick at the chosen one."""
    return [
        button(f"{'✓ ' if name == chosen else ''}{label}", ChooseAnswer(turn_id, name))
        for name, label in LABELS.items()
    ]


def compare_row(turn_id: int, before: int, chosen: bool = False) -> list[Button]:
    """Returns the buttons that choose between a turn's answer and the one `before`. `chosen`: a tick at this one."""
    this = button("✓ This one" if chosen else "This one", PreferThis(turn_id, before))
    return [button("First", PreferFirst(turn_id)), this]


def reason_row(turn_id: int, given: tuple[str, ...] = ()) -> list[Button]:
    """Returns the buttons for the reasons of a choice, with a tick at each `given` one."""
    return [button(f"{'✓ ' if one in given else ''}{one}", GiveReason(turn_id, one)) for one in DIMENSIONS]


@pressed(ChooseAnswer)
async def choose(call: ChatContext, to: ChooseAnswer) -> ButtonReply:
    """Chooses between two answers."""
    done = await choose_answer(call, to.turn_id, to.choice)
    rows = [*other_rows(call.said.rows, ChooseAnswer, GiveReason), choice_row(to.turn_id, done.chose)]
    if done.taught and done.chose in ("a", "b"):
        rows.append(reason_row(to.turn_id))
    return ButtonReply(DONE[to.choice], rows=rows, says=_say_changes(done.changes, to.turn_id))


def _say_changes(changes: Sequence[MemoryChange], turn_id: int) -> CommandReply | None:
    """Says what a choice changed in memory, with the button that undoes it. None: nothing."""
    if not changes:
        return None
    kept = [one for one in changes if one.status in ("applied", "pending")]
    return CommandReply(escape_markdown(memory_line(changes, [])), rows=make_closed_row(kept, turn_id))


@pressed(PreferThis)
async def prefer_this(call: ChatContext, to: PreferThis) -> ButtonReply:
    """Chooses an answer over the one before."""
    await signal(call, Signal("compare", to.turn_id, over=to.over), "button")
    rows = other_rows(call.said.rows, PreferFirst, PreferThis, GiveReason)
    return ButtonReply("Noted.", rows=[*rows, compare_row(to.turn_id, to.over, chosen=True), reason_row(to.turn_id)])


@pressed(GiveReason)
async def explain(call: ChatContext, to: GiveReason) -> ButtonReply:
    """Says why an answer was chosen."""
    done = await give_reason(call, to.turn_id, to.reason)
    rows = [*other_rows(call.said.rows, GiveReason), reason_row(to.turn_id, done.reasons)]
    return ButtonReply("Noted." if to.reason in done.reasons else "Removed.", rows=rows)
