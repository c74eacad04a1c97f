"""The command group `relay memory`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from relay.commands.memory.browse import open_number
from relay.core.errors import CommandRefused, SettingsError
from relay.core.program import RELAY
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.cli.command_list import CommandsOrWords, json_errors, make_group

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

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Refuses a word that is only a command in the chat: a search would hide that the command did not run."""
        with json_errors(args):
            if args[0] in ELSEWHERE:
                ctx.fail(f"Use `{RELAY} {ELSEWHERE[args[0]]}`.")
        return super().resolve_command(ctx, args)


memory = make_group("Show and change what Relay knows about you.", "show", Commands)


async def find_number(ctx: ChatContext, number: int) -> int:
    """Returns the id of the owner's memory with a number. Raises `NotFound` if there is none."""
    return (await open_number(ctx, number)).memory.id


def confirm_reset(known: int, number: int, how: str) -> None:
    """Raises an error unless something is known, and `number` says how much. `how`: how to confirm."""
    if not known:
        raise CommandRefused("There is nothing to forget.")
    if number != known:
        raise SettingsError(how)
