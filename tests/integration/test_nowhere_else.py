"""Checks that no server that Relay talks to can redirect it, into the machine's own network or to anyone else."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from relay.clients.supabase.database import Supabase
from relay.clients.telegram.client import Telegram
from relay.core.errors import DatabaseError, MessengerError
from tests.standins.telegram import TelegramStandIn, Upload
from tests.standins.telegram.values import TEST_TOKEN

KEY = "sb_secret_abcdefghijklmnopqrstuvwxyz012345"
PATHS = (
    "http://127.0.0.1:{port}/x", "//127.0.0.1:{port}/x", "\\\\127.0.0.1\\x", "@127.0.0.1:{port}/x",
    "x@localhost:{port}/",
    "..//127.0.0.1:{port}/x", "?@127.0.0.1:{port}/x", "#@127.0.0.1:{port}/x", "%2f%2f127.0.0.1:{port}/x",
    "file:///etc/passwd",
)  # fmt: skip


@contextlib.asynccontextmanager
async def server(answer: web.Response | None, asked: list[str]) -> AsyncIterator[int]:
    """Yields the port of a server that gives every request the same answer."""

    async def handle(request: web.Request) -> web.Response:
        asked.append(f"{request.method} {request.path}")
        return web.json_response({}) if answer is None else web.Response(status=answer.status, headers=answer.headers)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_client_follows_a_redirect(status: int) -> None:
    inside: list[str] = []
    asked: list[str] = []
    async with server(None, inside) as port:
        there = web.Response(status=status, headers={"Location": f"http://localhost:{port}/latest/meta-data"})
        async with server(there, asked) as first:
            telegram = Telegram(TEST_TOKEN, f"http://127.0.0.1:{first}")
            await telegram.open()
            with pytest.raises(MessengerError):
                await telegram.call("sendMessage", chat_id=1, text="between us")
            with pytest.raises(MessengerError):
                await telegram.fetch("FILE", 1000)
            with pytest.raises(MessengerError):
                await telegram._content("documents/file_1.txt", 1000)
            await telegram.close_pools()
            supabase = Supabase(f"http://127.0.0.1:{first}", KEY)
            await supabase.open()
            with pytest.raises(DatabaseError):
                await supabase.call("ping")
            await supabase.close()
    assert inside == []
    assert len(asked) >= 4


@pytest.mark.parametrize("path", PATHS)
async def test_a_file_path_cannot_lead_to_another_server(path: str) -> None:
    inside: list[str] = []
    async with server(None, inside) as port, TelegramStandIn() as tg:
        file = tg.add_file(Upload(b"secret", "a.txt"))
        del tg.file_paths[file.path]
        file.path = path.format(port=port)
        telegram = Telegram(TEST_TOKEN, tg.url)
        await telegram.open()
        with contextlib.suppress(MessengerError):
            await telegram.fetch(file.id, 1000)
        await telegram.close_pools()
    assert inside == []
