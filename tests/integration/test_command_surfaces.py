"""Checks that each command can be reached through each surface that it declares, with the same result."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import to_json
from typer.testing import CliRunner

from relay.core.errors import CommandRefused
from relay.core.settings import Settings
from relay.surfaces.chat import COMMANDS
from relay.surfaces.cli import chat_commands
from relay.surfaces.cli.cli import cli
from relay.surfaces.cli.terminal import keyboard
from relay.surfaces.cli.terminal import once as terminal
from relay.surfaces.cli.terminal.messenger import name_commands
from relay.surfaces.cli.where import Where
from tests.integration.conftest import TEMPLATE, Server
from tests.integration.surfaces import Installation

WORDS = {
    "remember": "I sail a boat",
    "compress": "gentle 99",
    "keepit": "0.80 called Polly",
    "forget": "strong tea",
    "remind": "2030-12-24 18:00 light the tree",
    "search": "tea",
    "persona": "You teach Spanish.",
}
"""The text after a command that needs one."""
ASKS = {"critique"}
"""Commands that ask a model. The shell of this test has none; tests/acceptance/test_preferences.py runs them."""
VARIES = re.compile(
    r"\d{4}-\d\d-\d\d|\d\d:\d\d(:\d\d)?(\.\d+)?|\d+ (ms|s)\b|on claude-.* \(summaries: .*\)|offline: a stand-in .*"
)
"""Matches what differs between two runs: dates and times, and the model (in the chat, a stand-in answers)."""
both = pytest.mark.parametrize(
    "name", sorted(name for name, verb in COMMANDS.items() if {"chat", "cli"} <= {*verb.surfaces} and name not in ASKS)
)


@pytest.fixture(scope="module")
def past(embedded: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a database with a short conversation."""
    name = embedded.create(TEMPLATE)
    home = Installation(embedded, name, tmp_path_factory.mktemp("past"))
    asyncio.run(home.talk(["I like strong tea.", "I have a parrot called Polly."]))
    yield name
    embedded.drop(name)


@pytest.fixture
def homes(embedded: Server, past: str, tmp_path: Path) -> Iterator[list[Installation]]:
    """Installations of the same owner, with the same past."""
    names = [embedded.create(past) for _ in range(4)]
    yield [Installation(embedded, name, tmp_path / name) for name in names]
    for name in names:
        embedded.drop(name)


@both
async def test_a_command_gives_the_same_in_the_chat_the_shell_and_json(
    name: str, homes: list[Installation], capsys: pytest.CaptureFixture[str]
) -> None:
    words = WORDS.get(name, "")
    said = await homes[0].talk([f"/{name} {words}".strip()])
    assert said, "the chat got no reply"
    capsys.readouterr()
    done = False
    with contextlib.suppress(SystemExit):  # of a wrong argument
        done = await terminal.run_once(homes[1].settings, name, words)
    printed = "".join(capsys.readouterr())
    for text in said:
        assert alike(name_commands(text)) in alike(printed)
    if not done:
        with pytest.raises(CommandRefused) as refused:
            await terminal.run_once(homes[2].settings, name, words, as_json=True)
        assert alike(str(refused.value)) in alike(printed)
        return
    async with terminal.open_desk(homes[3].settings, name, False) as desk:
        await desk.command(name, words)
    capsys.readouterr()
    await terminal.run_once(homes[2].settings, name, words, as_json=True)
    out = capsys.readouterr().out
    assert out.startswith("{"), out[:600]
    shown = json.loads(out)
    if desk.result is not None:
        assert shape(shown) == shape(json.loads(to_json(desk.result)))


def alike(text: str) -> str:
    """Returns a text without times and empty lines."""
    return "\n".join(line for line in VARIES.sub("…", text).splitlines() if line)


def shape(value: Any) -> Any:
    """Returns a result's keys and texts, without times and numbers, which differ if a command ran twice."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value]
    return alike(value) if isinstance(value, str) else type(value).__name__


@pytest.mark.parametrize("name", sorted(name for name, command in COMMANDS.items() if "cli" in command.surfaces))
def test_the_help_in_the_shell_speaks_of_no_message_to_reply_to(name: str) -> None:
    assert "reply" not in chat_commands._help(COMMANDS[name])


@pytest.mark.parametrize("name", sorted(name for name, command in COMMANDS.items() if "cli" in command.surfaces))
def test_the_shell_passes_on_what_was_typed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[str, str, bool, bool]] = []

    async def run_once(settings: Settings, name: str, words: str, sure: bool, as_json: bool, where: Where) -> bool:
        heard.append((name, words, sure, as_json))
        return True

    monkeypatch.setattr(terminal, "run_once", run_once)
    monkeypatch.setattr(keyboard, "is_attended", lambda: True)  # otherwise memories are listed without the chat
    run: Callable[..., Any] = CliRunner().invoke
    done = run(cli, [name, "two", "words"])
    if COMMANDS[name].usage:
        assert (done.exit_code, heard) == (0, [(name, "two words", False, False)])
    else:
        assert (done.exit_code, heard) == (2, []), "it takes no words"
        assert (run(cli, [name]).exit_code, heard) == (0, [(name, "", False, False)])
