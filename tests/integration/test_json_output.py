"""Tests `--json` of the commands for all data: they print one JSON value to standard output, also for an error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from relay.surfaces.cli.cli import cli
from tests.integration.conftest import TEMPLATE, Server


@pytest.fixture
def relay(embedded: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Returns a function that runs a shell command on a database of its own, and returns its exit code and its JSON."""
    name = embedded.create(TEMPLATE)
    values = {"DATABASE_URL": embedded.url(name), "RELAY_DATA_DIR": str(tmp_path / "data"), "RELAY_ADMINS": "1"}
    for key, value in (values | {"RELAY_EMBEDDER": "off"}).items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, Any]:
        done = CliRunner().invoke(cli, [*words, "--json"])
        return done.exit_code, json.loads(done.stdout)

    yield run
    embedded.drop(name)


def test_operator_commands_print_their_results_as_json(relay: Any, tmp_path: Path) -> None:
    assert relay("db", "migrate")[1]["changed"] is False
    assert relay("sleep")[1]["last"] is None
    assert set(relay("sleep", "--dry-run")[1]["phases"]) >= {"backup", "digest"}
    code, backup = relay("backup", "--to", str(tmp_path / "one.relaybackup"))
    assert (code, backup["path"]) == (0, str(tmp_path / "one.relaybackup"))
    assert backup["bytes"] > 0
    code, restored = relay("restore", backup["path"], "--replace")
    assert (code, {table["left_out"] for table in restored}) == (0, {0})


def test_an_error_is_printed_as_json_too(relay: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = relay("restore", str(tmp_path / "none.relaybackup"))
    assert code == 1
    assert "none.relaybackup" in said["error"]
    code, said = relay("export")
    assert (code, said) == (1, {"error": "There is nothing to export: nobody has said anything there."})
    code, said = relay("backup", "--to", str(tmp_path / "none"))
    assert (code, "There is no folder" in said["error"]) == (2, True)
    code, said = relay("backup", "--to", str(tmp_path / f"{'n' * 300}.relaybackup"))
    assert (code, said["error"].endswith("cannot be written: File name too long.")) == (1, True)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")
    code, said = relay("memory", "rederive")
    assert (code, "it needs --yes" in said["error"]) == (1, True)


def test_a_wrong_argument_is_printed_as_json_too(relay: Any) -> None:
    assert relay("memory", "pin", "x") == (2, {"error": "Invalid value for 'number': “x” is not a number."})
    assert relay("memory", "pin")[0] == 2
    assert "extra" in relay("memory", "pin", "1", "2")[1]["error"]


def test_a_refused_command_is_an_error(relay: Any) -> None:
    code, said = relay("settings", "sound", "loud")
    assert code == 2
    assert "relay settings sound off" in said["error"]
    assert relay("settings", "sound", "off") == (0, relay("settings")[1])


def test_programs_report_feedback_and_read_the_resulting_preferences(relay: Any) -> None:
    code, done = relay("preferences", "signal", "--kind", "said", "--words", "short answers")
    assert (code, done["acts"][0]["pattern"]) == (0, "short answers")
    assert relay("preferences", "signal", "--kind", "said", "--down", "--words", "emoji")[0] == 0
    listed = relay("preferences")[1]
    assert [(row["pattern"], row["polarity"], row["level"]) for row in listed["rows"]] == [
        ("short answers", 1, "high"), ("emoji", -1, "high")
    ]  # fmt: skip
    assert relay("preferences", "show", "1")[1]["evidence"][0]["source"] == "cli"
    assert relay("preferences", "forget", "emoji")[1]["forgotten"][0]["pattern"] == "emoji"
    for ends, words, sentence in [
        (2, ("--kind", "thumbs"), "Name the turn"),
        (1, ("--kind", "thumbs", "--turn", "812"), "isn't an answer to you"),
        (2, ("--kind", "dance", "--turn", "1"), "I don't know the kind of feedback"),
        (2, ("--kind", "compare", "--turn", "1"), "the other answer"),
    ]:
        code, refused = relay("preferences", "signal", *words)
        assert (code, sentence in refused["error"]) == (ends, True), refused
