"""A database that takes long to open: the person is told what Relay waits for."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from relay.core.settings import load
from relay.runtime import storage


async def test_what_relay_waits_for_is_said_while_a_database_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(storage, "SLOW_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        settings = load(DATABASE_URL=f"postgresql://relay:secret@127.0.0.1:{port}/memory", RELAY_DATA_DIR=str(tmp_path))
        opening = asyncio.create_task(storage.open_storage(settings).__aenter__())
        said = ""
        async with asyncio.timeout(5):
            while not said:
                await asyncio.sleep(0.05)
                said = capsys.readouterr().err
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
    assert said == f"relay: Waiting for the PostgreSQL database 127.0.0.1:{port}/memory, for up to a minute.\n"
