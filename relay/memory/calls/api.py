"""API tokens, and API requests with an idempotency key."""

from __future__ import annotations

import hashlib

from relay.memory.calls.base import Calls
from relay.memory.rows.people import ApiCaller, ApiRequest, ApiToken, TokenKind

RUNNING_SECONDS = 300
"""How many seconds a request may run. After that it counts as interrupted and may be repeated."""
KEPT_SECONDS = 86_400
MOST_KEPT = 1_000
"""The most stored requests of one person."""


def hash_token(token: str) -> str:
    """Returns the SHA-256 under which the database stores a token, a link or a key."""
    return hashlib.sha256(token.encode()).hexdigest()


class ApiCalls(Calls):
    """Tokens and requests of the API. The database knows only their SHA-256, in hexadecimal."""

    async def find_api_caller(self, hash: str) -> ApiCaller | None:
        """Returns the person whose token has this hash; None if there is none, or it has expired."""
        return await self._find(ApiCaller, "api_caller", hash=hash)

    async def store_api_token(
        self, user_id: int, kind: TokenKind, name: str, hash: str, seconds: int | None, given_for: str | None = None
    ) -> bool:
        """Stores a token's hash. The token lasts for `seconds`, or (None) until it is revoked. `given_for`: the hash of
        what it is exchanged for, such as a link, which can be used once. Returns False if that was used before."""
        given = {"user_id": user_id, "kind": kind, "name": name, "hash": hash, "seconds": seconds}
        return bool(await self._call("store_api_token", **given, given_for=given_for))

    async def open_api_link(self, link: str, hash: str, seconds: int) -> int | None:
        """Exchanges a link for a session. Returns the person's id; None if the link was used, or has expired."""
        found = await self._call("open_api_link", link=link, hash=hash, seconds=seconds)
        return None if found is None else int(found)

    async def list_api_tokens(self, user_id: int) -> list[ApiToken]:
        """Returns a person's own tokens, oldest first."""
        return await self._list(ApiToken, "api_tokens", user_id=user_id)

    async def revoke_api_token(self, user_id: int, id: int) -> ApiToken | None:
        """Revokes one of a person's own tokens and returns it; None if there is none."""
        return await self._find(ApiToken, "revoke_api_token", user_id=user_id, id=id)

    async def end_api_session(self, hash: str) -> None:
        """Ends a session."""
        await self._call("end_api_session", hash=hash)

    async def begin_api_request(self, user_id: int, hash: str, asked: str) -> ApiRequest:
        """Begins a request with an idempotency key, by the hashes of both, or returns the state of an earlier one."""
        given = {"user_id": user_id, "hash": hash, "asked": asked}
        bounds = {"lease": RUNNING_SECONDS, "keep": KEPT_SECONDS, "most": MOST_KEPT}
        return await self._fetch(ApiRequest, "begin_api_request", **given, **bounds)

    async def end_api_request(self, user_id: int, hash: str, status: int | None, content_type: str, body: str) -> None:
        """Stores the response of a request. Without a status, the request is forgotten and may be repeated."""
        given = {"user_id": user_id, "hash": hash, "status": status, "content_type": content_type, "body": body}
        await self._call("end_api_request", **given)
