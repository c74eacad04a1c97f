"""The command group `relay memory`, and how its commands run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from relay.core.program import RELAY
from relay.surfaces.cli.command_list import Commands as Listed
from relay.surfaces.cli.output import AsJson, print_json
from relay.surfaces.cli.shell import ready, run_work

if TYPE_CHECKING:
    from relay.surfaces.chat.context import ChatContext

PAGE = 100
Result = TypeVar("Result")
Words = Annotated[list[str] | None, typer.Argument()]
__all__ = ["PAGE", "AsJson", "Words", "find_number", "memory", "plain", "run"]

ELSEWHERE = {
    "controls": "memory status",
    "export": "export",
    "import": "import",
    "pending": "memory waiting",
    "remember": "remember",
}
"""Words of /memory that are other commands in the shell."""


class Commands(Listed):
    """The commands of the group. Other words are searched for in memory, as with /memory in the chat."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Moves a --json before the command to the command."""
        if args[:1] == ["--json"] and len(args) > 1:
            args = [args[1], "--json", *args[2:]]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Returns the command that the first word names, else a search for all words.

        Refuses a word that is only a command in the chat: a search would hide that the command did not run.
        """
        if args and args[0] not in self.commands:
            if args[0] in ELSEWHERE:
                ctx.fail(f"Use `{RELAY} {ELSEWHERE[args[0]]}`.")
            return super().resolve_command(ctx, ["show", *args])
        return super().resolve_command(ctx, args)


memory = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    add_completion=False,
    help="Show and change what Relay knows about you.",
    rich_markup_mode=None,
)


def run(
    command: Callable[[ChatContext], Awaitable[Result]],
    lines: Callable[[ChatContext, Result], str],
    as_json: bool,
) -> None:
    """Runs a command as the owner, in their own memory, and prints its result: as JSON, or rendered by `lines`."""
    settings = ready(quiet=True)
    from relay.surfaces.cli.terminal.once import open_desk

    async def work() -> None:
        async with open_desk(settings, "memory", False) as desk, desk.turn() as ctx:
            result = await command(ctx)
            if as_json:
                print_json(result)
            else:
                print(lines(ctx, result))

    run_work(work(), as_json)


def plain(markdown: str) -> str:
    """Renders a text of the chat for the shell."""
    from relay.surfaces.cli.terminal.messenger import name_commands
    from relay.surfaces.telegram.formatting.format import format_reply

    return "\n".join(part.text for part in format_reply(name_commands(markdown)))


async def find_number(ctx: ChatContext, number: int) -> int:
    """Returns the id of the owner's memory with a number. Raises `CommandRefused` if there is none."""
    from relay.commands.memory.browse import open_number

    return (await open_number(ctx, number)).memory.id
