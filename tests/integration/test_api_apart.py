"""Checks that the API never shows or changes anything of a space that the caller doesn't see."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from relay.core.models import Space
from relay.memory.store import Store
from tests.integration.api import open_api
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, TurnDriver, group, private
from tests.strategies import examples

STRANGER = 1009
"""Has a token, but lost access."""
GROUPS = (-2001, -2002)
WORD = re.compile(r"q[a-p]{6}z")
ENDLESS = ("/api/events", "/api/docs", "/api/openapi.json")
LATEST = 4
"""How many rows of each table are asked for, newest first. Twelve deeds of six kinds make fewer of most."""
DEEDS = ("fact", "group fact", "reminder", "preference", "exchange", "group exchange")
deeds = st.lists(st.tuples(st.sampled_from(DEEDS), st.sampled_from((ADA, BEN)), st.sampled_from(GROUPS)), max_size=12)
memberships = st.fixed_dictionaries({chat_id: st.sets(st.sampled_from((ADA, BEN))) for chat_id in GROUPS})
FOREIGN = {
    "memory": [("PATCH", "/api/memories/{}", {"text": "taken"}), ("DELETE", "/api/memories/{}", None),
               ("POST", "/api/memories/{}/restore", {}), ("POST", "/api/memories/forget", {"ids": ["{}"]})],
    "memory_change": [("POST", "/api/changes/{}/undo", None), ("POST", "/api/changes/{}/discard", None),
                      ("POST", "/api/changes/decide", {"ids": ["{}"], "decision": "undo"})],
    "reminder": [("PATCH", "/api/reminders/{}", {"text": "taken"}), ("DELETE", "/api/reminders/{}", None),
                 ("POST", "/api/reminders/{}/done", None)],
    "preference": [("DELETE", "/api/preferences/{}", None)],
}  # fmt: skip
"""The requests that try to change a row of a table."""


@dataclass
class Ledger:
    """Records which space each word belongs to, and who is in which group."""

    members: dict[int, set[int]]
    spaces: dict[str, Space] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def word(self, space: Space) -> str:
        made = f"q{next(self.numbers):06x}z".translate(str.maketrans("0123456789abcdef", "abcdefghijklmnop"))
        self.spaces[made] = space
        return made

    async def sees(self, space: Space, user_id: int) -> bool:
        return space.owner_id == user_id or user_id in self.members.get(space.chat_id or 0, ())

    async def leaks(self, text: str, user_id: int) -> set[str]:
        """Returns the words in a text that this person may not see."""
        return {
            one for one in WORD.findall(text) if one in self.spaces and not await self.sees(self.spaces[one], user_id)
        }


async def act(
    driver: TurnDriver, api: httpx.AsyncClient, ledger: Ledger, what: str, user_id: int, chat_id: int
) -> None:
    """Does something that stores a new word."""
    in_group = what.startswith("group")
    word = ledger.word(group(chat_id) if in_group else private(user_id))
    where: dict[str, Any] = {"chat_id": chat_id} if in_group else {}
    match what.removeprefix("group "):
        case "fact":
            await driver.teach(user_id, f"Knows {word}", **where)
        case "exchange":
            await driver.exchange(user_id, f"What is {word}?", f"It is {word}.", **where)
        case "reminder":
            assert (await api.post("/api/reminders", json={"text": f"in 2 hours {word}"})).status_code == 201
        case "preference":
            body = {"polarity": "avoid", "pattern": word}
            assert (await api.post("/api/preferences", json=body)).status_code == 201


async def paths(api: httpx.AsyncClient, sql: Sql, ledger: Ledger) -> list[str]:
    """Returns every GET path for the existing ids."""
    ids = {
        name: [str(one) for (one,) in await sql(f"select id from {table} order by id desc limit {LATEST}")]  # noqa: S608
        for name, table in {
            "memory_id": "memory", "change_id": "memory_change", "reminder_id": "reminder", "turn_id": "turn",
            "preference_id": "preference", "space": "space", "session_id": "session", "composition_id": "composition",
        }.items()
    }  # fmt: skip
    ids["project_id"] = [f"t{one}" for (one,) in await sql("select id from thread order by id desc limit %s", LATEST)]
    words = " ".join(list(ledger.spaces)[-3:]) or "tea"
    found = []
    for path, operations in (await api.get("/api/openapi.json")).json()["paths"].items():
        if "get" not in operations or path in ENDLESS:
            continue
        names = re.findall(r"\{(\w+)\}", path)
        for given_ids in itertools.product(*(ids.get(name, ["1", "v001", "p1"]) for name in names)):
            made = path
            for name, value in zip(names, given_ids, strict=True):
                made = made.replace(f"{{{name}}}", value)
            queries = {one["name"] for one in operations["get"].get("parameters", ()) if one["in"] == "query"}
            found.append(f"{made}?q={words}" if "q" in queries and path.endswith("search") else made)
            if "space" in queries:
                found += [f"{made}?space={one}" for one in ids["space"]]
    return found


@pytest.mark.hypothesis
@pytest.mark.timeout(0)
async def test_the_api_never_shows_or_changes_data_of_spaces_the_caller_cannot_see(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    loop = asyncio.get_running_loop()
    numbers = itertools.count()
    seen: set[str] = set()

    async def holds(done: list[tuple[str, int, int]], members: dict[int, set[int]]) -> None:
        ledger = Ledger(members, numbers=numbers)
        async with AsyncExitStack() as stack:
            apis = {
                one: await stack.enter_async_context(open_api(store, one, ledger.sees)) for one in (ADA, BEN, STRANGER)
            }
            for what, user_id, chat_id in done:
                await act(driver, apis[user_id], ledger, what, user_id, chat_id)
            for path in await paths(apis[ADA], sql, ledger):
                for user_id, api in apis.items():
                    answer = await api.get(path)
                    assert answer.status_code < 500, (path, answer.text)
                    assert not (leaked := await ledger.leaks(answer.text, user_id)), (path, user_id, leaked)
                    if user_id == STRANGER and not path.startswith("/calendar/"):
                        assert answer.status_code == 401
                    seen.update(word for word in WORD.findall(answer.text) if word in ledger.spaces)
            for user_id, api in apis.items():
                await meddle(sql, ledger, api, user_id)

    @settings(examples(6), phases=(Phase.explicit, Phase.generate))  # shrinking an example takes minutes
    @given(done=deeds, members=memberships)
    def property_holds(done: list[tuple[str, int, int]], members: dict[int, set[int]]) -> None:
        asyncio.run_coroutine_threadsafe(holds(done, members), loop).result(120)

    await asyncio.to_thread(property_holds)
    assert len(seen) > 10, "people must have seen their own words"


async def meddle(sql: Sql, ledger: Ledger, api: httpx.AsyncClient, user_id: int) -> None:
    """Tries to change rows of spaces that a person doesn't see."""
    spaces = {one: await store_space(sql, one) for (one,) in await sql("select id from space")}
    foreign = [one for one, space in spaces.items() if not await ledger.sees(space, user_id)]
    for table, acts in FOREIGN.items():
        rows = await sql(f"select id from {table} where space_id = any(%s) order by id desc limit 4", foreign)  # noqa: S608
        before = await sql(f"select * from {table} where space_id = any(%s) order by id", foreign)  # noqa: S608
        for (number,) in rows:
            for method, path, body in acts:
                filled = {key: [str(number)] if value == ["{}"] else value for key, value in (body or {}).items()}
                answer = await api.request(method, path.format(number), json=None if body is None else filled)
                assert answer.status_code == (401 if user_id == STRANGER else 404), (method, path, answer.text)
                assert not await ledger.leaks(answer.text, user_id)
        assert await sql(f"select * from {table} where space_id = any(%s) order by id", foreign) == before  # noqa: S608


async def store_space(sql: Sql, space_id: int) -> Space:
    ((kind, owner_id, chat_id),) = await sql("select kind, owner_id, chat_id from space where id = %s", space_id)
    return Space(kind, owner_id, chat_id)
