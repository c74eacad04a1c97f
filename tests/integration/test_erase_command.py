"""Checks that `relay memory erase` reports what it did."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.core.errors import NotFound
from relay.core.settings import Settings
from relay.memory import erasure
from relay.surfaces.cli.memory.erase import erase
from relay.surfaces.cli.terminal.once import NotAnswered, run_once
from tests.integration.conftest import TEMPLATE, Server


async def test_an_erasure_by_another_process_is_not_reported_as_left_undone(
    embedded: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = embedded.create(TEMPLATE)
    settings = Settings(
        DATABASE_URL=embedded.url(name), RELAY_DATA_DIR=tmp_path, RELAY_ADMINS="1", RELAY_EMBEDDER="off"
    )
    try:
        await run_once(settings, "remember", "I sail a zanzibarix")
        await erase(settings, "zanzibarix", False, False, False)
        assert "Nothing was erased." in capsys.readouterr().out
        monkeypatch.setattr(erasure, "PAUSE", 1000.0)
        await erase(settings, "zanzibarix", True, False, False)
        assert "It has to wait for work in progress" in capsys.readouterr().out
    finally:
        embedded.drop(name)


async def test_the_command_counts_the_erased_preferences_before_and_after(
    embedded: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = embedded.create(TEMPLATE)
    settings = Settings(
        DATABASE_URL=embedded.url(name), RELAY_DATA_DIR=tmp_path, RELAY_ADMINS="1", RELAY_EMBEDDER="off"
    )
    try:
        await run_once(settings, "preferences", "prefer zanzibarix puns")
        capsys.readouterr()
        await erase(settings, "zanzibarix", False, False, False)
        told = "1 preference, 1 piece of feedback"
        assert f"{told}:\n- zanzibarix puns\n" in capsys.readouterr().out
        await erase(settings, "zanzibarix", True, False, False)
        assert f"Erased for good: {told}." in capsys.readouterr().out
        await run_once(settings, "preferences", "")
        assert "zanzibarix" not in capsys.readouterr().out
    finally:
        embedded.drop(name)


async def test_another_spelling_is_named_where_nothing_matches(embedded: Server, tmp_path: Path) -> None:
    name = embedded.create(TEMPLATE)
    settings = Settings(
        DATABASE_URL=embedded.url(name), RELAY_DATA_DIR=tmp_path, RELAY_ADMINS="1", RELAY_EMBEDDER="off"
    )
    try:
        await run_once(settings, "remember", "José has a boat")
        with pytest.raises(NotFound, match="There is also “josé”"):
            await erase(settings, "jose", True, False, False)
    finally:
        embedded.drop(name)


async def test_forgetting_what_may_not_be_meant_is_refused_in_the_shell(embedded: Server, tmp_path: Path) -> None:
    name = embedded.create(TEMPLATE)
    settings = Settings(
        DATABASE_URL=embedded.url(name), RELAY_DATA_DIR=tmp_path, RELAY_ADMINS="1", RELAY_EMBEDDER="off"
    )
    try:
        await run_once(settings, "remember", "Andrea has the key")
        for sure in (False, True):
            with pytest.raises(NotAnswered, match="by its number"):
                await run_once(settings, "forget", "Andreas", sure)
        assert await run_once(settings, "forget", "#1")
    finally:
        embedded.drop(name)
