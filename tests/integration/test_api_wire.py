"""What requests cost those who share the server, over real connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest

from relay.memory.store import Store
from relay.surfaces.http.rate import RateLimiter
from relay.surfaces.http.streams import MOST
from tests.integration.conftest import Sql
from tests.integration.test_api_access import Api, serving
from tests.integration.test_api_rest import rows
from tests.integration.turn_driver import ADA, BEN, TurnDriver

UNLIMITED = httpx.Limits(max_connections=None)
MALFORMED = ("{", "[]", "7", '"text"', "\x00", '{"unknown": {}}')
OPEN = "/api/memory/settings"
"""Its command reads which settings are given."""


@pytest.fixture
async def api(driver: TurnDriver, store: Store) -> AsyncIterator[Api]:
    async with serving(store, rate=RateLimiter(100_000)) as api:
        yield api


@pytest.mark.slow("the refusals in tests/integration/test_api*.py")
async def test_a_malformed_write_leaves_nothing(api: Api, sql: Sql) -> None:
    headers = await api.token_of(BEN) | {"Content-Type": "application/json"}
    document = (await api.client.get("/api/openapi.json", headers=headers)).json()
    before, refused = await rows(sql), 0
    for path, method, operation in operations(document):
        if "requestBody" in operation:
            for body in MALFORMED[: -1 if path == OPEN else None]:
                answer = await api.client.request(method, filled(path, "1"), headers=headers, content=body)
                assert answer.status_code in (400, 404, 422, 409), (method, path, body, answer.text)
                refused += answer.status_code in (400, 422)
                assert await rows(sql) == before, (method, path, body)
        elif "{" in path:
            answer = await api.client.request(method, filled(path, "-"), headers=headers)
            assert answer.status_code == 400, (method, path, answer.text)
            assert await rows(sql) == before, (method, path)
    assert refused > 100


async def test_a_setting_whose_name_cannot_be_encoded_is_refused(api: Api) -> None:
    headers = await api.token_of(BEN) | {"Content-Type": "application/json"}
    answer = await api.client.put(OPEN, headers=headers, content=r'{"\ud800": {}}')
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"]


async def test_many_open_pages_leave_a_person_and_others_their_requests(api: Api) -> None:
    headers = await api.token_of(BEN)
    async with httpx.AsyncClient(base_url=api.client.base_url, limits=UNLIMITED) as browser, AsyncExitStack() as tabs:
        pages = [
            await tabs.enter_async_context(browser.stream("GET", "/api/events", headers=headers)) for _ in range(30)
        ]
        assert {page.status_code for page in pages} == {200}
        async with asyncio.timeout(10):
            ends = await asyncio.gather(*(page.aread() for page in pages[:-MOST]))
        assert all(end.count(b"event: replaced") == 1 for end in ends), "the older ones"
        async with httpx.AsyncClient(base_url=api.client.base_url) as other:
            assert (await other.get("/api/me", headers=headers)).status_code == 200
            assert (await other.get("/api/me", headers=await api.token_of(ADA))).status_code == 200
        api.core.streams.close()
        async with asyncio.timeout(10):
            rest = [await page.aread() for page in pages[-MOST:]]
        assert not any(b"replaced" in end for end in rest), "the newest ones stood until the server ended them"


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """What the document says can be written: path, method, operation."""
    return [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in ("post", "put", "patch", "delete")
    ]


def filled(path: str, value: str) -> str:
    """The path with this value for each of its parameters."""
    return "/".join(value if step.startswith("{") else step for step in path.split("/"))
