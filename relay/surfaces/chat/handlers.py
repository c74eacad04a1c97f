"""The registers of chat handlers: which shows a command, which a button runs, which hears the answer to a question."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, overload

from relay.commands.registry import COMMANDS, Command, Place, Surface
from relay.surfaces.chat.callbacks import Callback
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.reply import ButtonReply, CommandReply

Show = Callable[[ChatContext], Awaitable[CommandReply]]
Press = Callable[..., Awaitable[ButtonReply]]
"""Takes the context and the callback; of a button that is declared by its code alone, the parts of its data."""
Hear = Callable[[ChatContext, int], Awaitable[CommandReply]]
"""Takes the context and the number in the question (0: none)."""
Pressed = TypeVar("Pressed", bound=Callback)

HANDLERS: dict[str, Show] = {}
PRIVATE: set[str] = set()
"""The commands whose every reply is for the person alone."""
BUTTONS: dict[str, Press] = {}
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


def verb(
    name: str,
    *,
    help: str,
    usage: str = "",
    admin: bool = False,
    doors: tuple[Surface, ...] = ("chat", "cli"),
    places: tuple[Place, ...] = ("private", "group"),
) -> Callable[[Show], Show]:
    """Declares a command that is still one with its chat handler."""

    def declare(run: Show) -> Show:
        COMMANDS[name] = Command(name, run, help, usage, "admin" if admin else "everyone", doors, places)
        HANDLERS[name] = run
        return run

    return declare


@overload
def pressed(kind: str, *, confirms: bool = False) -> Callable[[Press], Press]: ...
@overload
def pressed(
    kind: type[Pressed], *, confirms: bool = False
) -> Callable[[Callable[[ChatContext, Pressed], Awaitable[ButtonReply]]], Press]: ...
def pressed(kind: Any, *, confirms: bool = False) -> Any:
    """Declares what a button does, by its callback class (or its code, whose parts the handler then gets as texts).

    It must check who presses and what the data says: data can be forged, and years old. Running it twice must do no
    harm. `confirms`: the first button of this kind under a message does what was asked; `--yes` presses it.
    """
    code = kind if isinstance(kind, str) else kind.code

    def declare(run: Press) -> Press:
        if code in BUTTONS:
            raise ValueError(f"two handlers for the button {code}")
        BUTTONS[code] = run
        if confirms:
            CONFIRMING.add(code)
        return run

    return declare


def answers(word: str) -> Callable[[Hear], Hear]:
    """Declares who hears the reply to a question that `question(word, …)` begins."""

    def declare(run: Hear) -> Hear:
        ANSWERS[word] = run
        return run

    return declare
