"""`Idempotency-Key`: a request that is sent twice is executed once."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import MutableMapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from relay.core.errors import RelayError
from relay.core.models import Space
from relay.memory.calls.people import hash_token
from relay.memory.rows.people import ApiRequest
from relay.surfaces.http.access.guard import read_body, replay
from relay.surfaces.http.caller import (
    ApiCore,
    count_request,
    find_admitted,
    groups_seen,
    read_authorization,
    sees_now,
)
from relay.surfaces.http.problems import ApiError, problem, render_error

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
LONGEST_KEY = 255
SECRETS = frozenset({"/api/session", "/api/reminders/calendar"})
"""Paths without idempotency: their responses hold a secret, of which only a hash is stored."""
NOT_KEPT = frozenset({401, 404, 405, 429})
"""Statuses that are not stored: nothing was done, and it may be possible later."""


class Idempotency:
    """Executes a POST with a key once for each person, and repeats its response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] in SECRETS:
            return await self._app(scope, receive, send)
        request = Request(scope)
        key = request.headers.get(HEADER)
        if key is None:
            return await self._app(scope, receive, send)
        core: ApiCore = request.app.state.core
        body = await read_body(receive) or b""
        answer: Response | None = None
        try:
            scheme, token = read_authorization(request)
            caller = await find_admitted(core, token) if scheme == "bearer" else None
            if caller is not None:
                count_request(request, core, caller)
                if not 0 < len(key) <= LONGEST_KEY:
                    answer = problem(400, "malformed", f"An {HEADER} must have 1 to {LONGEST_KEY} characters.")
                else:
                    row = await core.services.store.begin_api_request(
                        caller.user_id, hash_token(key), _fingerprint(scope, body)
                    )
                    await _require_sight(core, caller.user_id, row.groups)
                    answer = _answer_again(row)
        except (ApiError, RelayError) as error:
            answer = render_error(error)
        if answer is not None:
            return await answer(scope, receive, send)
        if caller is None:
            return await self._app(scope, replay(body, receive), send)
        said = _Said()
        try:
            await self._app(scope, replay(body, receive), said.take)
        finally:
            groups = sorted(groups_seen(request))
            with contextlib.suppress(RelayError):
                await core.services.store.end_api_request(caller.user_id, hash_token(key), *said.result(), groups)
        for message in said.messages:
            await send(message)
        return None


class _Said:
    """Keeps a response until it is stored; it is sent after that, so that a repeated request finds it."""

    def __init__(self) -> None:
        self.messages: list[MutableMapping[str, Any]] = []

    async def take(self, message: MutableMapping[str, Any]) -> None:
        self.messages.append(message)

    def result(self) -> tuple[int | None, str, str]:
        """Returns the status, content type and body to store. The status is None if a later try may succeed."""
        if not self.messages or self.messages[-1].get("more_body"):
            return None, "", ""
        status = self.messages[0]["status"]
        if status >= 500 or status in NOT_KEPT:
            return None, "", ""
        headers = dict(self.messages[0].get("headers", ()))
        body = b"".join(message.get("body", b"") for message in self.messages[1:])
        return status, headers.get(b"content-type", b"").decode("latin-1"), body.decode("utf-8", "replace")


def _fingerprint(scope: Scope, body: bytes) -> str:
    asked = f"{scope['method']} {scope['path']}?".encode() + scope["query_string"] + b"\n" + body
    return hashlib.sha256(asked).hexdigest()


async def _require_sight(core: ApiCore, user_id: int, groups: Sequence[int]) -> None:
    """Raises `ApiError` (404) if a person no longer sees a group that a stored response may quote."""
    eyes = core.eyes_of(user_id)
    for chat_id in groups:
        if not await sees_now(eyes, Space("group", chat_id=chat_id)):
            raise ApiError(404, "unknown", "This request was carried out in a group whose content you can't see now.")


def _answer_again(row: ApiRequest) -> Response | None:
    """Returns the answer to a request with a known key; None if the request is new."""
    match row.state:
        case "new":
            return None
        case "running":
            wait = "The same request is still being answered. Send it again in a moment."
            return problem(409, "running", wait, {"Retry-After": "1"})
        case "other":
            return problem(422, "key_used", f"This {HEADER} belongs to another request. Use a new one.")
        case "erased":
            done = f"This request was carried out, and something was erased since. To do it again, use a new {HEADER}."
            return problem(409, "erased", done)
    headers = {REPLAYED: "true"} | ({"Content-Type": row.content_type} if row.content_type else {})
    return Response(row.body, row.status, headers)
