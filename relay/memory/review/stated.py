"""Compares a fact that a person asked to remember with what is known, as the judge compares what it found."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import structlog

from relay.core.errors import RelayError
from relay.core.models import Space
from relay.core.spending.charge import Charge
from relay.memory.review.judging import Judge, decisions, near_to
from relay.memory.rows.upkeep.judging import StatedFact

log = structlog.get_logger()

SECONDS = 10
"""How long the person waits for the comparison at most."""


async def find_contradicted(
    judge: Judge, space: Space, space_id: int, user_id: int, name: str, text: str
) -> int | None:
    """Returns the id of the person's fact that a new one of theirs contradicts; None if there is none, or no model can
    tell in time. Both are kept then, and compared at night."""
    fact = StatedFact(text, user_id, name, datetime.now(UTC))
    try:
        async with asyncio.timeout(SECONDS):
            near = await near_to(judge, space_id, [fact])
            if any(row.content == text for row in near[0]):
                return None
            charge = Charge("judge", user_id=user_id, space=space)
            decided = (await decisions(judge, judge.gate, charge, [fact], near)).get(0)
    except (RelayError, TimeoutError) as error:
        log.info("a stated fact was not compared", error=str(error))
        return None
    return decided.memory_id if decided and decided.relation == "contradicts" else None
