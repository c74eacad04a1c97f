"""Buttons under an answer that ask for another one. They are turns, answered in order like messages."""

from __future__ import annotations

from typing import get_args

from relay.surfaces.chat.callbacks import Callback, callback


@callback("r")
class RetryAnswer(Callback):
    """Answers the message again."""

    turn_id: int


@callback("w")
class AnswerWithWeb(Callback):
    """Answers the message again, with the web."""

    turn_id: int


@callback("a")
class AnswerAgain(Callback):
    """Answers the edited message, in place of the old answer."""

    turn_id: int


@callback("b")
class BringBack(Callback):
    """Brings back the answer that this one replaced."""

    turn_id: int


@callback("f")
class PreferFirst(Callback):
    """Chooses the answer before this one as the better one, and brings it back."""

    turn_id: int


@callback("q")
class AnswerWithCritique(Callback):
    """Answers the message again, with the critique above this button."""

    turn_id: int


@callback("t")
class AnswerTwice(Callback):
    """Answers the message again, twice, to choose from."""

    turn_id: int


TurnButton = RetryAnswer | AnswerWithWeb | AnswerAgain | BringBack | PreferFirst | AnswerWithCritique | AnswerTwice
CODES = tuple(one.code for one in get_args(TurnButton))


def is_turn_button(data: str) -> bool:
    """Whether a button's data asks for another answer, even if it is malformed."""
    return data.split(":")[0] in CODES
