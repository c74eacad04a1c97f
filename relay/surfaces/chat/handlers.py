"""The registry of chat handlers for commands, buttons and replies to questions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from types import new_class
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from relay.surfaces.chat.callbacks import Callback
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.reply import ButtonReply, CommandReply

Show = Callable[[ChatContext], Awaitable[CommandReply]]
Hear = Callable[[ChatContext, int], Awaitable[CommandReply]]
"""Takes the context and the number in the question (0: none)."""
P = ParamSpec("P")
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


def action(
    code: str, *, confirms: bool = False
) -> Callable[[Callable[Concatenate[ChatContext, P], Awaitable[ButtonReply]]], Callable[P, Callback]]:
    """Declares what a button does, as a function of the context and the values in the button's data: what `Callback`
    says about codes and fields applies to its parameters, and what `pressed` says about handlers to its body. Returns
    what makes the button's data: `button("Open", open_it(7))` runs `open_it(call, 7)`.
    """

    def declare(run: Callable[Concatenate[ChatContext, P], Awaitable[ButtonReply]]) -> Callable[P, Callback]:
        _, *given = inspect.signature(run).parameters.values()
        body: dict[str, Any] = {one.name: one.default for one in given if one.default is not one.empty}
        body |= {"__annotations__": {one.name: one.annotation for one in given}, "__doc__": run.__doc__}
        body["__module__"] = run.__module__  # where its types have their names
        kind = new_class(run.__name__, (Callback,), {"code": code}, lambda space: space.update(body))
        work: Callable[..., Awaitable[ButtonReply]] = run

        @functools.wraps(run)
        async def press(call: ChatContext, to: Callback) -> ButtonReply:
            return await work(call, **vars(to))

        pressed(kind, confirms=confirms)(press)
        return cast(Callable[P, Callback], kind)

    return declare


def pressed(kind: type[Pressed], *, confirms: bool = False) -> Callable[[Press[Pressed]], Press[Pressed]]:
    """Registers the handler of a button, by its callback class.

    It must check who presses the button and validate the data, which can be forged or years old. Running it twice must
    do no harm. `confirms`: the button says yes to the command's question; `--yes` presses it.
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
    """Registers the handler of replies to a question that begins with `question(word, …)`."""

    def declare(run: Hear) -> Hear:
        ANSWERS[word] = run
        return run

    return declare
