"""Each command is reached through each surface that it declares, and gives the same there."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import to_json
from typer.testing import CliRunner

from relay.clients.fakes import FakeMessenger, OfflineModel
from relay.core.errors import CommandRefused
from relay.core.settings import Settings
from relay.runtime.runtime import open_runtime
from relay.runtime.services import make_services
from relay.surfaces.chat import COMMANDS
from relay.surfaces.cli.cli import cli
from relay.surfaces.cli.terminal import once as terminal
from relay.surfaces.cli.terminal.desk import BOT
from relay.surfaces.cli.terminal.messenger import name_commands
from relay.surfaces.telegram.assembly import make_worker
from relay.surfaces.telegram.groups.connection import make_connection
from tests.integration.conftest import TEMPLATE, Server
from tests.telegram_objects import sorted_row

ADMIN = 1
WORDS = {"remember": "I sail a boat", "forget": "strong tea", "search": "tea", "persona": "You teach Spanish."}
"""What is said after a command that needs something; after all others nothing is."""
ASKS = {"critique"}
"""What asks a model, which the shell of this test has none of; tests/acceptance/test_preferences.py runs it."""
VARIES = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d(:\d\d)?(\.\d+)?|\d+ (ms|s)\b")
"""What differs between two runs: times."""
both = pytest.mark.parametrize(
    "name", sorted(name for name, verb in COMMANDS.items() if {"chat", "cli"} <= {*verb.surfaces} and name not in ASKS)
)


class Rooms:
    """Databases with the same past: one for each surface."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.names = [server.create(TEMPLATE) for _ in range(4)]
        self.numbers = itertools.count(1_000)

    def settings(self, which: int) -> Settings:
        return Settings(
            DATABASE_URL=self.server.url(self.names[which]),
            RELAY_DATA_DIR=self.folder / str(which),
            RELAY_ADMINS=str(ADMIN),
            RELAY_TIMEZONE="Europe/Berlin",
            RELAY_LOG_LEVEL="ERROR",
            RELAY_EMBEDDER="off",
        )

    async def chat(self, which: int, *texts: str) -> list[str]:
        """Says something in the chat; all that the bot sends there."""
        settings, messenger = self.settings(which), FakeMessenger()
        async with open_runtime(settings, model=OfflineModel()) as relay:
            services = make_services(relay, messenger, BOT.id)
            worker = make_worker(relay, services, make_connection(messenger, BOT), lambda _: None)
            for text in texts:
                number = next(self.numbers)
                message = {
                    "message_id": number,
                    "date": 1_700_000_000,
                    "text": text,
                    "chat": {"id": 0, "type": "private"},
                }
                update = {"update_id": number, "message": message | {"from": {"id": ADMIN, "first_name": "You"}}}
                row = sorted_row(update, BOT, relay.people.allowed, True)
                worker.accept(*await relay.store.intake(BOT.id, [row], worker.free))
                await worker.settled()
            await worker.close(1)
        return [sent["text"] for method, sent in messenger.calls if method == "sendMessage"]

    def close(self) -> None:
        for name in self.names:
            self.server.drop(name)


@pytest.fixture
def rooms(embedded: Server, tmp_path: Path) -> Any:
    made = Rooms(embedded, tmp_path)
    yield made
    made.close()


@both
async def test_a_command_gives_the_same_in_the_chat_in_the_shell_and_as_json(
    name: str, rooms: Rooms, capsys: pytest.CaptureFixture[str]
) -> None:
    past = ["I like strong tea.", "I have a parrot called Polly."]
    for which in range(4):
        await rooms.chat(which, *past)
    words = WORDS.get(name, "")
    said = await rooms.chat(0, f"/{name} {words}".strip())
    assert said, "the chat was told nothing"
    capsys.readouterr()
    done = await terminal.run_once(rooms.settings(1), name, words)
    printed = "".join(capsys.readouterr())
    for text in said:
        assert alike(name_commands(text)) in alike(printed)
    if not done:
        with pytest.raises(CommandRefused) as refused:
            await terminal.run_once(rooms.settings(2), name, words, as_json=True)
        assert alike(str(refused.value)) in alike(printed)
        return
    async with terminal.open_desk(rooms.settings(3), name, False) as desk:
        await desk.command(name, words)
    capsys.readouterr()
    await terminal.run_once(rooms.settings(2), name, words, as_json=True)
    out = capsys.readouterr().out
    assert out.startswith("{"), out[:600]
    shown = json.loads(out)
    if desk.result is not None:
        assert shape(shown) == shape(json.loads(to_json(desk.result)))


def alike(text: str) -> str:
    """A text without times and empty lines."""
    return "\n".join(line for line in VARIES.sub("…", text).splitlines() if line)


def shape(value: Any) -> Any:
    """A result's keys and texts, without times and numbers, which differ where a command ran once more."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value]
    return alike(value) if isinstance(value, str) else type(value).__name__


@pytest.mark.parametrize("name", sorted(name for name, command in COMMANDS.items() if "cli" in command.surfaces))
def test_the_shell_hands_on_what_was_typed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[str, str, bool, bool]] = []

    async def run_once(settings: Settings, name: str, words: str, sure: bool, as_json: bool, after: object) -> bool:
        heard.append((name, words, sure, as_json))
        return True

    monkeypatch.setattr(terminal, "run_once", run_once)
    monkeypatch.setattr(terminal, "is_attended", lambda: True)  # else what is known is listed without the chat
    run: Callable[..., Any] = CliRunner().invoke
    done = run(cli, [name, "two", "words"])
    assert (done.exit_code, heard) == (0, [(name, "two words", False, False)])
