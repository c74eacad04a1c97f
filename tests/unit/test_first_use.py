"""Tests that the API is made for its first request, once, and not before."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
from fastapi import FastAPI

from relay.surfaces.server.web import FirstUse


class Streams:
    """Open event streams."""

    closed = False

    def close(self) -> None:
        self.closed = True


class Core:
    """The part of the API's core that is needed to stop."""

    def __init__(self) -> None:
        self.streams = Streams()


def api_of(made: list[FastAPI], begun: asyncio.Event | None = None) -> FirstUse:
    """Returns an API that notes how often it is made. With `begun`, it is never ready."""

    async def make() -> FastAPI:
        if begun is not None:
            begun.set()
            await asyncio.Event().wait()
        app = FastAPI()
        app.state.core = Core()
        app.get("/api/me")(lambda: "Ada")
        made.append(app)
        await asyncio.sleep(0.01)
        return app

    return FirstUse(make)


def client_of(api: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(api), base_url="http://relay")


async def test_two_first_requests_make_the_api_once() -> None:
    made: list[FastAPI] = []
    api = api_of(made)
    api.close()
    assert made == []
    async with client_of(api) as client:
        answers = await asyncio.gather(client.get("/api/me"), client.get("/api/me"))
    assert [answer.json() for answer in answers] == ["Ada", "Ada"]
    assert len(made) == 1
    api.close()
    assert made[0].state.core.streams.closed


async def test_a_stop_while_the_api_is_made_ends_the_request() -> None:
    begun = asyncio.Event()
    api = api_of([], begun)
    async with client_of(api) as client:
        asking = asyncio.create_task(client.get("/api/me"))
        await begun.wait()
        api.close()
        [outcome] = await asyncio.gather(asking, return_exceptions=True)
    assert isinstance(outcome, asyncio.CancelledError)
