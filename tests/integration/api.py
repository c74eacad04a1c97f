"""Opens the API over a store, as a client sees it."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
from fastapi import FastAPI

from relay.commands.context import Services
from relay.core.models import Space
from relay.memory.calls.people import hash_token
from relay.memory.people import People
from relay.memory.store import Store
from relay.surfaces.http.app import make_app
from relay.surfaces.http.caller import ApiCore
from relay.surfaces.http.rate import RateLimiter
from tests.integration.turn_driver import ADA, BEN, BOT, a_house

APPS: list[FastAPI] = []
"""Applications that nobody uses. A new one takes 13 ms, and 30 ms more for the first request of each path; apart from
its core, it has no state."""

Sees = Callable[[Space, int], Awaitable[bool]]


async def sees_own(space: Space, user_id: int) -> bool:
    """Returns whether the space is the person's own. Nobody is in a group."""
    return space.owner_id == user_id


def eyes_of_own(user_id: int) -> Callable[[Space], Awaitable[bool]]:
    """Returns the access check of a person who is in no group."""
    return lambda space: sees_own(space, user_id)


@asynccontextmanager
async def open_api(
    store: Store, user_id: int = ADA, sees: Sees = sees_own, services: Services | None = None, bot_id: int = BOT.id
) -> AsyncIterator[httpx.AsyncClient]:
    """Yields a client signed in as a person. `sees`: which spaces they see. `services`: of another installation."""
    token = secrets.token_urlsafe(32)
    await store.store_api_token(user_id, "token", "test", hash_token(token), None)
    services = services or replace(a_house(store), people=People(frozenset({ADA}), frozenset({BEN})))
    core = ApiCore(
        services,
        bot_id,
        "1:secret",
        lambda user_id: lambda space: sees(space, user_id),
        lambda kinds: None,
        RateLimiter(100_000),
        calendar_rate=RateLimiter(clock=lambda: 0.0),  # on a slow machine, it would refill as fast as it is used
    )
    app = APPS.pop() if APPS else make_app(core)
    app.state.core = core
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://relay", headers=headers) as client:
        yield client
    APPS.append(app)


async def fails(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Checks that an answer is a problem document, and returns it."""
    told: dict[str, Any] = answer.json()
    assert (answer.status_code, told["code"]) == (status, code), told
    assert answer.headers["content-type"] == "application/problem+json"
    assert told["detail"]
    return told


async def refused(request: Awaitable[httpx.Response], status: int, code: str, detail: str = "") -> None:
    """Sends a request and checks that it fails with this error. `detail`: a part of the error's sentence."""
    assert detail in (await fails(await request, status, code))["detail"]
