"""`relay memory erase`: what it says is what was done."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.core.settings import Settings
from relay.memory import erasure
from relay.surfaces.cli.erase import erase
from relay.surfaces.cli.terminal.once import run_once
from tests.integration.conftest import TEMPLATE, Server


async def test_what_another_process_is_at_is_not_told_as_left(
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
        monkeypatch.setattr(erasure, "MOST_PAUSES", 0)
        await erase(settings, "zanzibarix", True, False, False)
        assert "Another process is erasing it" in capsys.readouterr().out
    finally:
        embedded.drop(name)
