"""Tests the Claude client with servers that misbehave."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from relay.clients.anthropic.client import Claude
from relay.core.errors import ModelError, ModelMisconfigured, ModelThrottled, ModelUnavailable, StreamCut
from relay.core.models import ModelRequest

START = {
    "type": "message_start",
    "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    },
}  # fmt: skip


async def pings(request: web.Request) -> web.StreamResponse:
    """Starts a stream and then sends only pings."""
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):
        await response.write(f"event: message_start\ndata: {json.dumps(START)}\n\n".encode())
        for _ in range(200):
            await response.write(b'event: ping\ndata: {"type": "ping"}\n\n')
            await asyncio.sleep(0.05)
    return response


HEARD = [
    ({"type": "thinking", "thinking": "", "signature": ""}, {"type": "thinking_delta", "thinking": "Well. " * 100}),
    ({"type": "text", "text": ""}, {"type": "text_delta", "text": "word " * 1000}),
    (
        {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"query": "' + "tea " * 100},
    ),
]
"""Starts of blocks and their deltas: 6,000 characters in all."""


async def unfinished(request: web.Request) -> web.StreamResponse:
    """Streams a lot of output, and then closes the connection (for the model “cut”) or sends nothing more."""
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    events: list[dict[str, Any]] = [START]
    for index, (block, delta) in enumerate(HEARD):
        events += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_delta", "index": index, "delta": delta},
        ]
    for event in events:
        await response.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
    if (await request.json())["model"] != "cut":
        await asyncio.sleep(30)
    return response


@contextlib.asynccontextmanager
async def client_of(
    answer: Callable[[web.Request], Awaitable[web.StreamResponse]], path: str = "/v1/messages"
) -> AsyncIterator[Claude]:
    """Yields a client whose server answers with `answer`."""
    application = web.Application()
    application.router.add_route("*", path, answer)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    client = Claude("key", f"http://{host}:{port}", timeout=1)
    try:
        yield client
    finally:
        await client.close()
        await runner.cleanup()


def request_of(model: str) -> ModelRequest:
    return ModelRequest(model, [], [{"role": "user", "content": [{"type": "text", "text": "x"}]}], 100)


async def test_a_stream_of_pings_counts_as_silence() -> None:
    async with client_of(pings) as client, asyncio.timeout(8):
        with pytest.raises(ModelUnavailable):
            await client.reply(request_of("m"), lambda _: None)


async def test_a_server_behind_a_proxy_that_refuses_was_not_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
        client = Claude("key", "https://model.example", timeout=2)
        with pytest.raises(ModelUnavailable, match="couldn't reach the model"):
            await client.reply(request_of("m"), lambda _: None)
        await client.close()


async def test_an_unreachable_server_is_distinguished_from_a_broken_stream() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        client = Claude("key", f"http://127.0.0.1:{nobody.getsockname()[1]}", timeout=2)
        with pytest.raises(ModelUnavailable, match="couldn't reach the model"):
            await client.reply(request_of("m"), lambda _: None)
        await client.close()


@pytest.mark.parametrize("how", ["cut", "silent", "stopped"])
async def test_an_unfinished_call_records_the_usage_received_so_far(how: str) -> None:
    request, spoken = request_of(how), asyncio.Event()
    async with client_of(unfinished) as client, asyncio.timeout(20):
        call = asyncio.create_task(client.reply(request, lambda _: spoken.set()))
        if how == "stopped":
            await spoken.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert request.used["output_tokens"] >= 1250
            return
        with pytest.raises(StreamCut) as cut:
            await call
    assert request.used == cut.value.usage
    assert 1500 <= request.used["output_tokens"] <= 1510
    assert request.used["input_tokens"] == 1


async def test_a_redirect_to_another_host_is_not_followed() -> None:
    asked: list[str] = []

    async def elsewhere(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        where = request.url.with_host("localhost").with_path("/v1/elsewhere")
        return web.Response(status=307, headers={"Location": str(where)})

    async with client_of(elsewhere, "/{path:.*}") as client, asyncio.timeout(8):
        with pytest.raises(ModelError, match="ANTHROPIC_BASE_URL") as told:
            await client.reply(request_of("m"), lambda _: None)
        assert not isinstance(told.value, ModelUnavailable), "trying again would not help"
        with pytest.raises(ModelError, match="ANTHROPIC_BASE_URL"):
            await client.check("m")
    assert asked == ["/v1/messages"] * 2


@pytest.mark.parametrize(
    ("status", "kind", "text"),
    [
        (200, "text/html", "<html>a page"),
        (200, "application/json", "{}"),
        (200, "application/json", json.dumps({"type": "error", "error": {"type": "overloaded_error", "message": ""}})),
        (200, "application/json", json.dumps({"type": "message", "content": [{"type": "text", "text": "whole"}]})),
        (204, "text/html", ""),
    ],
)
async def test_a_page_of_a_proxy_passes_and_a_server_that_does_not_stream_is_named_at_once(
    status: int, kind: str, text: str
) -> None:
    async def page(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, text=text, content_type=kind)

    async with client_of(page) as client, asyncio.timeout(8):
        whole, overloaded = "whole" in text, "overloaded" in text
        with pytest.raises(ModelMisconfigured if whole else ModelUnavailable):
            await client.reply(request_of("m"), lambda _: None)
        refused = pytest.raises(ModelUnavailable if overloaded else ModelMisconfigured)
        with contextlib.nullcontext() if whole else refused:
            await client.check("m")


@pytest.mark.parametrize(
    ("told", "seconds"), [("7", 7.0), ("0", None), ("-1", None), ("nan", None), ("inf", None), ("soon", None)]
)
async def test_only_a_time_to_wait_that_makes_sense_is_obeyed(told: str, seconds: float | None) -> None:
    async def busy(_: web.Request) -> web.StreamResponse:
        return web.Response(status=529, headers={"retry-after": told})

    async with client_of(busy) as client, asyncio.timeout(8):
        with pytest.raises(ModelThrottled) as found:
            await client.reply(request_of("m"), lambda _: None)
    assert found.value.retry_after == seconds
