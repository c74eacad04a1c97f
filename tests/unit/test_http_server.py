"""The HTTP server: its limits, what all its responses carry, and how it stops."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from relay.core.errors import SettingsError
from relay.core.program import RELAY
from relay.surfaces.http import connection
from relay.surfaces.http.server import Server


async def hello(_: Request) -> Response:
    return PlainTextResponse("hello")


async def fails(_: Request) -> Response:
    raise ValueError("of the application")


@contextlib.asynccontextmanager
async def serving(app: ASGIApp) -> AsyncIterator[tuple[Server, int]]:
    server = Server(app, "127.0.0.1", 0)
    port = await server.start()
    try:
        yield server, port
    finally:
        await server.stop(0.1)


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with serving(Starlette(routes=[Route("/", hello), Route("/fails", fails)])) as (_, port):
        yield port


async def exchange(port: int, sent: bytes) -> bytes:
    """Everything that the server sends until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    async with asyncio.timeout(10):
        answer = await reader.read()
    writer.close()
    return answer


async def test_each_response_has_the_common_headers(port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        for path in ("/", "/nothing", "/fails"):
            response = await client.get(path)
            assert response.headers["cache-control"] == "no-store"
            assert response.headers["x-content-type-options"] == "nosniff"
            assert response.headers["server"] == "relay"
            assert "date" in response.headers


async def test_an_error_that_the_application_answered_is_not_logged(
    port: int, caplog: pytest.LogCaptureFixture
) -> None:
    async with httpx.AsyncClient() as client:
        assert (await client.get(f"http://127.0.0.1:{port}/fails")).status_code == 500
    assert caplog.records == []


async def test_no_address_is_logged(port: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "uvicorn")
    async with httpx.AsyncClient() as client:
        await client.get(f"http://127.0.0.1:{port}/?q=my+diagnosis")
        await client.get(f"http://127.0.0.1:{port}/calendar/secret.ics")
    assert not [one for one in caplog.messages if "diagnosis" in one or "secret" in one]


@pytest.mark.parametrize(
    ("status", "head"),
    [
        (414, b"GET /" + b"x" * connection.MOST_LINE + b" HTTP/1.1\r\nHost: x\r\n\r\n"),
        (431, b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * connection.MOST_FIELD + b"\r\n\r\n"),
        (431, b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Many: x\r\n" * connection.MOST_FIELDS + b"\r\n"),
        (431, b"GET / HTTP/1.1\r\nHost: x\r\nX-Endless: " + b"x" * 2 * connection.MOST_HEAD),
        (400, b"GET / HTTP/1.1\r\n\r\n"),
        (400, b"\x16\x03\x01\r\n\r\n"),
        (501, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n"),
    ],
)
async def test_a_request_head_that_is_too_long_or_invalid_is_refused_silently(
    port: int, status: int, head: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    start, _, body = (await exchange(port, head)).partition(b"\r\n\r\n")
    assert start.startswith(b"HTTP/1.1 %d " % status)
    assert b"\r\nContent-Type: application/problem+json\r\n" in start
    told = json.loads(body)
    assert told["status"] == status
    assert told["code"]
    assert told["detail"].endswith(".")
    assert caplog.records == []


async def test_a_slow_unread_body_is_cut_off_like_a_slow_head(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.3)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
    async with asyncio.timeout(5):
        assert b"hello" in await reader.readuntil(b"hello")
        ended = asyncio.create_task(reader.read())
        while not ended.done():
            writer.write(b"x")
            await asyncio.sleep(0.02)
        with contextlib.suppress(ConnectionError):
            await ended
    writer.close()


async def test_pipelined_requests_are_answered_in_order(port: int) -> None:
    one = b"GET /%s HTTP/1.1\r\nHost: x\r\n%s\r\n"
    answer = await exchange(port, one % (b"", b"") + one % (b"nothing", b"Connection: close\r\n"))
    assert answer.index(b"HTTP/1.1 200") < answer.index(b"HTTP/1.1 404")


async def hold_unread(port: int) -> asyncio.StreamWriter:
    """Asks for more than the socket buffers hold, and reads nothing."""
    _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
    writer.write(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
    await writer.drain()
    return writer


async def large(_: Request) -> Response:
    return StreamingResponse(b"x" * 65_536 for _ in range(400))


async def test_clients_that_read_no_answer_do_not_block_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MOST_CONNECTIONS", 3)
    async with serving(Starlette(routes=[Route("/", hello), Route("/large", large)])) as (_, port):
        held = [await hold_unread(port) for _ in range(3)]
        answer = b""
        async with asyncio.timeout(10):
            while not answer.endswith(b"hello"):
                await asyncio.sleep(0.1)  # the buffers of the others have to fill first
                with contextlib.suppress(OSError):
                    answer = await exchange(port, b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        for writer in held:
            writer.close()


async def test_an_answer_that_nobody_reads_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "UNREAD_SECONDS", 0.5)
    async with serving(Starlette(routes=[Route("/large", large)])) as (_, port):
        writer = await hold_unread(port)
        async with asyncio.timeout(10):
            with contextlib.suppress(OSError):
                await lost(writer)


async def lost(writer: asyncio.StreamWriter) -> None:
    """Waits until the server has cut the connection."""
    while True:
        writer.write(b"\r\n")
        await writer.drain()
        await asyncio.sleep(0.05)


async def test_stopping_finishes_running_requests_and_cuts_off_endless_ones(caplog: pytest.LogCaptureFixture) -> None:
    begun = asyncio.Event()

    async def slow(_: Request) -> Response:
        begun.set()
        await asyncio.sleep(0.3)
        return PlainTextResponse("done")

    async def endless(_: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            while True:
                yield b"more"
                await asyncio.sleep(0.05)

        return StreamingResponse(pieces())

    async def stuck(_: Request) -> Response:
        await asyncio.Event().wait()
        raise AssertionError

    routes = [Route("/slow", slow), Route("/endless", endless), Route("/stuck", stuck)]
    async with serving(Starlette(routes=routes)) as (server, port), httpx.AsyncClient() as client:
        asked = {
            path: asyncio.create_task(client.get(f"http://127.0.0.1:{port}/{path}"))
            for path in ("slow", "endless", "stuck")
        }
        await begun.wait()
        async with asyncio.timeout(3):
            await server.stop(1.0)
        assert (await asked["slow"]).text == "done"
        for path in ("endless", "stuck"):
            with pytest.raises(httpx.TransportError):
                await asked[path]
        with pytest.raises(httpx.ConnectError):
            await client.get(f"http://127.0.0.1:{port}/slow")
    assert caplog.records == []


async def test_an_unavailable_address_names_its_setting() -> None:
    async with serving(Starlette()) as (_, port):
        with pytest.raises(
            SettingsError, match=f"RELAY_WEB_PORT: another program already listens on port {port} of 127"
        ) as raised:
            await Server(Starlette(), "127.0.0.1", port).start()
    assert f"It may be another Relay; `{RELAY} doctor` shows whether one is running." in str(raised.value)
    with pytest.raises(SettingsError, match=r"RELAY_WEBHOOK_HOST: 192\.0\.2\.1 is not an address of this machine"):
        await Server(Starlette(), "192.0.2.1", 0, "RELAY_WEBHOOK").start()
