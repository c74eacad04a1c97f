"""Buttons under an answer that ask for another one. They are turns, answered in order like messages."""

from __future__ import annotations

from typing import get_args

from relay.surfaces.chat.callbacks import AboutTurn


class RetryAnswer(AboutTurn, code="r"):
    """Answers the message again."""


class AnswerWithWeb(AboutTurn, code="w"):
    """Answers the message again, with the web."""


class AnswerAgain(AboutTurn, code="a"):
    """Answers the edited message, in place of the old answer."""


class BringBack(AboutTurn, code="b"):
    """Brings back the answer that this one replaced."""


class PreferFirst(AboutTurn, code="f"):
    """Chooses the answer before this one as the better one, and brings it back."""


class AnswerWithCritique(AboutTurn, code="q"):
    """Answers the message again, with the critique above this button."""


class AnswerTwice(AboutTurn, code="t"):
    """Answers the message again, twice, to choose from."""


TurnButton = RetryAnswer | AnswerWithWeb | AnswerAgain | BringBack | PreferFirst | AnswerWithCritique | AnswerTwice
CODES = tuple(one.code for one in get_args(TurnButton))


def is_turn_button(data: str) -> bool:
    """Whether a button's data asks for another answer, even if it is malformed."""
    return data.split(":")[0] in CODES
