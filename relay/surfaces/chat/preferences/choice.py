"""Two answers to choose from: the buttons under them."""

from __future__ import annotations

from typing import Literal

from relay.commands.preferences.feedback import DIMENSIONS, choose_answer, give_reason
from relay.core.models import Button
from relay.memory.rows.turns.preferences import ChosenAnswer
from relay.surfaces.chat.callbacks import Callback, callback
from relay.surfaces.chat.changes import other_rows
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed
from relay.surfaces.chat.reply import ButtonReply, button

Choice = Literal["a", "b", "both", "neither"]
LABELS: dict[Choice, str] = {"a": "A", "b": "B", "both": "Both fine", "neither": "Neither"}
DONE: dict[Choice, str] = {
    "a": "A it is.",
    "b": "B it is.",
    "both": "Good, both are fine.",
    "neither": "Sorry about that. Noted.",
}


@callback("wa")
class ChooseAnswer(Callback):
    """Chooses between two answers."""

    turn_id: int
    choice: Choice


@callback("wr")
class GiveReason(Callback):
    """Says why, or takes that back."""

    turn_id: int
    reason: str


def choice_row(turn_id: int, chosen: str | None = None) -> list[Button]:
    """The choice, with a tick at what was chosen."""
    return [
        button(f"{'✓ ' if name == chosen else ''}{label}", ChooseAnswer(turn_id, name))
        for name, label in LABELS.items()
    ]


@pressed(ChooseAnswer)
async def choose(call: ChatContext, to: ChooseAnswer) -> ButtonReply:
    """Chooses between two answers."""
    done = await choose_answer(call, to.turn_id, to.choice)
    return ButtonReply(DONE[to.choice], rows=_rows(call, to.turn_id, done))


@pressed(GiveReason)
async def explain(call: ChatContext, to: GiveReason) -> ButtonReply:
    """Says why an answer was chosen."""
    done = await give_reason(call, to.turn_id, to.reason)
    return ButtonReply("Noted." if to.reason in done.reasons else "Taken away.", rows=_rows(call, to.turn_id, done))


def _rows(call: ChatContext, turn_id: int, done: ChosenAnswer) -> list[list[Button]]:
    """The choice as it stands, and the reasons that can be given for it."""
    rows = [*other_rows(call.said.rows, ChooseAnswer, GiveReason), choice_row(turn_id, done.chose)]
    if done.taught and done.chose in ("a", "b"):
        rows.append(
            [button(f"{'✓ ' if one in done.reasons else ''}{one}", GiveReason(turn_id, one)) for one in DIMENSIONS]
        )
    return rows
