"""Tests vectors with a new length: from another model, or from a model that replaced the old one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from relay.core.models import Incoming
from relay.memory.calls.memory.search import vector_text
from relay.memory.index import EmbedderRouter, Indexer
from relay.memory.rows.upkeep.embedding import MadeVector
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, TurnDriver

BEECH = "My bicycle stands under the copper beech"
WHERE = "In which place do I keep my velocipede?"
MEANT = ("bicycle", "velocipede")


class Sized:
    """An embedder with vectors of a given length. To it, a bicycle and a velocipede are the same."""

    def __init__(self, model: str, dimensions: int) -> None:
        self.model, self.dimensions = model, dimensions

    def vector(self, text: str) -> list[float]:
        place = 0 if any(word in text for word in MEANT) else 1 + len(text) % 7
        return [float(number == place) for number in range(self.dimensions)]

    async def embed(self, texts: Sequence[str], query: bool = False) -> list[list[float]]:
        return [self.vector(text) for text in texts]

    async def preload(self) -> None:
        """Does nothing."""

    async def close(self) -> None:
        """Does nothing."""


@pytest.fixture
async def told(driver: TurnDriver) -> Incoming:
    """A person has said where the bicycle is. Returns their next message, in another topic."""
    await driver.exchange(ADA, BEECH, "Noted.")
    for number in range(8):
        await driver.exchange(ADA, f"Tell me about river number {number}", f"It is {number} miles long.")
    done = await driver.exchange(ADA, "Good evening", "Good evening.", topic_id=7)
    return replace(done.incoming, text=WHERE)


async def found(store: Store, incoming: Incoming, asked: Sized) -> str:
    """Returns the first result of the model's search."""
    asker = {"bot_id": incoming.bot_id, "chat_id": incoming.chat_id, "topic_id": incoming.topic_id}
    query = {"text": incoming.text, "vector": vector_text(asked.vector(incoming.text)), "model": asked.model}
    rows = await store.look_up(incoming.space, {**asker, "turn_id": incoming.turn_id}, query, 5)
    return str(rows[0].snippet) if rows else ""


def makes(store: Store, embedder: Sized, other: Sized | None = None) -> Indexer:
    """Returns an indexer that uses these embedders."""
    return Indexer(store, EmbedderRouter(embedder, lambda model: other if other and model == other.model else None))


async def lengths(sql: Sql) -> list[Any]:
    return [length for (length,) in await sql("select distinct vector_dims(vector) from embedding order by 1")]


@pytest.mark.parametrize(("first", "then"), [(384, 768), (1024, 384)])
async def test_a_model_with_other_dimensions_takes_over_when_its_vectors_are_ready(
    store: Store, sql: Sql, told: Incoming, first: int, then: int
) -> None:
    old, new = Sized("fastembed:old", first), Sized("fastembed:new", then)
    await makes(store, old).run()
    assert await found(store, told, old) == BEECH
    await store.embed_again(new.model, 3)
    taken = await store.take_embed_due(3, 60)
    rows = [MadeVector(row.entry_id, row.since, row.hash, vector_text(new.vector(row.text))) for row in taken]
    await store.store_embeddings(new.model, rows)
    assert await lengths(sql) == sorted((first, then)), "vectors of both models must exist for a while"
    for asked in (old, new):
        await found(store, told, asked)  # vectors of different lengths are never compared
    await makes(store, new, old).run()
    assert await lengths(sql) == [then]
    assert await found(store, told, new) == BEECH
    assert await found(store, told, old) != BEECH


async def test_a_replaced_model_of_the_same_name_works_after_a_rebuild(store: Store, sql: Sql, told: Incoming) -> None:
    """This happens when the files in a model's folder are replaced."""
    old, new = Sized("fastembed:/models/mine", 384), Sized("fastembed:/models/mine", 512)
    await makes(store, old).run()
    assert await found(store, told, new) != BEECH
    by_words = await found(store, replace(told, text="Where does my bicycle stand?"), new)
    assert by_words == BEECH
    assert await store.embed_everything(100, start=True) > 0
    await makes(store, new).run()
    assert await lengths(sql) == [512]
    assert await found(store, told, new) == BEECH
