"""`relay memory …` at the terminal."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from relay.settings import Settings, require

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

    @group.command("rederive")
    def rederive(
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the difference, apply nothing.")] = False,
        since: Annotated[
            datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only what was derived from that day on.")
        ] = None,
        what: Annotated[str, typer.Option(help="What is derived again: summaries or all.")] = "all",
        yes: Annotated[bool, typer.Option("--yes", help="Ask nothing.")] = False,
    ) -> None:
        """Derive again what an older version made of the record; shows the difference first, goes on after a break."""
        settings = ready(True)
        require(settings, "ANTHROPIC_API_KEY")
        from relay import rederiving

        run(rederiving.rederive(settings, what, since, dry_run, yes))

    return group
