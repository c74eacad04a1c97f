"""Attacks on the webhook's port, with and without knowledge of its secret."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import hypothesis
import pytest
from hypothesis import strategies as st

from relay.surfaces.http import connection, webhook
from relay.surfaces.http.webhook import HEADER, MOST_AT_ONCE, Webhook
from tests.strategies import examples, json_of

SECRET = "a-secret-of-the-test"
Taken = list[dict[str, Any]]


@pytest.fixture
async def taken() -> Taken:
    return []


@pytest.fixture
async def url(taken: Taken) -> AsyncIterator[str]:
    """The address at which the webhook listens."""

    async def take(updates: Taken) -> None:
        taken.extend(updates)

    async with Webhook("http://127.0.0.1/hook", SECRET, take).listen("127.0.0.1", 0) as port:
        yield f"http://127.0.0.1:{port}/hook"


async def post(url: str, body: bytes, **headers: str) -> int:
    """The response status of a delivery."""
    headers = {HEADER: SECRET, "Content-Type": "application/json"} | headers
    async with aiohttp.ClientSession() as session, session.post(url, data=body, headers=headers) as response:
        return response.status


async def test_a_slow_body_is_cut_off(url: str, taken: Taken, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "BODY_SECONDS", 0.3)
    host, port = "127.0.0.1", int(url.rsplit(":", 1)[1].split("/")[0])
    reader, writer = await asyncio.open_connection(host, port)
    head = ("POST /hook HTTP/1.1", "Host: x", f"{HEADER}: {SECRET}", "Content-Length: 1000", "", "")
    writer.write("\r\n".join(head).encode())
    async with asyncio.timeout(10):
        answer = asyncio.create_task(reader.readline())
        while not answer.done():
            writer.write(b" ")
            await asyncio.sleep(0.05)
        assert b" 408 " in await answer
    writer.close()
    assert taken == []


async def test_many_slow_bodies_do_not_block_others_for_long(
    url: str, taken: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "BODY_SECONDS", 0.5)
    port = int(url.rsplit(":", 1)[1].split("/")[0])
    head = ("POST /hook HTTP/1.1", "Host: x", f"{HEADER}: {SECRET}", "Content-Length: 1000", "", "")
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(MOST_AT_ONCE)]
    for _, writer in opened:
        writer.write("\r\n".join(head).encode())
    async with asyncio.timeout(20):
        for reader, writer in opened:
            assert b" 408 " in await reader.readline()
            writer.close()
    assert await post(url, b'{"update_id": 8}') == 200
    assert [update["update_id"] for update in taken] == [8]


HALF = b"POST /hook HTTP/1.1\r\nHost: x\r\nX-Odd: "


def port_of(url: str) -> int:
    return int(url.rsplit(":", 1)[1].split("/")[0])


async def test_an_incomplete_head_is_cut_off_soon(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert connection.HEAD_SECONDS == 3
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.3)
    silent, _ = await asyncio.open_connection("127.0.0.1", port_of(url))
    drips, writer = await asyncio.open_connection("127.0.0.1", port_of(url))
    writer.write(HALF)
    began = asyncio.get_running_loop().time()
    async with asyncio.timeout(10):
        ended = [asyncio.create_task(one.read()) for one in (silent, drips)]
        while not all(one.done() for one in ended):
            with contextlib.suppress(ConnectionError):
                writer.write(b"a")
            await asyncio.sleep(0.05)
    assert asyncio.get_running_loop().time() - began < 2, "a byte does not extend the time limit"
    writer.close()


async def test_incomplete_heads_do_not_take_connections_from_others(url: str, taken: Taken) -> None:
    held = [await asyncio.open_connection("127.0.0.1", port_of(url)) for _ in range(connection.MOST_CONNECTIONS + 20)]
    for _, writer in held:
        writer.write(HALF)
    await asyncio.sleep(0.1)
    async with asyncio.timeout(2.5):  # before the server hangs up on them
        for number in range(1, 6):
            assert await post(url, json.dumps({"update_id": number}).encode()) == 200
    assert [one["update_id"] for one in taken] == [1, 2, 3, 4, 5]
    for _, writer in held:
        writer.close()


async def test_connections_per_address_are_limited_except_for_proxies(
    url: str, taken: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = {"192.168.3.4": "", "127.0.0.1": "", "::1": "", "::ffff:10.0.0.7": "", "fe80::1%eth0": "", "": ""}
    addresses |= {"203.0.114.9": "203.0.114.9", "::ffff:8.8.8.8": "8.8.8.8", "2a00:1450::1": "2a00:1450::/64"}
    addresses |= {"2a00:1450:0:0:ffff::9": "2a00:1450::/64", "2a00:1450:0:1::9": "2a00:1450:0:1::/64"}
    for given, expected in addresses.items():
        assert connection.find_remote(Peer(given)) == expected, given
    monkeypatch.setattr(connection, "find_remote", lambda transport: "8.8.8.8")
    held = [await asyncio.open_connection("127.0.0.1", port_of(url)) for _ in range(connection.MOST_OF_ADDRESS)]
    reader, _ = await asyncio.open_connection("127.0.0.1", port_of(url))
    async with asyncio.timeout(2):
        assert await reader.read() == b""
    monkeypatch.setattr(connection, "find_remote", lambda transport: "9.9.9.9")
    assert await post(url, b'{"update_id": 1}') == 200
    for _, writer in held:
        writer.close()


class Peer(asyncio.Transport):
    """A connection from an address."""

    def __init__(self, address: str) -> None:
        super().__init__({"peername": (address, 1) if address else None})


async def test_a_repeated_or_malformed_secret_is_refused(url: str, taken: Taken) -> None:
    for given in (SECRET + "\x00", SECRET + " x", SECRET.upper(), f"{SECRET},{SECRET}", SECRET[:-1], "é" * 20):
        try:
            status = await post(url, b'{"update_id": 9}', **{HEADER: given})
        except (aiohttp.ClientError, ValueError):
            continue  # such a header cannot be sent
        assert status in (400, 401), given
    assert taken == []


def as_bytes(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "replace")


@examples(60)
@hypothesis.given(body=st.binary(max_size=200) | json_of("update_id", "message", "callback_query").map(as_bytes))
async def test_any_body_leaves_the_next_update_working(url: str, taken: Taken, body: bytes) -> None:
    assert await post(url, body) in (200, 400)
    assert await post(url, b'{"update_id": 77}') == 200
    assert taken[-1]["update_id"] == 77
