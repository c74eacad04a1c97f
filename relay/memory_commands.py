"""`relay memory …` at the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from relay.settings import Settings

LIST = "list"


class _Listing(TyperGroup):
    """A group in which what is no command of its own goes to the list of memories."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and not args[0].startswith("-")):
            args = [LIST, *args]
        return super().parse_args(ctx, args)


def memory_commands(
    ready: Callable[[bool], Settings], run: Callable[[Coroutine[Any, Any, None]], None], listed: Callable[..., None]
) -> typer.Typer:
    """The group of commands. `ready`: loads the settings, quietly; `run`: runs what they start; `listed`: the command
    that lists memories, which `relay memory` alone is."""
    group = typer.Typer(cls=_Listing, help="What is remembered, and how it is found.")
    group.command(LIST, hidden=True)(listed)

    @group.command("index")
    def index(
        rebuild: Annotated[bool, typer.Option("--rebuild", help="Make all of it anew; goes on after a break.")] = False,
        status: Annotated[bool, typer.Option("--status", help="Only say how it stands, as JSON.")] = False,
    ) -> None:
        """Bring the index that finds by meaning up to date, also while the bot runs."""
        settings = ready(True)
        from relay import index as indexing

        async def work() -> None:
            if status:
                print(json.dumps(await indexing.status(settings), indent=2))
            else:
                await indexing.index(settings, rebuild)

        run(work())

    return group
