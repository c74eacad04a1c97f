"""What the shell prints: counts, times, and the exit code when nothing was done."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from typer.testing import CliRunner

from relay.surfaces.cli.cli import cli
from tests.integration.conftest import TEMPLATE, Server

ZONE = ZoneInfo("Pacific/Kiritimati")
"""14 hours ahead of UTC."""


@pytest.fixture(autouse=True)
def there(embedded: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty database, in the settings of the environment."""
    name = embedded.create(TEMPLATE)
    values = {"DATABASE_URL": embedded.url(name), "RELAY_DATA_DIR": str(tmp_path / "data"), "RELAY_ADMINS": "1"}
    for key, value in (values | {"RELAY_EMBEDDER": "off", "RELAY_TIMEZONE": str(ZONE)}).items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(tmp_path)
    yield
    embedded.drop(name)


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, words)
    return done.exit_code, done.output or str(done.exception)


def test_times_are_in_the_persons_zone() -> None:
    before = datetime.now(ZONE).replace(second=0, microsecond=0)
    run("remember", "I", "sail")
    for words in (("memory", "changes"), ("memory", "history", "1")):
        code, shown = run(*words)
        assert code == 0
        assert any(f"{before + timedelta(minutes=n):%Y-%m-%d %H:%M}" in shown for n in range(5)), shown


def test_counts_are_in_words() -> None:
    for group in ("memory", "preferences"):
        assert "There is nothing to forget." in run(group, "reset", "--yes", "0")[1]
    run("remember", "I", "sail")
    run("preferences", "prefer", "short", "answers")
    assert "Relay knows 1 memory. To forget everything: relay memory reset --yes 1" in run("memory", "reset")[1]
    assert "Relay knows 1 preference. To forget" in run("preferences", "reset")[1]
    assert "1 entries" not in run("memory", "index")[1]


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_an_erasure_that_erases_nothing_exits_with_1(as_json: tuple[str, ...]) -> None:
    run("remember", "I", "sail", "a", "zanzibarix")
    assert run("memory", "erase", "quinceberry", *as_json)[0] == 1
    assert run("memory", "erase", "zanzibarix", *as_json)[0] == 1
    assert run("memory", "erase", "zanzibarix", "--yes", *as_json)[0] == 0
    assert run("memory", "erase", "zanzibarix", "--yes", *as_json)[0] == 1


def test_a_decision_prints_its_change_and_exits_with_1_if_it_did_nothing() -> None:
    run("remember", "I", "sail")
    assert run("memory", "undo", "1") == (0, "↩ Undone: I sail\n")
    assert run("memory", "keep", "1") == (1, "That's already decided.")
    assert run("memory", "undo", "1", "--json")[0] == 0, "it is as wanted"
    run("remember", "I", "ski")
    run("memory", "edit", "2", "I", "ski", "in", "Tyrol")
    assert run("memory", "undo", "2") == (1, "It has changed again since. Undo the newer change first.")
    run("memory", "pin", "2")
    assert run("memory", "pin", "2") == (0, "Nothing to change.\n")


def test_a_change_that_no_turn_made_is_undone_or_refused_like_others() -> None:
    run("remember", "I", "sail")
    assert run("memory", "reset", "--yes", "1")[0] == 0
    assert "2 " in run("memory", "changes")[1]
    assert run("memory", "undo", "2") == (0, "↩ Undone: I sail\n")
    assert run("memory", "reset", "--yes", "1")[0] == 0
    assert run("memory", "restore", "1")[0] == 0
    assert run("memory", "undo", "3") == (1, "It has changed again since. Undo the newer change first.")
