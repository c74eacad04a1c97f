"""Checks that nothing on the way to a reply reads a whole table, however large it is. Looks at the plans of the
statements inside the functions, in a database of 10,000 messages in 20 spaces."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import psycopg
import pytest
from psycopg.types.json import Jsonb

from relay.core.models import Space
from relay.memory.rows.delivery import Message
from relay.memory.rows.memories import MemoryFilter
from relay.memory.rows.search import SearchQuery
from relay.memory.rows.upkeep.judging import Comparison
from relay.memory.store import Store
from tests.benchmarks.crowd import FIRST_USER
from tests.benchmarks.generated import Size, fill
from tests.benchmarks.scale import BOT, Turns
from tests.integration.conftest import TEMPLATE, Server
from tests.integration.work import claim_judging, claim_summaries, written
from tests.judging import learned, result_of
from tests.plans import Plans, plans

SIZE = Size(messages=10_000, memories=2_000, threads=100, spaces=20, largest=1_000)
LARGEST = Space("private", owner_id=FIRST_USER)
FEW = {
    "duty": "a row for each process and job",
    "erasure": "those that are under way",
    "incident": "what admins were told",
    "move": "one row",
    "soul": "the versions of one text",
    "soul_draft": "those versions before they were",
}
"""Tables that don't grow with use and may be read as a whole."""
KEEPS = "Ada keeps 3 bees"
LEARN = {"action": "learn", "kind": "fact", "subject_id": FIRST_USER, "subject": "Ada", "content": KEEPS,
         "importance": 5, "tags": [], "derivation": {}}  # fmt: skip
MODES = ["auto", "force_generic_plan"]


@pytest.fixture(scope="module")
def grown(embedded: Server) -> Iterator[str]:
    """The superuser's URL of a database with many messages."""
    name = embedded.create(TEMPLATE)
    url = embedded.url(name, superuser=True)
    fill(url, SIZE)
    yield url
    embedded.drop(name)


@asynccontextmanager
async def watched(url: str, mode: str = "auto") -> AsyncIterator[tuple[Plans, Turns]]:
    """Yields turns whose plans are recorded. A table is only scanned if no index fits."""
    async with plans(url, enable_seqscan="off", plan_cache_mode=mode) as told:
        yield told, Turns(Store(told.database, str(uuid.uuid4())), url)


def from_end_to_end(url: str, told: Plans) -> dict[str, str]:
    """Returns the growing tables of which much more was read than the largest space has (a tenth), by a scan or along
    an index, each with how it was read."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "select relname, reltuples from pg_class where relnamespace = 'relay'::regnamespace and relkind = 'r'"
        ).fetchall()
    read = told.read()
    whole = {name: f"{read[name]} rows" for name, rows in rows if rows > 500 and read.get(name, 0) > rows / 7}
    return {name: how for name, how in {**whole, **told.scans()}.items() if name not in FEW}


@pytest.mark.parametrize("mode", MODES)
async def test_a_turn_scans_no_growing_table(grown: str, mode: str) -> None:
    async with watched(grown, mode) as (told, turns):
        for _ in range(3):
            await turns.turn(FIRST_USER)
            await turns.turn(FIRST_USER + 7)
        assert from_end_to_end(grown, told) == {}
        assert {"message", "turn", "inbox", "memory", "entry", "lane"} <= set(told.read()), (
            "the plans must have been seen"
        )


async def test_a_prompt_reads_only_the_memories_it_contains(grown: str) -> None:
    async with plans(grown) as told:
        await told.connection.execute("select relay.memories_for_prompt(1, 2000)")
        assert 5 < told.read()["memory"] < 80, "only some of the 200 memories may be read"


@pytest.mark.parametrize("mode", MODES)
async def test_the_work_after_a_turn_scans_no_growing_table(grown: str, mode: str) -> None:
    async with watched(grown, mode) as (told, turns):
        store = turns.store
        for _ in range(5):
            await turns.turn(FIRST_USER + 3, [LEARN, {"action": "forget", "content": "bees"}])
        due, *_ = await claim_judging(store, 4)
        one = due.work
        await store.near_memories(one.space_id, [Comparison(KEEPS, "fact", FIRST_USER, "Ada")], 5)
        finding = learned("Ada has sold her car", one.messages[0].id, subject_id=FIRST_USER, subject="Ada")
        assert await store.store_judged(due.job, replace(result_of(one, finding), again_seconds=60))
        await store.announcement(1)
        await store.enqueue(BOT, [Message(chat_id=FIRST_USER, user_id=FIRST_USER, text="x")])
        for owed in await claim_summaries(store, 4):
            assert await store.store_summary(owed.job, written(owed, "Much was said."))
        await store.claim(BOT, 8, [])
        assert from_end_to_end(grown, told) == {}
        assert {"judging", "memory_change", "job", "summary"} <= set(told.read()), "the plans must have been seen"


async def test_memory_pages_and_a_search_scan_no_growing_table(grown: str) -> None:
    async with watched(grown) as (told, turns):
        await turns.store.memories(LARGEST, 0, 8)
        await turns.store.memories(LARGEST, 190, 8, MemoryFilter(words="submarine"))
        await turns.store.history(LARGEST, False, 0, 8, FIRST_USER, True)
        await turns.store.history(LARGEST, True, 0, 8, FIRST_USER, True)
        assert await turns.store.find(LARGEST, BOT, SearchQuery(turns.texts[0][:60]), 0, 6)
        await turns.store.marks([LARGEST], FIRST_USER)
        assert from_end_to_end(grown, told) == {}
        assert {"memory", "memory_change", "entry"} <= set(told.read()), "the plans must have been seen"


@pytest.mark.parametrize(
    ("chosen", "most"), [('{"words": "submarine"}', 0), ('{"words": "likes"}', 21), ('{"unconfirmed": true}', 21)]
)
async def test_a_list_of_memories_reads_only_what_it_shows(grown: str, chosen: str, most: int) -> None:
    async with watched(grown) as (told, _):
        await told.connection.execute("select relay.chosen_memories(1, %s, 0, 20)", [chosen])
        assert told.read()["memory"] <= most, "of 200"


async def test_changes_of_many_rows_need_few_statements(grown: str) -> None:
    async with watched(grown) as (told, turns):
        assert (await turns.store.night_ahead()).spaces == SIZE.spaces
        assert len(told.told) < 6 * SIZE.spaces, "the statements must depend on the spaces, not on the memories"
        told.told.clear()
        owner = FIRST_USER + 5
        space = Space("private", owner_id=owner)
        forget = "select relay.forget_next(relay.find_space(%s), %s, 0, 9223372036854775807)"
        await told.connection.execute(forget, [Jsonb(space.as_json()), owner])
        assert sum("delete from entry" in one["Query Text"] for one in told.told) == 1, (
            "the entries must be deleted in one statement"
        )


@pytest.mark.parametrize(
    ("index", "table"),
    [("message_thread", "message"), ("inbox_pending", "inbox"), ("entry_words", "entry"), ("turn_open", "turn")],
)
async def test_a_missing_index_is_detected(grown: str, index: str, table: str) -> None:
    with psycopg.connect(grown, autocommit=True) as connection:
        (definition,) = (
            connection.execute(f"select pg_get_indexdef('relay.{index}'::regclass)".encode()).fetchone() or ()
        )
        connection.execute(f"drop index relay.{index}".encode())
        try:
            async with watched(grown) as (told, turns):
                await turns.turn(FIRST_USER + 11)
                assert table in from_end_to_end(grown, told)
        finally:
            connection.execute(definition.encode())
