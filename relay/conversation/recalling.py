"""What a message brings up: what was said and learned before, and standing intents that it means in other words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import structlog

from relay.conversation.engine import Engine
from relay.core import metrics
from relay.core.errors import DatabaseError
from relay.core.frozen import frozen
from relay.core.models import Incoming
from relay.memory.contexts.markers import remove_markers
from relay.memory.query_vectors import EmbeddedQuery, embed_query
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.turns.context import Context

log = structlog.get_logger()

VECTOR_SECONDS = 0.025
"""How many seconds recall waits for a message's vector before it uses words only."""
INTENT_SECONDS = 0.1
"""How many seconds a turn waits for the vectors of intents; later turns have them then."""
MOST_INTENTS = 20
NEAR = 0.865
"""The lowest cosine at which a message means an intent, measured for the e5 family: of 33 messages about ten subjects,
half have it, and none of 1,190 pairs of messages and other subjects. Other models are not used for this."""


@frozen
class Recalled:
    """What recall found for a message, and its vector."""

    rows: Sequence[FoundEntry]
    query: EmbeddedQuery


@metrics.time_stage("recall")
async def recall_for_turn(engine: Engine, incoming: Incoming) -> Recalled:
    """Returns what is relevant to a message in its own space, then, marked `lent`, in the space that its speaker
    lends; nothing if the search always takes too long."""
    incoming = replace(incoming, text=remove_markers(incoming.text))
    query = await embed_query(engine.embedder, incoming.text, VECTOR_SECONDS)
    recall = partial(engine.store.recall, incoming, vector=query.vector, model=query.model)
    try:
        if incoming.lent is None:
            return Recalled(await recall(), query)
        own, lent = await asyncio.gather(recall(), recall(incoming.lent))
        return Recalled([*own, *(replace(row, lent=True) for row in lent)], query)
    except DatabaseError as error:
        if type(error) is not DatabaseError:  # such as TurnLost: the turn itself can't go on
            raise
        log.warning("recall failed; answering without it", error=str(error))
        return Recalled([], query)


async def add_meant_intents(engine: Engine, incoming: Incoming, context: Context, query: EmbeddedQuery) -> Context:
    """Adds the open intents whose words a message doesn't say, but means."""
    shown = {one.id for one in context.intents}
    rest = [one for one in context.open_intents if one.id not in shown][:MOST_INTENTS]
    if not rest or query.vector is None or "e5" not in query.model:
        return context
    vectors = await asyncio.gather(*(embed_query(engine.embedder, one.about, INTENT_SECONDS) for one in rest))
    meant = [one for one, vector in zip(rest, vectors, strict=True) if is_near(query, vector)]
    if not meant:
        return context
    await engine.store.use_intents(incoming.turn_id, [one.id for one in meant])
    return replace(context, intents=(*context.intents, *meant))


def is_near(one: EmbeddedQuery, other: EmbeddedQuery) -> bool:
    """Tests whether two texts mean nearly the same thing. Vectors have the length 1."""
    if one.vector is None or other.vector is None or one.model != other.model:
        return False
    pairs = zip(json.loads(one.vector), json.loads(other.vector), strict=True)
    cosine: float = sum(left * right for left, right in pairs)
    return cosine >= NEAR
