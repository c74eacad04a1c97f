"""`relay <command>`: runs one command of the chat and prints its reply as text, or its result as JSON."""

from __future__ import annotations

import asyncio
import contextlib
import io
import sys
from collections.abc import AsyncIterator

from relay.commands.context import NAMELESS
from relay.core.errors import CommandRefused, RelayError, WrongArgument
from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.memory.index import EmbedderRouter, enter
from relay.memory.query_vectors import LOADING_SECONDS
from relay.runtime.runtime import Runtime, open_runtime
from relay.runtime.services import make_services
from relay.surfaces.chat.changes import KEEP_IT, NONE
from relay.surfaces.cli.output import print_json
from relay.surfaces.cli.terminal import keyboard
from relay.surfaces.cli.terminal.desk import BOT, Desk
from relay.surfaces.cli.terminal.messenger import Terminal
from relay.surfaces.cli.where import TERMINAL, Where

PRESS = "Which button? A number, or an empty line to end: "
SEARCHES = "search"
"""The command that needs the embedder."""


class NotAnswered(RelayError):
    """A command asked something, and nobody answered."""


async def run_once(
    settings: Settings, name: str, words: str, sure: bool = False, as_json: bool = False, where: Where = TERMINAL
) -> bool:
    """Runs a command and prints its reply or result; returns whether it was done. Exits with 2 if an argument is wrong.
    `sure`: confirms its question with yes. `where`: the conversation that it is about. Raises `NotAnswered` if its
    question is not answered, and with `as_json` `CommandRefused` if it was refused."""
    if not as_json:
        async with open_desk(settings, name, keyboard.is_attended()) as desk:
            desk.where = where
            await _run(desk, name, words, sure)
            if desk.wrong:
                sys.exit(2)  # as after any other `WrongArgument`; its sentence is printed already
            return not desk.refused
    printed = io.StringIO()
    async with open_desk(settings, name, False) as desk:
        desk.where = where
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            await _run(desk, name, words, sure, printed)
    said = "\n".join(line for line in printed.getvalue().splitlines() if line)
    if desk.refused:
        raise (WrongArgument if desk.wrong else CommandRefused)(said)
    print_json({"said": said.splitlines(), "done": True} if desk.result is None else desk.result)
    return True


async def _run(desk: Desk, name: str, words: str, sure: bool, printed: io.StringIO | None = None) -> None:
    """Runs the command and the answers to its questions; then a person at the terminal may press its buttons. In
    `printed`, a question that is confirmed gives way to what comes of it."""
    await desk.command(name, words)
    if desk.asks and not sys.stdin.isatty():
        await desk.answer(await _read_piped())
    if sure and desk.confirming:
        if printed:
            printed.truncate(printed.seek(0))
        await desk.press(desk.confirming)
        return
    while keyboard.is_attended() and (desk.asks or desk.buttons):
        line = await keyboard.read_line("› " if desk.asks else PRESS)
        if not line:
            break
        if desk.asks:
            await desk.answer(line)
        else:
            await desk.press(int(line) if line.isdecimal() else 0)
    if desk.confirming:
        raise NotAnswered("Nothing was done. Add --yes to confirm.")
    if keep := desk.number_of(KEEP_IT):
        await desk.press(keep)
        raise NotAnswered(
            f"That may be another one, so nothing was forgotten. Name it by its number: `{RELAY} forget '#12'` (see "
            f"`{RELAY} memory show`)."
        )
    if none := desk.number_of(NONE):
        await desk.press(none)
        raise NotAnswered(
            f"Several match, so nothing was forgotten. Name one by its number (see `{RELAY} memory show` with the "
            f"same words), or all of them with a *: `{RELAY} forget '*words*' --yes`."
        )


async def _read_piped() -> str:
    """Reads the answer to a question from standard input. Raises `NotAnswered` if it is empty."""
    text = str(await asyncio.to_thread(sys.stdin.read)).strip()
    if not text:
        raise NotAnswered("Nothing was done: this needs a text. Pass it on standard input, for example with < FILE.")
    return text


@contextlib.asynccontextmanager
async def open_desk(settings: Settings, name: str, pressable: bool) -> AsyncIterator[Desk]:
    """Opens a desk for one command. New messages and memories are indexed before it closes."""
    async with open_runtime(settings) as relay:
        owner, owner_name = await seat_owner(relay)
        terminal = Terminal(settings, pressable)
        services = make_services(relay, terminal, BOT.id)
        if name == SEARCHES:
            await load_embedder(relay.clients.embedder)
        yield Desk(services, terminal, owner, owner_name, in_shell=True)
        await enter(relay.store)


async def load_embedder(embedder: EmbedderRouter | None) -> None:
    """Waits for the embedder before the first search, but not for long."""
    if embedder is not None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOADING_SECONDS):
                await embedder.preload()


async def seat_owner(relay: Runtime) -> tuple[int, str]:
    """Returns the id and name of the person at the terminal: the first admin."""
    await relay.people.refresh(relay.store)
    owner = relay.people.seat_owner()
    return owner, await relay.store.name_of(owner) or NAMELESS
