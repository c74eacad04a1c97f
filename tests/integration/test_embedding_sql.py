"""Tests the vectors of stored texts: each is made once, from the current text, with the model of the settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import pytest

from relay.core.errors import EmbedderUnavailable
from relay.memory import index
from relay.memory.calls.memory.search import vector_text
from relay.memory.index import BATCH, REMEMBERED, EmbedderRouter, Indexer, enter, keep_fresh
from relay.memory.rows.upkeep.embedding import EmbedTask, MadeVector
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, TurnDriver

Json = dict[str, Any]
ONE = vector_text([1.0, *[0.0] * 383])


class Embedding:
    """An embedder whose vectors are all ones. `died_of`: a text on which it fails."""

    def __init__(self, model: str = "mine", died_of: str = "") -> None:
        self.model = model
        self.died_of = died_of
        self.texts: list[str] = []
        self.queries: list[str] = []
        self.away = self.closed = False

    async def embed(self, texts: Sequence[str], query: bool = False) -> list[list[float]]:
        if self.away or (self.died_of and any(self.died_of in text for text in texts)):
            raise EmbedderUnavailable
        self.texts += texts
        self.queries += texts if query else []
        return [[1.0, *[0.0] * 383] for _ in texts]

    async def preload(self) -> None:
        """Does nothing."""

    async def close(self) -> None:
        self.closed = True


def asked(embedder: Embedding, *others: Embedding) -> EmbedderRouter:
    return EmbedderRouter(embedder, lambda model: next((one for one in others if one.model == model), None))


def stored(rows: list[EmbedTask], vector: str | None = ONE) -> list[MadeVector]:
    """Returns vectors for the claimed texts."""
    return [MadeVector(row.entry_id, row.since, row.hash, vector) for row in rows]


async def texts_of(sql: Sql, model: str) -> set[str]:
    """Returns the texts that have a vector of this model."""
    rows = await sql(
        "select relay.entry_text(e) from embedding m join entry e on e.id = m.entry_id where model = %s", model
    )
    return {text for (text,) in rows}


async def test_the_newest_texts_are_claimed_first_and_by_one_process(
    driver: TurnDriver, store: Store, another: Callable[[], Store]
) -> None:
    for number in range(3):
        await driver.exchange(ADA, f"question {number}", f"answer {number}")
    first = await store.take_embed_due(2, 60)
    second = await another().take_embed_due(100, 60)
    assert [row.text for row in [*first, *second]] == [
        f"{word} {number}" for number in (2, 1, 0) for word in ("answer", "question")
    ]
    assert await store.take_embed_due(100, 60) == []
    assert await store.store_embeddings("mine", stored(first)) == 2
    assert asdict(await store.embedding_status("mine")).items() >= {"entries": 6, "embedded": 2, "due": 4}.items()
    await store.return_embed_due([row.entry_id for row in second])
    assert len(await store.take_embed_due(100, 60)) == 4


async def test_texts_of_a_dead_process_are_retried_after_growing_delays(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(ADA, "question", "answer")
    for times in range(3):
        assert len(await store.take_embed_due(10, 60)) == 2
        await sql("update embed_due set leased_until = leased_until - %s * interval '1 second'", 60 * 2**times - 5)
        assert await store.take_embed_due(10, 60) == []
        await sql("update embed_due set leased_until = leased_until - interval '6 seconds'")


async def test_no_vector_is_stored_for_an_outdated_text(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "old words", "answer")
    taken = await store.take_embed_due(10, 60)
    await sql("update message set text = 'new words' where text = 'old words'")
    assert await store.store_embeddings("mine", stored(taken)) == 1
    assert await texts_of(sql, "mine") == {"answer"}
    [again] = await store.take_embed_due(10, 60)
    assert again.text == "new words"


async def test_a_changed_text_loses_the_vector_of_its_former_words(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "my secret is a cellar", "answer")
    await store.store_embeddings("mine", stored(await store.take_embed_due(10, 60)))
    await sql("update message set name = 'Ada L.' where role = 'user'")
    assert await texts_of(sql, "mine") == {"my secret is a cellar", "answer"}, "the words are the same"
    await sql("update message set text = 'my secret is gone' where role = 'user'")
    assert await texts_of(sql, "mine") == {"answer"}
    assert [row.text for row in await store.take_embed_due(10, 60)] == ["my secret is gone"]


async def test_a_text_enqueued_again_meanwhile_stays_due(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "question", "answer")
    taken = await store.take_embed_due(10, 60)
    await sql("update embed_due set since = since + interval '1 second'")
    assert await store.store_embeddings("mine", stored(taken)) == 2
    assert (await store.embedding_status("mine")).due == 2


async def test_a_deleted_entry_loses_its_vector(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "question", "answer")
    taken = await store.take_embed_due(10, 60)
    await sql("delete from entry where id = %s", taken[0].entry_id)
    assert await store.store_embeddings("mine", stored(taken)) == 1
    await sql("delete from entry")
    assert (await store.embedding_status("mine")).embedded == 0


async def test_every_due_text_gets_a_vector(driver: TurnDriver, store: Store, sql: Sql) -> None:
    for number in range(BATCH):
        await driver.exchange(ADA, f"question {number}", f"answer {number}")
    await sql("update message set text = '  ' where text = 'answer 3'")
    embedder = Embedding()
    indexer = Indexer(store, asked(embedder))
    assert await indexer.run() == 2 * BATCH - 1
    assert "answer 3" not in embedder.texts
    assert asdict(await store.embedding_status("mine")).items() >= {"embedded": 2 * BATCH - 1, "due": 0}.items()
    assert await indexer.run() == 0


async def test_texts_missing_from_the_index_get_vectors(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "question", "answer")
    await sql("delete from entry")
    await sql("delete from index_progress")
    indexer = Indexer(store, asked(Embedding()))
    assert await indexer.run() == 0
    assert await enter(store) == 2
    assert await indexer.run() == 2


async def test_a_text_that_crashes_the_embedder_does_not_block_others(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    for text in ("one", "poison", "two"):
        await driver.exchange(ADA, text, f"re {text}")
    await Indexer(store, asked(Embedding(died_of="poison"))).run()
    assert await texts_of(sql, "mine") == {"one", "two", "re one", "re two"}
    assert (await store.embedding_status("mine")).due == 2
    assert await store.take_embed_due(10, 60) == []


async def test_a_text_in_a_killed_embedder_is_retried_immediately(
    driver: TurnDriver, store: Store, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It doesn't count as a text on which the embedder dies. Those are only tried again after a minute."""
    await driver.exchange(ADA, "the one", "an answer")
    await sql("delete from embed_due where entry_id not in (select id from entry e where entry_text(e) = 'the one')")
    embedder = Embedding()
    embed = embedder.embed

    async def killed(texts: Sequence[str], query: bool = False) -> list[list[float]]:
        monkeypatch.setattr(embedder, "embed", embed)
        raise EmbedderUnavailable

    monkeypatch.setattr(embedder, "embed", killed)
    assert await Indexer(store, asked(embedder)).run() == 1
    assert await texts_of(sql, "mine") == {"the one"}


async def test_texts_stay_due_while_the_embedder_is_unavailable(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "question", "answer")
    embedder = Embedding()
    embedder.away = True
    with pytest.raises(EmbedderUnavailable):
        await Indexer(store, asked(embedder)).run()
    embedder.away = False
    assert await Indexer(store, asked(embedder)).run() == 2


async def test_a_new_model_rebuilds_all_vectors_while_the_old_one_serves(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    for number in range(10):
        await driver.exchange(ADA, f"question {number}", f"answer {number}")
    old, new = Embedding("old"), Embedding("new")
    await Indexer(store, asked(old)).run()
    both = asked(new, old)
    indexer = Indexer(store, both)
    await indexer.choose_model()
    assert both.model == "old", "most vectors belong to the old model"
    await both.embed(["a question"], query=True)
    assert old.texts[-1] == "a question"
    assert await store.embed_again("new", 4) == 4
    await driver.exchange(ADA, "something new", "answer new")
    assert (await store.take_embed_due(1, 0))[0].text == "answer new", "new texts must come first"
    await sql("update embed_due set leased_until = null")
    assert await indexer.run() == 22
    assert both.model == "new"
    assert old.closed
    assert not new.closed
    assert (
        asdict(await store.embedding_status("new")).items() >= {"embedded": 22, "of_other_models": 0, "due": 0}.items()
    )


async def test_queries_use_the_new_model_if_the_old_one_is_gone(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "question", "answer")
    await Indexer(store, asked(Embedding("old"))).run()
    new = asked(Embedding("new"))
    await Indexer(store, new).choose_model()
    assert (await store.embedding_status("new")).serves == "old"
    assert new.model == "new"


async def test_an_interrupted_rebuild_continues_where_it_stopped(driver: TurnDriver, store: Store, sql: Sql) -> None:
    for number in range(3):
        await driver.exchange(ADA, f"question {number}", f"answer {number}")
    await Indexer(store, asked(Embedding())).run()
    assert await store.embed_everything(100) == 0, "no rebuild was requested"
    assert await store.embed_everything(4, start=True) == 4
    assert (await store.embedding_status("mine")).rebuilding
    assert await store.embed_everything(4, start=True) == 2, "the rebuild is already running"
    assert await store.embed_everything(4) == 0
    assert await store.store_embeddings("mine", stored(await store.take_embed_due(4, 60))) == 4
    assert await store.embed_everything(4, start=True) == 0, "the entries that are due still belong to this rebuild"
    assert (
        asdict(await store.embedding_status("mine")).items() >= {"due": 2, "embedded": 6, "rebuilding": False}.items()
    )


async def test_new_texts_are_embedded_soon_after_an_embedder_failure(
    driver: TurnDriver, store: Store, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.memory.index.TROUBLE_SECONDS", 0.01)
    embedder = Embedding()
    embedder.away = True
    await driver.exchange(ADA, "question", "answer")
    working = asyncio.create_task(keep_fresh(Indexer(store, asked(embedder)), look_seconds=0.01))
    await asyncio.sleep(0.1)
    embedder.away = False
    async with asyncio.timeout(30):
        while await texts_of(sql, "mine") != {"question", "answer"}:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)


async def test_a_short_message_is_embedded_once_for_its_turn_and_the_index(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    question, long = "where did we park?", "and then " * 10 + "we parked"
    await driver.exchange(ADA, question, "by the harbour")
    await driver.exchange(ADA, long, "noted")
    embedder = Embedding()
    both = asked(embedder)
    await asyncio.gather(both.embed([question], query=True), both.embed([question], query=True))
    await Indexer(store, both).run()
    assert embedder.queries == [question]
    assert sorted(embedder.texts) == sorted([question, "by the harbour", long, "noted"])
    assert await texts_of(sql, "mine") == set(embedder.texts)


async def test_a_failed_query_is_tried_again() -> None:
    embedder = Embedding()
    both = asked(embedder)
    embedder.away = True
    with pytest.raises(EmbedderUnavailable):
        await both.embed(["where?"], query=True)
    embedder.away = False
    assert len(await both.embed(["where?"], query=True)) == 1


async def test_the_number_of_cached_queries_is_limited() -> None:
    embedder = Embedding()
    both = asked(embedder)
    for number in range(REMEMBERED + 1):
        await both.embed([f"query {number}"], query=True)
    await both.embed(["query 1"], query=True)
    assert len(embedder.queries) == REMEMBERED + 1
    await both.embed(["query 0"], query=True)
    assert embedder.queries[-1] == "query 0"


async def test_indexing_waits_for_answers_but_not_forever(
    driver: TurnDriver, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "QUIET_SECONDS", 0.05)
    await driver.exchange(ADA, "question", "answer")
    answering = True
    embedder = Embedding()
    work = asyncio.create_task(Indexer(store, asked(embedder), answering=lambda: answering).run())
    await asyncio.sleep(0.2)
    assert embedder.texts == []
    answering = False
    assert await work == 2
    await driver.exchange(ADA, "another question", "another answer")
    answering = True
    monkeypatch.setattr(index, "PATIENCE_SECONDS", 0.1)
    assert await Indexer(store, asked(embedder), answering=lambda: answering).run() == 2
