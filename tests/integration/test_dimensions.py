"""Vectors of another length than before: another model, or another in the place of the old one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from relay.core.models import Incoming
from relay.memory.calls.memory.search import vector_text
from relay.memory.indexing import EmbedderRouter, Indexer
from relay.memory.rows.upkeep.embedding import MadeVector
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.house import ADA, House

BEECH = "My bicycle stands under the copper beech"
WHERE = "In which place do I keep my velocipede?"
MEANT = ("bicycle", "velocipede")


class Sized:
    """An embedder of vectors of a length, to which a bicycle and a velocipede are the same."""

    def __init__(self, model: str, dimensions: int) -> None:
        self.model, self.dimensions = model, dimensions

    def vector(self, text: str) -> list[float]:
        place = 0 if any(word in text for word in MEANT) else 1 + len(text) % 7
        return [float(number == place) for number in range(self.dimensions)]

    async def embed(self, texts: Sequence[str], query: bool = False) -> list[list[float]]:
        return [self.vector(text) for text in texts]

    async def preload(self) -> None:
        """It is there."""

    async def close(self) -> None:
        """Nothing is held."""


@pytest.fixture
async def told(house: House) -> Incoming:
    """Somebody has told where the bicycle stands; what they say next, elsewhere."""
    await house.exchange(ADA, BEECH, "Noted.")
    for number in range(8):
        await house.exchange(ADA, f"Tell me about river number {number}", f"It is {number} miles long.")
    done = await house.exchange(ADA, "Good evening", "Good evening.", topic_id=7)
    return replace(done.incoming, text=WHERE)


async def found(store: Store, incoming: Incoming, asked: Sized) -> str:
    """What comes first when the model looks something up."""
    asker = {"bot_id": incoming.bot_id, "chat_id": incoming.chat_id, "topic_id": incoming.topic_id}
    query = {"text": incoming.text, "vector": vector_text(asked.vector(incoming.text)), "model": asked.model}
    rows = await store.look_up(incoming.space, {**asker, "turn_id": incoming.turn_id}, query, 5)
    return str(rows[0].snippet) if rows else ""


def makes(store: Store, embedder: Sized, other: Sized | None = None) -> Indexer:
    """What makes its vectors."""
    return Indexer(store, EmbedderRouter(embedder, lambda model: other if other and model == other.model else None))


async def lengths(sql: Sql) -> list[Any]:
    return [length for (length,) in await sql("select distinct vector_dims(vector) from embedding order by 1")]


@pytest.mark.parametrize(("first", "then"), [(384, 768), (1024, 384)])
async def test_a_model_of_other_dimensions_takes_over_and_the_old_serves_until_then(
    store: Store, sql: Sql, told: Incoming, first: int, then: int
) -> None:
    old, new = Sized("fastembed:old", first), Sized("fastembed:new", then)
    await makes(store, old).run()
    assert await found(store, told, old) == BEECH
    await store.embed_again(new.model, 3)
    taken = await store.take_embed_due(3, 60)
    rows = [MadeVector(row.entry_id, row.since, row.hash, vector_text(new.vector(row.text))) for row in taken]
    await store.store_embeddings(new.model, rows)
    assert await lengths(sql) == sorted((first, then)), "both are there for a while"
    for asked in (old, new):
        await found(store, told, asked)  # none of them is compared with one of another length
    await makes(store, new, old).run()
    assert await lengths(sql) == [then]
    assert await found(store, told, new) == BEECH
    assert await found(store, told, old) != BEECH


async def test_another_model_under_the_same_name_breaks_nothing_and_a_rebuild_heals_it(
    store: Store, sql: Sql, told: Incoming
) -> None:
    """As when the files in a folder are exchanged."""
    old, new = Sized("fastembed:/models/mine", 384), Sized("fastembed:/models/mine", 512)
    await makes(store, old).run()
    assert await found(store, told, new) != BEECH
    by_words = await found(store, replace(told, text="Where does my bicycle stand?"), new)
    assert by_words == BEECH
    assert await store.embed_everything(100, start=True) > 0
    await makes(store, new).run()
    assert await lengths(sql) == [512]
    assert await found(store, told, new) == BEECH
