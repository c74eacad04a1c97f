"""A connection to the HTTP server, with limits on everything."""

from __future__ import annotations

import asyncio
import ipaddress
import itertools
import json
from collections.abc import Sequence
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 200
"""The most connections. A new one replaces the longest silent one, one whose body is late, or one that reads no answer;
else it is closed."""
MOST_OF_ADDRESS = 50
"""The most connections from one address, or from one /64 network of IPv6: anyone who has one address of it has all.
No limit for this machine and its network, where a proxy may be."""
UNREAD_SECONDS = 20.0
"""How long a client may leave an answer unread."""
HEAD_SECONDS = 3.0
"""How long a request's head may take, from the start of the connection or from its first byte."""
MOST_LINE = 16_384
"""The most bytes in the address of a request: 1,000 characters of any script, percent-encoded, and its other parts."""
MOST_FIELD = 4096
"""The most bytes in a header, with its name."""
MOST_FIELDS = 64
MOST_HEAD = 32_768
"""The most bytes of an incomplete head."""
REFUSALS = {
    400: ("Bad Request", "malformed", "This is not an HTTP request."),
    414: ("URI Too Long", "too_long", f"An address can have at most {MOST_LINE // 1024} KB."),
    431: (
        "Request Header Fields Too Large",
        "too_large",
        f"A request can have at most {MOST_FIELDS} headers, each with at most {MOST_FIELD // 1024} KB, and "
        f"{MOST_HEAD // 1024} KB together with its address.",
    ),
    501: ("Not Implemented", "unknown", "This Transfer-Encoding is not supported, only chunked."),
}
"""The reason, code and detail of the answers to input that does not reach the application."""


class OpenConnections:
    """The open connections, longest silent first."""

    def __init__(self) -> None:
        self._taken: dict[Connection, str] = {}

    def take(self, one: Connection, address: str) -> bool:
        """Admits a connection if its address has a free slot; another one may lose its slot. Returns whether it did."""
        if address and list(self._taken.values()).count(address) >= MOST_OF_ADDRESS:
            return False
        if len(self._taken) >= MOST_CONNECTIONS:
            silent = (other for other in self._taken if not other.busy)
            late = (other for other in self._taken if other.awaits_body)
            unread = (other for other in self._taken if other.flow.write_paused)
            loser = next(itertools.chain(silent, late, unread), None)
            if loser is None:
                return False
            self.leave(loser)
            loser.transport.abort()
        self._taken[one] = address
        return True

    def note_request(self, one: Connection) -> None:
        """Notes a complete request: this connection is the last to lose its slot."""
        if one in self._taken:
            self._taken[one] = self._taken.pop(one)

    def leave(self, one: Connection) -> None:
        """Frees the slot of a connection."""
        self._taken.pop(one, None)


class Connection(H11Protocol):
    """One connection, which must send a request's head soon. Input that is not HTTP does not reach the application: it
    gets a short answer here, without a log entry, because anyone could fill the log."""

    conn: BoundedParser

    def __init__(self, places: OpenConnections, **given: Any) -> None:
        super().__init__(**given)
        self.access_log = False  # an address holds what someone searches for, or a calendar's secret
        self.conn = BoundedParser(h11.SERVER, MOST_HEAD)
        self._places = places
        self._late: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    @property
    def busy(self) -> bool:
        """Whether a request with a complete head is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def awaits_body(self) -> bool:
        """Whether a request's head has arrived but its body has not."""
        return self.cycle is not None and self.cycle.more_body

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self._places.take(self, find_remote(transport)):
            self._expect_head()
        else:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._places.note_request(self)
        if self.busy:
            self._forget_head()
        elif self.cycle is before:
            # Input after an answer, such as the rest of an unread body, has the same time limit.
            self._expect_head()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_head()
        self.resume_writing()
        self._unset_keepalive_if_required()
        self._places.leave(self)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answers input that is not HTTP, or too long, with a problem document, unless a request is being answered. A
        request with a broken body gets this answer."""
        broken = self.awaits_body and not self.cycle.response_started
        if broken:
            self.cycle.disconnected = True
        if broken or not self.busy:
            self.transport.write(render_refusal(self.conn.refusal))
        self.transport.close()

    def _expect_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self._hang_up)

    def _forget_head(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _hang_up(self) -> None:
        self._late = None
        if not self.busy:
            self.transport.abort()


class BoundedParser(h11.Connection):
    """Reads requests, and refuses those whose head is too long. h11 itself limits only an incomplete head."""

    refusal = 400
    """The status of the answer to refused input."""

    def next_event(self) -> Any:
        try:
            event = super().next_event()
            if isinstance(event, h11.Request):
                _check_head(event.target, list(event.headers))
        except h11.RemoteProtocolError as error:
            self.refusal = error.error_status_hint
            raise
        return event


def _check_head(target: bytes, headers: Sequence[tuple[bytes, bytes]]) -> None:
    if len(target) > MOST_LINE:
        raise h11.RemoteProtocolError("the address is too long", error_status_hint=414)
    if len(headers) > MOST_FIELDS or any(len(name) + len(value) > MOST_FIELD for name, value in headers):
        raise h11.RemoteProtocolError("the head is too long", error_status_hint=431)


def render_refusal(status: int) -> bytes:
    """Returns the answer to input that is refused. The module that makes all other problem documents imports FastAPI,
    which a server without the API does without."""
    reason, code, detail = REFUSALS[status]
    body = json.dumps({"type": "about:blank", "title": reason, "status": status, "detail": detail, "code": code})
    return (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: application/problem+json\r\nContent-Length: {len(body)}\r\n"
        f"Cache-Control: no-store\r\nConnection: close\r\n\r\n{body}"
    ).encode()


def find_remote(transport: asyncio.BaseTransport) -> str:
    """Returns the remote address, or its /64 network of IPv6; empty for this machine and its network."""
    try:
        address = ipaddress.ip_address(str((transport.get_extra_info("peername") or ("",))[0]).partition("%")[0])
    except ValueError:
        return ""
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_private:
        return ""
    return str(address if address.version == 4 else ipaddress.ip_network((address, 64), strict=False))
