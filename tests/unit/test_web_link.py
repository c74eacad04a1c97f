"""What `relay web` says of a bot that it can't reach."""

from __future__ import annotations

import asyncio

import pytest

from relay.core.errors import RelayError
from relay.core.settings import load
from relay.surfaces.cli.web import page
from tests.acceptance.process_group import free_port


async def test_a_slow_bot_is_not_called_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hold(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(1)
        writer.close()  # since Python 3.13, a writer that nobody holds closes its connection before

    monkeypatch.setattr(page, "ANSWER_SECONDS", 0.2)
    async with await asyncio.start_server(hold, "127.0.0.1", 0) as silent:
        port = silent.sockets[0].getsockname()[1]
        with pytest.raises(RelayError, match="didn't answer in time"):
            await page._find_page(load(RELAY_WEB_PORT=port))


async def test_a_bot_that_does_not_run_is_to_be_started() -> None:
    with pytest.raises(RelayError, match="the bot isn't running here"):
        await page._find_page(load(RELAY_WEB_PORT=free_port()))
