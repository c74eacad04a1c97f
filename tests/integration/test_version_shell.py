"""Tests `relay session compress` and `relay session download`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from relay.surfaces.cli.cli import cli
from tests.integration.conftest import TEMPLATE, Server
from tests.integration.long_session import long_session, superuser_sql


@pytest.fixture
async def relay(embedded: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Returns a function that runs a shell command on a long session, and returns its exit code and output."""
    name = embedded.create(TEMPLATE)
    values = {"DATABASE_URL": embedded.url(name), "RELAY_DATA_DIR": str(tmp_path / "data"), "RELAY_ADMINS": "1"}
    for key, value in (values | {"RELAY_EMBEDDER": "off"}).items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(tmp_path)
    async with superuser_sql(embedded.url(name, superuser=True)) as sql:
        await long_session(sql, 60, 12_000, user_id=1)
        await sql("update thread set chat_id = 0")
    yield
    embedded.drop(name)


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["session", *words])
    return done.exit_code, done.stdout or str(done.exception)


def test_a_version_is_previewed_made_and_written(relay: Any, tmp_path: Path) -> None:
    code, said = run("compress", "standard")
    assert code == 1, "a script that forgets --yes must notice"
    assert "tokens in 60 messages → about" in said
    assert "Nothing was made. Add --yes to make it." in said
    code, said = run("compress", "30:1", "moderate", "--model", "none", "--yes", "--to", str(tmp_path), "--json")
    assert code == 0, said
    made = json.loads(said)
    assert made["settings"]["method"] == "extract"
    assert sorted(path.name for path in tmp_path.glob("v001_*")) == [made["name"] + end for end in (".jsonl", ".md")]
    code, said = run("download", f"#{made['id']}", "--to", str(tmp_path / "more"))
    assert (code, (tmp_path / "more").exists()) == (2, False)
    (tmp_path / "more").mkdir()
    code, said = run("download", f"#{made['id']}", "--to", str(tmp_path / "more"))
    assert (code, len(said.split())) == (0, 2)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.rglob("v001_*")} == {0o600}, "they hold a conversation"
    assert (tmp_path / "more" / f"{made['name']}.md").read_text() == (tmp_path / f"{made['name']}.md").read_text()


def test_custom_tiers_work_and_wrong_options_are_explained(relay: Any) -> None:
    code, said = run("compress", "--tiers", "50=20:1, 100=2:1 light", "--model", "none", "--yes", "--json")
    assert code == 0, said
    assert json.loads(said)["name"].startswith("v001_tiered-custom_")
    for words, why in [
        (("--tiers", "50=20:1"), "Tiers must ascend and end at 100 percent"),
        (("--markers", "some"), "keepitMode"),
        (("--model", "huge"), "model"),
        (("1:1",), "A ratio is between 2:1 and 100:1."),
    ]:
        code, said = run("compress", *words, "--json")
        assert code == 2
        assert why in json.loads(said)["error"]
    assert run("download", "99", "--json")[0] == 1


def test_a_source_is_named_by_its_id_and_files_need_yes(relay: Any, tmp_path: Path) -> None:
    code, said = run("compress", "30:1", "--model", "none", "--to", str(tmp_path), "--json")
    assert code == 1
    assert json.loads(said)["error"] == "--to writes a version that was made. Add --yes to make it."
    code, said = run("compress", "10:1", "--model", "none", "--yes", "--json")
    first = json.loads(said)
    for id in (str(first["id"]), f"#{first['id']}"):
        code, said = run("compress", "30:1", "--from", id, "--json")
        assert (code, json.loads(said)["source"]) == (1, first["name"])
    code, said = run("compress", "30:1", "--from", "v001", "--json")
    assert "“v001” isn't a version's id" in json.loads(said)["error"]
    code, said = run("compress", "30:1", "--from", "99", "--json")
    assert "no such version to start from" in json.loads(said)["error"]


def test_the_command_that_undoes_pruning_names_the_conversation(relay: Any) -> None:
    place = ("--chat", "0", "--topic", "0")
    assert run("compress", "30:1", "--model", "none", "--yes", *place)[0] == 0
    code, said = run("prune", "1", "v001", "--yes", *place)
    assert code == 0, said
    undo = said.partition("session ")[2].split()
    assert undo[-2:] == ["--chat", "0"]
    code, said = run(*undo)
    assert (code, said.splitlines()[0]) == (0, "Restored:")
