"""What open pages hear of: streams of events of the API."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from relay.core.models import Space
from relay.memory.store import Store
from relay.surfaces.http.api import events
from tests.integration.api import open_api
from tests.integration.conftest import Sql
from tests.integration.library import add_version
from tests.integration.turn_driver import ADA, BEN, GROUP, TurnDriver, dm

Json = dict[str, Any]
LATER = f"{datetime.now(UTC).year + 5}-01-02 9:00"


class Following:
    """A stream of events, read from the application itself: the client of these tests waits for whole answers."""

    def __init__(self, api: httpx.AsyncClient) -> None:
        self.got: asyncio.Queue[str] = asyncio.Queue()
        self.left = asyncio.Event()
        self._asked = False
        app = api._transport.app  # type: ignore[attr-defined]
        self.task = asyncio.create_task(app(scope_of(api), self._receive, self._send))

    async def _receive(self) -> Json:
        if self._asked:
            await self.left.wait()
            return {"type": "http.disconnect"}
        self._asked = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def _send(self, message: Json) -> None:
        text = str(message["status"]) if "status" in message else message["body"].decode()
        if text and not text.startswith(":"):
            await self.got.put(text)

    async def hear(self) -> str:
        """The next news."""
        async with asyncio.timeout(10):
            return await self.got.get()

    async def leave(self) -> None:
        self.left.set()
        await asyncio.wait_for(self.task, 10)


def scope_of(api: httpx.AsyncClient) -> Json:
    return {
        "type": "http", "method": "GET", "path": "/api/events", "raw_path": b"/api/events", "query_string": b"",
        "headers": [(b"authorization", api.headers["Authorization"].encode())], "http_version": "1.1",
        "scheme": "http", "server": ("relay", 80), "client": ("127.0.0.1", 1), "root_path": "",
    }  # fmt: skip


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "LOOK_SECONDS", 0.05)


async def test_an_open_page_hears_of_each_change(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.teach(ADA, "Likes tea")
    async with open_api(store) as api:
        page = Following(api)
        assert await page.hear() == "200"
        await asyncio.sleep(0.2)  # it has looked once
        await driver.teach(BEN, "Ben likes tea")
        (change,) = await driver.teach(ADA, "Likes coffee")
        heard = await page.hear()
        assert heard.startswith("event: memory\ndata: {")
        assert json.loads(heard.splitlines()[1].removeprefix("data: "))["at"]
        await api.post(f"/api/changes/{change.id}/undo")
        assert (await page.hear()).startswith("event: memory\n")
        await api.put("/api/memories/settings", json={"on": True, "pausedUntil": f"{LATER[:10]}T00:00:00Z"})
        assert (await page.hear()).startswith("event: memory\n"), "it was paused"
        await api.put("/api/memories/settings", json={"on": True})
        assert (await page.hear()).startswith("event: memory\n"), "it is on again"
        await api.post("/api/reminders", json={"text": f"{LATER} call"})
        assert (await page.hear()).startswith("event: reminder\n")
        await api.put("/api/reminders/quiet", json={"until": LATER})
        assert (await page.hear()).startswith("event: reminder\n"), "it's quiet"
        await sql(
            "insert into standing_intent (space_id, user_id, about, text, status) "
            "select id, %s, 'the garden', 'water it', 'proposed' from space where owner_id = %s", ADA, ADA,
        )  # fmt: skip
        assert (await page.hear()).startswith("event: reminder\n"), "a reminder for when something is mentioned"
        await sql("update standing_intent set status = 'active'")
        assert (await page.hear()).startswith("event: reminder\n"), "it has its OK"
        await sql("update standing_intent set used = 1")
        assert (await page.hear()).startswith("event: reminder\n"), "it was given"
        await sql("update standing_intent set status = 'ended'")
        assert (await page.hear()).startswith("event: reminder\n"), "it's over"
        await api.post("/api/preferences", json={"polarity": "avoid", "pattern": "long answers"})
        assert (await page.hear()).startswith("event: preference\n")
        await page.leave()


@pytest.mark.parametrize(
    ("subject", "begins", "ends"),
    [
        ("reminder", "update space set quiet_until = now() + interval '1 hour'",
         "update space set quiet_until = quiet_until - interval '2 hours'"),
        ("memory", "update space set paused_until = now() + interval '1 hour'",
         "update space set paused_until = paused_until - interval '2 hours'"),
        ("reminder", "insert into standing_intent (space_id, user_id, about, text) "
         "select id, owner_id, 'the garden', 'water it' from space",
         "update standing_intent set expires_at = now() - interval '1 hour'"),
    ],
)  # fmt: skip
async def test_an_open_page_hears_of_what_ends_by_the_clock(
    subject: str, begins: str, ends: str, driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.teach(ADA, "Likes tea")
    (before,) = await store.marks((dm(ADA).space,), ADA)
    await sql(begins)
    (during,) = await store.marks((dm(ADA).space,), ADA)
    assert during != before
    await sql(ends)
    (after,) = await store.marks((dm(ADA).space,), ADA)
    assert after == before, f"the mark of a {subject} doesn't keep a time that is over"


async def test_an_open_page_hears_of_the_groups_that_its_person_is_in(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    inside, asked = {ADA}, list[int]()

    async def sees(space: Space, user_id: int) -> bool:
        if space.kind == "private":
            return space.owner_id == user_id
        asked.append(user_id)
        return user_id in inside

    for who in (ADA, BEN):
        await driver.exchange(who, "hello", chat_id=GROUP)
    async with open_api(store, ADA, sees) as api, open_api(store, BEN, sees) as bens:
        page, other = Following(api), Following(bens)
        assert [await page.hear(), await other.hear()] == ["200"] * 2
        await asyncio.sleep(0.2)
        assert asked == [], "nobody asks Telegram while nothing changes"
        await driver.teach(ADA, "The picnic is on Sunday", chat_id=GROUP)
        assert (await page.hear()).startswith("event: memory\n")
        [(session,)] = await sql("select session_id from thread where chat_id = %s", GROUP)
        await add_version(sql, session, 1)
        assert (await page.hear()).startswith("event: version\n")
        inside.clear()
        await driver.teach(ADA, "The picnic is on Monday", chat_id=GROUP)
        await driver.teach(BEN, "Ben likes tea")
        assert (await other.hear()).startswith("event: memory\n")
        assert (page.got.empty(), other.got.empty()) == (True, True), "a group's news are for its members"
        await page.leave()
        await other.leave()


async def test_few_pages_of_a_person_are_followed_and_all_end_with_the_server(store: Store, sql: Sql) -> None:
    async with open_api(store) as api, open_api(store, BEN) as bens:
        pages = []
        for _ in range(3):  # one after the other, so that the first one is the oldest
            pages.append(Following(api))
            assert await pages[-1].hear() == "200"
        of_ben = Following(bens)
        assert await of_ben.hear() == "200"
        again = Following(api)
        assert await again.hear() == "200"
        assert (await pages[0].hear()).startswith("event: replaced\n"), "the oldest"
        await asyncio.wait_for(pages[0].task, 10)
        assert not pages[1].task.done()
        await sql("delete from api_token where user_id = %s", BEN)
        await asyncio.wait_for(of_ben.task, 10)
        api._transport.app.state.core.streams.close()  # type: ignore[attr-defined]
        for page in (*pages, again):
            await asyncio.wait_for(page.task, 10)
