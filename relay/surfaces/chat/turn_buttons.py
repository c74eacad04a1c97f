"""Buttons under an answer that ask for another one. They are turns, answered in order like messages."""

from __future__ import annotations

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
    """Bring back the answer whose place this one took."""

    turn_id: int


TurnButton = RetryAnswer | AnswerWithWeb | AnswerAgain | BringBack
CODES = tuple(one.code for one in (RetryAnswer, AnswerWithWeb, AnswerAgain, BringBack))


def is_turn_button(data: str) -> bool:
    """Whether a button's data asks for another answer, even if it is malformed."""
    return data.split(":")[0] in CODES
