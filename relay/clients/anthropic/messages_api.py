"""Anthropic's Messages API over HTTP. Not the `anthropic` package, whose types take 50 MB of memory and a second to
import (docs/decisions/0025)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from relay.clients.connections import load_certificates, proxy_of

VERSION = "2026-10-21"
"""The API version, which is a date."""
CONNECT_SECONDS = 10.0
LONGEST_REFUSAL = 64 * 1024
"""The most bytes that are read from a refusal."""

FOREIGN = "no_messages_api"
"""The kind of a refusal for an answer that doesn't come from a Messages API, or not as a stream."""
PAGE = "page"
"""The kind of a refusal for a page in place of a stream, which a proxy may send while it restarts."""

Json = dict[str, Any]


@dataclass
class Refused(Exception):
    """The server refused the call before or (status 200) during its answer."""

    status: int
    kind: str = ""
    """The `error.type` of the response, such as overloaded_error."""
    message: str = ""
    retry_after: str | None = None


class MessagesAPI:
    """A pool of connections to one server. Raises `Refused`, aiohttp's errors, `OSError`, or `ValueError` for invalid
    JSON."""

    def __init__(self, api_key: str, base_url: str, timeout: float) -> None:
        """`timeout`: seconds without a byte after which a call fails."""
        self._url = f"{base_url.rstrip('/')}/v1/messages"
        self._headers = {
            "x-api-key": api_key or "none",
            "anthropic-version": VERSION,
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": "relay",
        }
        self._timeout = aiohttp.ClientTimeout(sock_connect=CONNECT_SECONDS, sock_read=timeout, total=None)
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Closes every connection."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def send(self, body: bytes) -> None:
        """Sends a request and ignores what the model says. Raises `Refused` for an answer that isn't a message."""
        async with self._send(body) as response:
            told = await response.read()
            if kind_of(told) != "message":
                raise parse_other(response.status, told, FOREIGN)

    @asynccontextmanager
    async def stream(self, body: bytes) -> AsyncIterator[AsyncIterator[Json]]:
        """Sends a request with `"stream": true` and yields its events, except keep-alives. They raise `Refused` if
        there are none because the answer isn't a stream."""
        async with self._send(body) as response:
            yield self._events(response)

    async def _events(self, response: aiohttp.ClientResponse) -> AsyncIterator[Json]:
        streams = response.content_type == "text/event-stream"
        told = bytearray()

        async def listen() -> AsyncIterator[bytes]:
            async for chunk in response.content.iter_any():
                if not streams and len(told) < LONGEST_REFUSAL:
                    told.extend(chunk)
                yield chunk

        async for event in events(listen()):
            streams = True
            yield event
        if not streams:
            raise parse_other(response.status, bytes(told), FOREIGN if kind_of(bytes(told)) == "message" else PAGE)

    @asynccontextmanager
    async def _send(self, body: bytes) -> AsyncIterator[aiohttp.ClientResponse]:
        # Follows no redirects, so that no other server receives the conversation.
        async with self._open().post(self._url, data=body, allow_redirects=False) as response:
            if response.status >= 300:
                told = bytearray()
                async for chunk in response.content.iter_any():
                    told += chunk
                    if len(told) > LONGEST_REFUSAL:
                        break
                raise parse_refusal(response.status, bytes(told), response.headers.get("retry-after"))
            yield response

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, ssl=load_certificates()),
                timeout=self._timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=self._headers,
                proxy=proxy_of(self._url),
            )
        return self._session


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[Json]:
    """Yields the events of a stream (`text/event-stream`), without an unfinished one. Raises `Refused` for an error
    event."""
    kind, data, rest = "", bytearray(), b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            line = line.removesuffix(b"\r")
            if line.startswith(b"data:"):
                data += line[5:] + b"\n"
            elif line.startswith(b"event:"):
                kind = line[6:].strip().decode()
            elif not line:
                if kind == "error":
                    raise parse_refusal(200, bytes(data))
                if kind and kind != "ping" and data:
                    yield json.loads(data)
                kind, data = "", bytearray()


def kind_of(told: bytes) -> str:
    """Returns the type of an answer in one piece: message or error; empty: it isn't from a Messages API."""
    try:
        return str(json.loads(told)["type"])
    except (ValueError, TypeError, LookupError, RecursionError):
        return ""


def parse_other(status: int, told: bytes, kind: str) -> Refused:
    """Parses an answer that is not what was asked for: an error, or something else, which is of this `kind`."""
    refused = parse_refusal(status, told)
    return refused if refused.kind else Refused(status, kind)


def parse_refusal(status: int, told: bytes, retry_after: str | None = None) -> Refused:
    """Parses a refusal: `{"error": {"type", "message"}}`, or a proxy's page."""
    try:
        error = json.loads(told)["error"]
        return Refused(status, str(error["type"]), str(error["message"]), retry_after)
    except (ValueError, TypeError, LookupError, RecursionError):
        return Refused(status, retry_after=retry_after)
