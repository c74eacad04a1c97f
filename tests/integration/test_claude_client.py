"""The Claude client on a wire that misbehaves in ways of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json

import pytest
from aiohttp import web

from relay.clients.claude import Claude
from relay.errors import ModelUnavailable
from relay.models import ModelRequest

START = {
    "type": "message_start",
    "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    },
}  # fmt: skip


async def pings(request: web.Request) -> web.StreamResponse:
    """A stream that begins, and then only says that it is alive."""
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    with contextlib.suppress(ConnectionError):
        await response.write(f"event: message_start\ndata: {json.dumps(START)}\n\n".encode())
        for _ in range(200):
            await response.write(b'event: ping\ndata: {"type": "ping"}\n\n')
            await asyncio.sleep(0.05)
    return response


async def test_a_stream_of_pings_counts_as_silence() -> None:
    application = web.Application()
    application.router.add_post("/v1/messages", pings)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    client = Claude("key", f"http://{host}:{port}", timeout=1)
    try:
        async with asyncio.timeout(8):
            with pytest.raises(ModelUnavailable):
                await client.reply(
                    ModelRequest("m", [], [{"role": "user", "content": [{"type": "text", "text": "x"}]}], 100),
                    lambda _: None,
                )
    finally:
        await client.close()
        await runner.cleanup()
