"""Tests the cache of results: limited per space, least recently used dropped, the model never asked the same twice."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from relay.core.models import ModelRequest, Step
from relay.memory.derivations.derivation import Derivation, Input, make_derivation
from relay.memory.results import get_or_make
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.upkeep.writing import NewSummary
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.memory.writing.summaries import Summariser
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, TurnDriver
from tests.integration.work import summarise_due


@dataclass(frozen=True)
class Text:
    """A result."""

    text: str


def made_of(number: int) -> Derivation:
    return make_derivation("judge", 1, [Input("text", number, f"text {number}")])


async def spaces(driver: TurnDriver, sql: Sql) -> list[int]:
    for user_id in (ADA, BEN):
        await driver.exchange(user_id, "Hello")
    return [space_id for (space_id,) in await sql("select id from space order by id")]


async def test_the_least_recently_used_results_are_dropped_in_their_space_only(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    own, other = await spaces(driver, sql)
    await store.keep_result(other, made_of(0).as_json(), {"text": "other"}, 3)
    for number in range(3):
        await store.keep_result(own, made_of(number).as_json(), {"text": number}, 3)
    assert await store.result(own, made_of(0).hash) == {"text": 0}, "reading must make the result the most recent"
    await store.keep_result(own, made_of(3).as_json(), {"text": 3}, 3)
    found = [await store.result(own, made_of(number).hash) for number in range(4)]
    assert found == [{"text": 0}, None, {"text": 2}, {"text": 3}]
    assert await store.result(other, made_of(0).hash) == {"text": "other"}
    await store.keep_result(own, made_of(9).as_json(), {"text": 9}, 0)
    assert await sql("select count(*) from result where space_id = %s", own) == [(0,)], (
        "a cache of size 0 must keep nothing"
    )


async def test_the_limit_holds_for_concurrent_results(driver: TurnDriver, store: Store, sql: Sql) -> None:
    own, _ = await spaces(driver, sql)
    await asyncio.gather(*(store.keep_result(own, made_of(n).as_json(), {"text": n}, 5) for n in range(20)))
    await store.keep_result(own, made_of(20).as_json(), {"text": 20}, 5)
    assert await sql("select count(*) from result where space_id = %s", own) == [(5,)]


async def test_a_cached_result_is_not_requested_again(driver: TurnDriver, store: Store, sql: Sql) -> None:
    own, other = await spaces(driver, sql)
    calls = 0

    async def make() -> Text:
        nonlocal calls
        calls += 1
        return Text(str(calls))

    assert [await get_or_make(store, own, made_of(1), Text, make) for _ in range(3)] == [Text("1")] * 3
    assert await get_or_make(store, other, made_of(1), Text, make) == Text("2"), "spaces must not share results"


class Says:
    """A small model that counts its answers."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        self.requests.append(request)
        return Step(
            [{"type": "text", "text": f"Summary {len(self.requests)}."}], "end_turn", {"output_tokens": 7}, "small"
        )


async def test_a_summary_written_but_not_stored_is_not_requested_again(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    for number in range(5):
        await driver.exchange(ADA, f"q{number}")
    model = Says()
    summariser = Summariser(store, Gate(model, store), "small")

    class Dies(Store):
        async def store_summary(self, job: ClaimedJob, summary: NewSummary) -> bool:
            raise asyncio.CancelledError

    dying = Summariser(Dies(store._database, store._worker), Gate(model, store), "small")
    with contextlib.suppress(asyncio.CancelledError):
        await summarise_due(dying)
    await sql("update job set lease_owner = null")
    assert await summarise_due(summariser) == 1
    assert len(model.requests) == 1
    ((text, derivation, messages),) = await sql(
        "select text, derivation, (select array_agg(id order by id) from message) from summary"
    )
    assert text == "Summary 1."
    assert derivation["name"] == "summary"
    assert derivation["version"] == "2/small/800"
    assert derivation["inputs"] == [f"message:{number}" for number in messages]
    assert len(derivation["hash"]) == 32
