"""The declarations of commands: name, help, audience and surfaces, in the order of /help; and of operations, which
people reach without a name."""

import functools
from collections.abc import Awaitable, Callable
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from relay.commands.context import CommandContext
from relay.core.errors import NotAllowed
from relay.core.frozen import frozen

Audience = Literal["everyone", "admin"]
Surface = Literal["chat", "cli", "http"]
"""In the chat and the shell, people type a command's name. Over HTTP, a route runs its function."""
Place = Literal["private", "group"]
P = ParamSpec("P")
Result = TypeVar("Result")
Run = Callable[Concatenate[CommandContext, P], Awaitable[Result]]


@frozen
class Command:
    """A command with its name and one line of help."""

    name: str
    run: Callable[..., Awaitable[Any]]
    help: str
    usage: str
    """Its arguments, such as `[auto|always|never]`."""
    audience: Audience
    surfaces: tuple[Surface, ...]
    places: tuple[Place, ...]
    """The kinds of chats whose Telegram menu lists it."""

    @property
    def admin(self) -> bool:
        """Tells whether only operators may use it."""
        return self.audience == "admin"


@frozen
class Operation:
    """What a person can do: a command, or what buttons, subcommands and routes run."""

    name: str
    """Its place in the code: memory.change.forget_memory."""
    run: Callable[..., Awaitable[Any]]
    surfaces: tuple[Surface, ...]


COMMANDS: dict[str, Command] = {}
OPERATIONS: dict[str, Operation] = {}
"""All commands, and all other functions that declare their surfaces."""
SECTIONS = {
    "Talking": ("new", "stop", "retry", "two", "say", "search", "summary", "digest", "sessions"),
    "Reminders": ("remind", "reminders", "quiet", "heartbeat"),
    "Old conversations": ("keepit", "compress", "compose"),
    "What I remember": ("memory", "remember", "forget", "private", "why", "browse", "export"),
    "How you like answers": ("preferences", "tag", "better", "critique"),
    "You and me": ("settings", "voice", "usage", "status", "help", "start"),
    "In this group": ("answer", "link", "unlink"),
    "Who I am": ("soul", "persona"),
    "Who may use me": ("users", "invite", "revoke"),
}
"""All commands, in the order of /help and Telegram's menu."""
ADMINS_ONLY = "That's for my admins."


def command(
    name: str,
    *,
    help: str,
    usage: str = "",
    audience: Audience = "everyone",
    surfaces: tuple[Surface, ...] = ("chat", "cli"),
    places: tuple[Place, ...] = ("private", "group"),
) -> Callable[[Run[P, Result]], Run[P, Result]]:
    """Declares a command. With `audience="admin"`, the function raises `NotAllowed` for everyone else."""

    def declare(run: Run[P, Result]) -> Run[P, Result]:
        run = admins_only(run) if audience == "admin" else run
        COMMANDS[name] = Command(name, run, help, usage, audience, surfaces, places)
        return operation(*surfaces)(run)

    return declare


def operation(*surfaces: Surface) -> Callable[[Run[P, Result]], Run[P, Result]]:
    """Declares on which surfaces people reach a function without a name of its own. Functions that HTTP routes run must
    be declared."""

    def declare(run: Run[P, Result]) -> Run[P, Result]:
        name = f"{run.__module__.removeprefix('relay.commands.')}.{run.__name__}"
        OPERATIONS[name] = Operation(name, run, surfaces)
        return run

    return declare


def admins_only(run: Run[P, Result]) -> Run[P, Result]:
    """Wraps a function to raise `NotAllowed` for people who don't run Relay."""

    @functools.wraps(run)
    async def checked(ctx: CommandContext, /, *args: P.args, **more: P.kwargs) -> Result:
        if not ctx.admin:
            raise NotAllowed(ADMINS_ONLY)
        return await run(ctx, *args, **more)

    return checked


def list_commands(place: str, admin: bool) -> dict[str, list[Command]]:
    """Returns the commands available to a person in a kind of chat (private or group), by section."""
    sections = {
        title: [
            one
            for name in names
            if (one := COMMANDS.get(name))
            and "chat" in one.surfaces
            and place in one.places
            and (admin or not one.admin)
        ]
        for title, names in SECTIONS.items()
    }
    return {title: listed for title, listed in sections.items() if listed}
