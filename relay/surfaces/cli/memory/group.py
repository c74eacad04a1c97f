"""The command group `relay memory`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from relay.commands.memory.browse import open_number
from relay.core.program import RELAY
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.cli.command_list import CommandsOrWords
from relay.surfaces.cli.output import allow_json

Words = Annotated[list[str] | None, typer.Argument()]
ELSEWHERE = {
    "controls": "memory status",
    "export": "export",
    "import": "import",
    "pending": "memory waiting",
    "remember": "remember",
}
"""Words of /memory that are other commands in the shell."""


class Commands(CommandsOrWords):
    """The commands of the group. Other words are searched for in memory, as with /memory in the chat."""

    fallback = "show"

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Refuses a word that is only a command in the chat: a search would hide that the command did not run."""
        if args[0] in ELSEWHERE:
            ctx.fail(f"Use `{RELAY} {ELSEWHERE[args[0]]}`.")
        return super().resolve_command(ctx, args)


memory = typer.Typer(
    cls=Commands,
    callback=allow_json,
    add_completion=False,
    help="Show and change what Relay knows about you.",
    rich_markup_mode=None,
)


async def find_number(ctx: ChatContext, number: int) -> int:
    """Returns the id of the owner's memory with a number. Raises `NotFound` if there is none."""
    return (await open_number(ctx, number)).memory.id
