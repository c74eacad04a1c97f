"""The registers of chat handlers: which shows a command, which a button runs, which hears the answer to a question."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from relay.surfaces.chat.callbacks import Callback
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.reply import ButtonReply, CommandReply

Show = Callable[[ChatContext], Awaitable[CommandReply]]
Hear = Callable[[ChatContext, int], Awaitable[CommandReply]]
"""Takes the context and the number in the question (0: none)."""
Pressed = TypeVar("Pressed", bound=Callback)
Press = Callable[[ChatContext, Pressed], Awaitable[ButtonReply]]

HANDLERS: dict[str, Show] = {}
PRIVATE: set[str] = set()
"""The commands whose every reply is for the person alone."""
BUTTONS: dict[str, Press[Any]] = {}
CONFIRMING: set[str] = set()
"""The codes of buttons that answer a question with yes; where several hang under a message, the first does."""
ANSWERS: dict[str, Hear] = {}


def shows(name: str, *, private: bool = False) -> Callable[[Show], Show]:
    """Declares how a chat shows a command. `private`: its replies are for the person alone, refusals included."""

    def declare(show: Show) -> Show:
        HANDLERS[name] = show
        if private:
            PRIVATE.add(name)
        return show

    return declare


def pressed(kind: type[Pressed], *, confirms: bool = False) -> Callable[[Press[Pressed]], Press[Pressed]]:
    """Declares what a button does, by its callback class.

    It must check who presses and what the data says: data can be forged, and years old. Running it twice must do no
    harm. `confirms`: the first button of this kind under a message does what was asked; `--yes` presses it.
    """

    def declare(run: Press[Pressed]) -> Press[Pressed]:
        if kind.code in BUTTONS:
            raise ValueError(f"two handlers for the button {kind.code}")
        BUTTONS[kind.code] = run
        if confirms:
            CONFIRMING.add(kind.code)
        return run

    return declare


def answers(word: str) -> Callable[[Hear], Hear]:
    """Declares who hears the reply to a question that `question(word, …)` begins."""

    def declare(run: Hear) -> Hear:
        ANSWERS[word] = run
        return run

    return declare
