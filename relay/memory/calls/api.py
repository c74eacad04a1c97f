"""API tokens, and API requests with an idempotency key."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from relay.core.models import Space
from relay.memory.calls.base import Calls, rpc
from relay.memory.rows.people import ApiCaller, ApiRequest, ApiToken, TokenKind
from relay.memory.rows.proactive.feed import CalendarToken, Marks

RUNNING_SECONDS = 300
"""How many seconds a request may run. After that it counts as interrupted and may be repeated."""
KEPT_SECONDS = 86_400
MOST_KEPT = 1_000
"""The most stored requests of one person."""


def hash_token(token: str) -> str:
    """Returns the SHA-256 under which the database stores a token, a link or a key."""
    return hashlib.sha256(token.encode()).hexdigest()


class ApiCalls(Calls):
    """Tokens and requests of the API, calendar tokens, and the marks of open pages. The database knows only the SHA-256
    of tokens, in hexadecimal."""

    @rpc("api_caller")
    async def find_api_caller(self, hash: str) -> ApiCaller | None:
        """Returns the person whose token has this hash; None if there is none, or it has expired."""

    @rpc()
    async def store_api_token(
        self, user_id: int, kind: TokenKind, name: str, hash: str, seconds: int | None, given_for: str | None = None
    ) -> bool:
        """Stores a token's hash. The token lasts for `seconds`, or (None) until it is revoked. `given_for`: the hash of
        what it is exchanged for, such as a link, which can be used once. Returns False if that was used before."""

    @rpc()
    async def open_api_link(self, link: str, hash: str, seconds: int) -> int | None:
        """Exchanges a link for a session. Returns the person's id; None if the link was used, or has expired."""

    @rpc("api_tokens")
    async def list_api_tokens(self, user_id: int) -> list[ApiToken]:
        """Returns a person's own tokens, oldest first."""

    @rpc()
    async def revoke_api_token(self, user_id: int, id: int) -> ApiToken | None:
        """Revokes one of a person's own tokens and returns it; None if there is none."""

    @rpc()
    async def end_api_session(self, hash: str) -> None:
        """Ends a session."""

    @rpc(lease=RUNNING_SECONDS, keep=KEPT_SECONDS, most=MOST_KEPT)
    async def begin_api_request(self, user_id: int, hash: str, asked: str) -> ApiRequest:
        """Begins a request with an idempotency key, by the hashes of both, or returns the state of an earlier one."""

    @rpc()
    async def end_api_request(self, user_id: int, hash: str, status: int | None, content_type: str, body: str) -> None:
        """Stores the response of a request. Without a status, the request is forgotten and may be repeated."""

    @rpc()
    async def calendar_token(self, user_id: int) -> CalendarToken | None:
        """Returns a person's calendar token; None: they have none."""

    @rpc()
    async def replace_calendar_token(self, user_id: int, hash: str | None) -> bool:
        """Replaces a person's calendar token, given its hash; None removes it. Returns whether they had one."""

    @rpc("calendar_caller")
    async def find_calendar_caller(self, hash: str) -> ApiCaller | None:
        """Returns the person whose calendar token has this hash; None if there is none."""

    @rpc()
    async def marks(self, spaces: Sequence[Space], user_id: int) -> list[Marks]:
        """Returns the marks of some spaces that a person's open page watches."""
