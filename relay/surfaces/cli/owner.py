"""Commands of the shell that the owner gives: in their own memory, or about one conversation."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from inspect import Parameter
from typing import Annotated, Any, Concatenate

import typer

from relay.surfaces.chat.context import ChatContext
from relay.surfaces.cli.output import AsJson, print_json
from relay.surfaces.cli.shell import ready, run_work
from relay.surfaces.cli.where import TERMINAL, Where

Command = Callable[[ChatContext], Awaitable[Any]]
Lines = Callable[[ChatContext, Any], str]
"""Renders a result for people."""
Chat = Annotated[int | None, typer.Option("--chat", help="The chat's id (by default, the terminal's).")]
Topic = Annotated[int, typer.Option("--topic", help="The id of a topic in that chat.")]
PAGE = 100
"""How many rows a list has."""


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
                    print_json(result)
                else:
                    print(lines(ctx, result))

    run_work(work(), as_json)


def owner_command(
    lines: Lines, anywhere: bool = False, searches: bool = False
) -> Callable[[Callable[Concatenate[ChatContext, ...], Awaitable[Any]]], Callable[..., None]]:
    """Makes a command of the shell from a function of the owner's context, which `run` runs. Its other parameters are
    arguments and options; --json is added, and `anywhere` also --chat and --topic."""

    def declare(command: Callable[Concatenate[ChatContext, ...], Awaitable[Any]]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        _, *own = signature.parameters.values()
        shared: dict[str, tuple[Any, Any]] = {"chat": (Chat, None), "topic": (Topic, 0)} if anywhere else {}
        shared["as_json"] = (AsJson, False)
        added = [
            Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind)
            for name, (kind, default) in shared.items()
        ]

        @functools.wraps(command)
        def start(**given: Any) -> None:
            as_json, where = given.pop("as_json"), Where(given.pop("chat", None), given.pop("topic", 0))
            run(lambda ctx: command(ctx, **given), lines, as_json, where, searches)

        parameters = [*own, *added]
        start.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        start.__annotations__ = {one.name: one.annotation for one in parameters}
        return start

    return declare


def plain(markdown: str) -> str:
    """Renders a text of the chat for the shell."""
    from relay.surfaces.cli.terminal.messenger import name_commands
    from relay.surfaces.telegram.formatting.format import format_reply

    return "\n".join(part.text for part in format_reply(name_commands(markdown)))
