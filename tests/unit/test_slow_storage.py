"""A database that takes long to open: the person is told what Relay waits for."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import relay.clients.postgres.database  # noqa: F401 — a user who can't read it imports it otherwise
from relay.clients.embedded.server import EmbeddedPostgres
from relay.core.errors import SettingsError
from relay.core.settings import load
from relay.runtime import storage
from relay.surfaces.cli.terminal.desk import WAITING, Desk


async def first_words(work: asyncio.Task[Any], capsys: pytest.CaptureFixture[str]) -> str:
    """Returns what is said first on standard error while something runs, and ends it."""
    said = ""
    async with asyncio.timeout(5):
        while not said:
            await asyncio.sleep(0.05)
            said = capsys.readouterr().err
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    return said


async def test_what_relay_waits_for_is_said_while_a_database_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(storage, "SLOW_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        settings = load(DATABASE_URL=f"postgresql://relay:secret@127.0.0.1:{port}/memory", RELAY_DATA_DIR=str(tmp_path))
        opening = asyncio.create_task(storage.open_storage(settings).__aenter__())
        said = await first_words(opening, capsys)
    assert said == f"relay: Waiting for the PostgreSQL database 127.0.0.1:{port}/memory, for up to a minute.\n"


async def test_a_first_start_says_that_it_creates_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(storage, "SLOW_SECONDS", 0.1)
    monkeypatch.setattr(EmbeddedPostgres, "_start", lambda _: time.sleep(1))
    opening = asyncio.create_task(storage.open_storage(load(RELAY_DATA_DIR=str(tmp_path))).__aenter__())
    said = await first_words(opening, capsys)
    assert said == f"relay: Creating the embedded database in {tmp_path}, for up to a minute.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="has no other user")
async def test_a_directory_that_may_not_be_read_is_one_sentence(tmp_path: Path) -> None:
    settings = load(RELAY_DATA_DIR=str(tmp_path))
    user = os.geteuid()
    os.chmod(tmp_path, 0)
    os.seteuid(user or 65534)  # root may read everything
    try:
        with pytest.raises(SettingsError, match="Relay cannot write in"):
            await storage.open_storage(settings).__aenter__()
    finally:
        os.seteuid(user)
        os.chmod(tmp_path, 0o700)


async def test_a_command_in_the_terminal_says_that_it_waits_for_the_database(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(storage, "SLOW_SECONDS", 0.1)
    never: Any = SimpleNamespace(store=SimpleNamespace(begin_command=lambda *_: asyncio.sleep(3600)))
    running = asyncio.create_task(Desk(never, SimpleNamespace(), 9, "Olga").command("status", ""))  # type: ignore[arg-type]
    assert await first_words(running, capsys) == f"relay: {WAITING}\n"
