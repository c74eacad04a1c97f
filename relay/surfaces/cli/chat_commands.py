"""`relay status`, `relay remember …`: the commands of the chat in the shell. With --json, prints their results."""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import Parameter
from typing import Annotated, Any

import typer

from relay.commands.registry import Command
from relay.surfaces.chat import COMMANDS
from relay.surfaces.cli.owner import add_parameters, parameter
from relay.surfaces.cli.shell import ready, run_work
from relay.surfaces.cli.where import TERMINAL, Where

YES = parameter("yes", Annotated[bool, typer.Option("--yes", help="Answer yes to questions.")], False)
GROUPS = ("compose", "memory", "preferences")
"""Commands that are groups of commands in the shell."""
ANYWHERE = ("sessions",)
"""Commands with --chat and --topic."""
IN_THE_CHAT = ("; --erase: for good", ", or the message you reply to", " (reply to it)")
"""Parts of a command's help that only hold in the chat."""
MORE = {
    "revoke": "It asks first. --yes confirms.",
    "settings": "Example: relay settings sound off. A wrong value lists the valid ones.",
    "soul": "To load a soul from a file: relay soul edit --yes < FILE. Without --yes, it only shows the difference. "
    "relay soul try TEXT says what a trial costs; --yes begins it.",
    "users": "approve, deny and block answer people who ask for access. admit lets in someone who was refused; block "
    "keeps them out for good. cancel takes back an invitation, by its number.",
}


def add_chat_commands(cli: typer.Typer) -> None:
    """Adds each command with the surface `cli`, except for those that have their own groups."""
    for command in COMMANDS.values():
        if "cli" in command.surfaces and command.name not in GROUPS:
            usage = command.usage.removeprefix("[--erase] ")  # that is `relay memory erase` here
            own = [spelled(usage), YES] if usage else [YES]
            start = chat_command(command.name, *own, anywhere=command.name in ANYWHERE)
            cli.command(command.name, help=_help(command))(start)


def _help(command: Command) -> str:
    about = command.help
    for part in IN_THE_CHAT:
        about = about.replace(part, "")
    return f"{about[0].upper()}{about[1:]}.\n\n{MORE.get(command.name, '')}".strip()


def spelled(usage: str) -> Parameter:
    """Returns the words of a command, described as in the chat."""
    return parameter("words", Annotated[list[str] | None, typer.Argument(metavar=usage, hidden=True)], None)


def chat_command(name: str, *own: Parameter, before: str = "", anywhere: bool = False) -> Callable[..., None]:
    """Makes a command of the shell that runs one of the chat. `own`: its words, and perhaps `yes`, which answers its
    questions. `before`: the first word."""

    def start(**given: Any) -> None:
        yes, as_json = given.pop("yes", False), given.pop("as_json")
        where = Where(given.pop("chat", None), given.pop("topic", 0))
        words = [word for value in given.values() for word in value or ()]
        run_command_line(name, " ".join([before, *words]).strip(), yes, as_json, where)

    return add_parameters(start, own, anywhere)


def run_command_line(name: str, words: str, sure: bool, as_json: bool, where: Where = TERMINAL) -> None:
    """Runs a command of the chat; exits with 1 if it was refused."""
    settings = ready(quiet=True)
    from relay.surfaces.cli.terminal.once import run_once

    async def work() -> None:
        sys.exit(0 if await run_once(settings, name, words, sure, as_json, where) else 1)

    run_work(work(), as_json)
