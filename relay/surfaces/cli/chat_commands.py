"""What people do in the chat, in the shell: `relay status`, `relay remember …`. With --json, for programs."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Annotated, Any

import typer

from relay.commands.registry import Command
from relay.memory.calls.base import encode_row
from relay.surfaces.chat import COMMANDS
from relay.surfaces.cli.command_list import VerbCommand
from relay.surfaces.cli.memory.door import AsJson, Json, printed, read_owned
from relay.surfaces.cli.shell import ready, run_work

Read = Callable[[Any, Any], Awaitable[Json]]
Sure = Annotated[bool, typer.Option("--yes", help="Yes to what it asks.")]


async def _choices(store: Any, space: Any) -> Json:
    return {"settings": asdict(await store.choices(space.owner_id))}


async def _status(store: Any, space: Any) -> Json:
    return dict(encode_row(await store.status(space)))


async def _sessions(store: Any, space: Any) -> Json:
    return dict(encode_row(await store.sessions(space, 0, 0, 0, 100)))


async def _soul(store: Any, space: Any) -> Json:
    return {"soul": await store.soul()}


IN_THE_CHAT = ("; --erase: for good", "; or, in reply to a message, that", " (reply to it)")
"""What a verb's help says and what cannot be done here."""
MORE = {
    "revoke": "It asks first; --yes says yes.",
    "settings": "For example: relay settings sound off. A wrong value lists them all.",
    "soul": "A soul in a file: relay soul edit --yes < FILE. Without --yes it is only compared.",
    "users": "approve, deny and block are for those who ask to be let in; admit is for those who were kept out.",
}
DATA: dict[str, Read] = {
    "sessions": _sessions,
    "settings": _choices,
    "soul": _soul,
    "status": _status,
    "users": lambda store, space: store.everybody(),
    "voice": _choices,
}
"""What --json tells beside what was said: how it stands then."""


def add_verbs(cli: typer.Typer) -> None:
    """Makes each verb with the door `cli` a command; memory is a group of commands of its own."""
    for verb in COMMANDS.values():
        if "cli" in verb.surfaces and verb.name != "memory":
            usage = verb.usage.removeprefix("[--erase] ")  # that is `relay memory erase` here
            cli.command(verb.name, cls=VerbCommand, help=_help(verb))(_door(verb.name, usage))


def _help(verb: Command) -> str:
    about = verb.help
    for part in IN_THE_CHAT:
        about = about.replace(part, "")
    return f"{about[0].upper()}{about[1:]}.\n\n{MORE.get(verb.name, '')}".strip()


def _door(name: str, usage: str) -> Any:
    def door(
        words: list[str] | None = typer.Argument(None, metavar=usage, hidden=True),  # noqa: B008 - its own each
        yes: Sure = False,
        as_json: AsJson = False,
    ) -> None:
        settings = ready(quiet=True)
        from relay.surfaces.cli import chat

        command = f"/{name} {' '.join(words or [])}".strip()

        async def work() -> None:
            if not as_json:
                done = await chat.once(settings, command, yes)
            else:
                heard = await chat.heard(settings, command, yes)
                done = heard.done
                read = DATA.get(name)
                printed({"said": heard.said, "done": done, **(await read_owned(settings, read) if read else {})})
            sys.exit(0 if done else 1)

        run_work(work())

    return door
