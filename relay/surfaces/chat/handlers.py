"""The registry of chat handlers for commands, buttons and replies to questions."""

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
"""Commands whose replies only the person may see."""
BUTTONS: dict[str, Press[Any]] = {}
CONFIRMING: set[str] = set()
"""Codes of buttons that say yes; the first one under a message counts."""
ANSWERS: dict[str, Hear] = {}


def shows(name: str, *, private: bool = False) -> Callable[[Show], Show]:
    """Registers a command's handler. `private`: only the person may see its replies, refusals included."""

    def declare(show: Show) -> Show:
        HANDLERS[name] = show
        if private:
            PRIVATE.add(name)
        return show

    return declare


def pressed(*kinds: type[Pressed], confirms: bool = False) -> Callable[[Press[Pressed]], Press[Pressed]]:
    """Registers the handler of buttons, by their callback classes.

    It must check who presses the button and validate the data, which can be forged or years old. Running it twice must
    do no harm. `confirms`: the button says yes to the command's question; `--yes` presses it.
    """

    def declare(run: Press[Pressed]) -> Press[Pressed]:
        for kind in kinds:
            if kind.code in BUTTONS:
                raise ValueError(f"two handlers for the button {kind.code}")
            BUTTONS[kind.code] = run
            if confirms:
                CONFIRMING.add(kind.code)
        return run

    return declare


def answers(word: str) -> Callable[[Hear], Hear]:
    """Registers the handler of replies to a question that begins with `question(word, …)`."""

    def declare(run: Hear) -> Hear:
        ANSWERS[word] = run
        return run

    return declare
