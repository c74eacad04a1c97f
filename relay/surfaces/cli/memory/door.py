"""How a command of `relay memory …` does what one of the chat does, and tells it to programs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from relay.core.errors import SettingsError
from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.surfaces.cli.chat_commands import run_command_line
from relay.surfaces.cli.command_list import Commands as Listed
from relay.surfaces.cli.shell import ready, run_work

if TYPE_CHECKING:
    from relay.core.models import Space
    from relay.memory.rows.controls import Controls
    from relay.memory.rows.memories import OpenedMemory
    from relay.memory.store import Store

PAGE = 100
Result = TypeVar("Result")

ELSEWHERE = {
    "controls": "relay memory status",
    "export": "relay export",
    "import": "relay import",
    "pending": "relay memory waiting",
    "remember": "relay remember",
}
"""What people call in the chat what is called otherwise here."""


class Commands(Listed):
    """What is no command here is looked up in memory, as /memory does in the chat."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """A --json before the command is one of the command."""
        if args[:1] == ["--json"] and len(args) > 1:
            args = [args[1], "--json", *args[2:]]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first word names, or the look for all words.

        A word that is a command of the chat and none here is not looked for: that would hide that nothing was done.
        """
        if args and args[0] not in self.commands:
            if args[0] in ELSEWHERE:
                ctx.fail(f"That is: {ELSEWHERE[args[0]]}")
            return super().resolve_command(ctx, ["show", *args])
        return super().resolve_command(ctx, args)


memory = typer.Typer(
    cls=Commands,
    invoke_without_command=True,
    add_completion=False,
    help="Show and change what Relay knows about you.",
    rich_markup_mode=None,
)
AsJson = Annotated[bool, typer.Option("--json", help="JSON, for programs.")]
Words = Annotated[list[str] | None, typer.Argument()]


def printed(value: Any) -> None:
    """Prints JSON."""
    from pydantic import TypeAdapter

    print(TypeAdapter(object).dump_json(value, indent=2).decode())


def verb(
    command: str,
    as_json: bool,
    after: Callable[[Store, Space], Awaitable[object]] | None = None,
    *,
    sure: bool = False,
) -> None:
    """Does what a command of the chat does. With --json, `after` reads how it stands then. `sure`: its first button is
    pressed."""
    name, _, words = command.removeprefix("/").partition(" ")

    async def state(store: Store, space: Space) -> dict[str, Any]:
        from pydantic import TypeAdapter

        return dict(TypeAdapter(object).dump_python(await after(store, space), mode="json")) if after else {}

    run_command_line(name, words, sure, as_json, state if after else None)


async def read_owned(settings: Settings, read: Callable[[Store, Space], Awaitable[Result]]) -> Result:
    """Reads something of the owner's memory. `read` gets the store and the space."""
    from relay.core.models import Space
    from relay.memory.people import People
    from relay.runtime.app import open_relay

    async with open_relay(settings) as relay:
        people = People(settings.admins)
        await people.refresh(relay.store)
        return await read(relay.store, Space("private", owner_id=people.owner))


def shown(
    command: str,
    as_json: bool,
    read: Callable[[Store, Space], Awaitable[Result]],
    lines: Callable[[Result], list[str]] | None = None,
) -> None:
    """Shows something as the chat does, or as JSON without asking the chat. `lines`: as these where nobody is there to
    press the chat's buttons."""
    from relay.surfaces.cli.terminal.once import is_attended

    if not as_json and (lines is None or is_attended()):
        verb(command, False)
        return
    settings = ready(quiet=True)

    async def work() -> None:
        found = await read_owned(settings, read)
        if as_json or lines is None:
            printed(found)
        else:
            print("\n".join(lines(found)))

    run_work(work())


async def controls(store: Store, space: Space) -> Controls:
    """How the owner's memory is switched."""
    return await store.controls(space, 0, 0)


async def owned(store: Store, space: Space, number: int) -> OpenedMemory:
    """A memory of the owner's by its number. Raises `SettingsError` when there is none."""
    row = await store.opened(await store.numbered(space, number), space.owner_id or 0, True)
    if row is None:
        raise SettingsError(f"There is no memory {number} of yours. `{RELAY} memory --json` lists them.")
    return row
