"""Each verb is reached through each door that it declares, and gives the same there."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from relay.clients.fakes import FakeMessenger, OfflineModel
from relay.core.settings import Settings
from relay.memory.people import People
from relay.runtime.app import make_gate, open_relay
from relay.surfaces.chat import COMMANDS
from relay.surfaces.cli import chat as terminal
from relay.surfaces.cli.cli import cli
from relay.surfaces.cli.terminal_messenger import in_shell
from relay.surfaces.telegram.assembly import make_worker
from relay.surfaces.telegram.parsing.updates import sort_update
from tests.integration.conftest import TEMPLATE, Server

ADMIN = 1
WORDS = {"remember": "I sail a boat", "forget": "strong tea", "search": "tea", "persona": "You teach Spanish."}
"""What is said after a command that needs something; after all others nothing is."""
VARIES = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d(:\d\d)?|\d+ (ms|s)\b")
"""What differs between two runs: times."""
both = pytest.mark.parametrize(
    "name", sorted(name for name, verb in COMMANDS.items() if {"chat", "cli"} <= {*verb.surfaces})
)


class Rooms:
    """Two databases with the same past: one for each door."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.names = [server.create(TEMPLATE), server.create(TEMPLATE)]
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
        async with open_relay(settings) as relay:
            people = People(frozenset([ADMIN]))
            worker = make_worker(
                relay, make_gate(relay, OfflineModel()), messenger, terminal.ME, people, lambda _: None
            )
            for text in texts:
                number = next(self.numbers)
                message = {
                    "message_id": number,
                    "date": 1_700_000_000,
                    "text": text,
                    "chat": {"id": 0, "type": "private"},
                }
                update = {"update_id": number, "message": message | {"from": {"id": ADMIN, "first_name": "You"}}}
                row = sort_update(update, terminal.ME, people.allowed, True)
                worker.accept(*await relay.store.intake(terminal.ME.id, [row], worker.free))
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
async def test_a_verb_says_the_same_in_the_chat_and_in_the_shell(
    name: str, rooms: Rooms, capsys: pytest.CaptureFixture[str]
) -> None:
    past = ["I like strong tea.", "I have a parrot called Polly."]
    for which in (0, 1):
        await rooms.chat(which, *past)
    command = f"/{name} {WORDS.get(name, '')}".strip()
    said = await rooms.chat(0, command)
    capsys.readouterr()
    await terminal.once(rooms.settings(1), command)
    printed = capsys.readouterr().out
    assert said, "the chat was told nothing"
    for text in said:
        assert VARIES.sub("…", in_shell(text)) in VARIES.sub("…", printed)


@pytest.mark.parametrize("name", sorted(name for name, verb in COMMANDS.items() if "cli" in verb.surfaces))
def test_the_shells_door_hands_on_what_was_typed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []

    async def once(settings: Settings, text: str, sure: bool = False) -> bool:
        heard.append(text)
        return True

    monkeypatch.setattr(terminal, "once", once)
    monkeypatch.setattr(terminal, "is_attended", lambda: True)  # else what is known is listed without the chat
    run: Callable[..., Any] = CliRunner().invoke
    done = run(cli, [name, "two", "words"])
    assert (done.exit_code, heard) == (0, [f"/{name} two words"])
