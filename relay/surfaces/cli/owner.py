"""Commands of the shell that the owner gives: in their own memory, or about one conversation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Sequence
from inspect import Parameter
from typing import Annotated, Any, Concatenate, cast

import typer

from relay.core.frozen import frozen
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.cli.output import AsJson, print_json
from relay.surfaces.cli.shell import ready, run_work
from relay.surfaces.cli.where import TERMINAL, Where

Command = Callable[[ChatContext], Awaitable[Any]]
Lines = Callable[[ChatContext, Any], str]
"""Renders a result for people."""
Chat = Annotated[int | None, typer.Option("--chat", help="The chat's id (by default, the terminal's).")]
Topic = Annotated[int, typer.Option("--topic", show_default=False, help="The id of a topic in that chat.")]
PAGE = 100
"""How many rows a list has."""


@frozen
class Shown:
    """A command's result for programs, and its text for people."""

    result: object
    text: str


def show_text(_: ChatContext, result: Shown) -> str:
    """Renders the result of a command that renders it itself."""
    return result.text


def run(command: Command, lines: Lines, as_json: bool, where: Where = TERMINAL, searches: bool = False) -> None:
    """Runs a command as the owner, and prints its result: as JSON, or rendered by `lines`. `searches`: it waits for the
    embedder."""
    settings = ready(quiet=True)
    from relay.surfaces.cli.terminal.once import SEARCHES, open_desk

    async def work() -> None:
        async with open_desk(settings, SEARCHES if searches else "", False) as desk:
            desk.where = where
            async with desk.turn() as ctx:
                result = await command(ctx)
                if as_json:
                    print_json(result.result if isinstance(result, Shown) else result)
                else:
                    print(lines(ctx, result))

    run_work(work(), as_json)


def owner_command(
    lines: Lines = show_text, anywhere: bool = False, searches: bool = False
) -> Callable[[Callable[Concatenate[ChatContext, ...], Awaitable[Any]]], Callable[..., None]]:
    """Makes a command of the shell from a function of the owner's context, which `run` runs. Its other parameters are
    arguments and options; --json is added, and `anywhere` also --chat and --topic. Without `lines`, it returns
    `Shown`."""

    def declare(command: Callable[Concatenate[ChatContext, ...], Awaitable[Any]]) -> Callable[..., None]:
        _, *own = inspect.signature(command, eval_str=True).parameters.values()

        @functools.wraps(command)
        def start(**given: Any) -> None:
            as_json, where = given.pop("as_json"), Where(given.pop("chat", None), given.pop("topic", 0))
            run(lambda ctx: command(ctx, **given), lines, as_json, where, searches)

        return add_parameters(start, own, anywhere)

    return declare


def parameter(name: str, kind: Any, default: object = Parameter.empty) -> Parameter:
    """Returns an argument or option of a command. `kind`: its annotation."""
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind)


def add_parameters(start: Any, own: Sequence[Parameter], anywhere: bool) -> Callable[..., None]:
    """Gives a command of the shell its own parameters and those that all have: --json, and `anywhere` --chat and
    --topic."""
    place = [parameter("chat", Chat, None), parameter("topic", Topic, 0)] if anywhere else []
    parameters = [*own, *place, parameter("as_json", AsJson, False)]
    start.__signature__ = inspect.Signature(parameters)
    start.__annotations__ = {one.name: one.annotation for one in parameters}
    return cast("Callable[..., None]", start)


def plain(markdown: str) -> str:
    """Renders a text of the chat for the shell."""
    from relay.surfaces.cli.terminal.messenger import name_commands
    from relay.surfaces.telegram.formatting.format import format_reply

    return "\n".join(part.text for part in format_reply(name_commands(markdown)))
