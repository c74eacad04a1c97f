"""Past sessions that fit what somebody begins to talk about."""

from __future__ import annotations

from relay.commands.context import CommandContext
from relay.commands.contexts.composition import check_budget
from relay.commands.registry import operation
from relay.core.errors import OutOfRange
from relay.core.limits import COMPOSED_BUDGET
from relay.memory.query_vectors import embed_query
from relay.memory.rows.contexts.library import Suggestion

UNASKED_FLOOR = 0.2
"""The share of the words' weight that a session must have to be named unasked, because a weak match is no help."""


@operation("chat", "cli", "http")
async def suggest(
    ctx: CommandContext, words: str, budget: int = COMPOSED_BUDGET, floor: float | None = None
) -> list[Suggestion]:
    """Returns up to five past sessions that fit the words, best first, each with the version that fits into the rest of
    the budget. `budget`: tokens for all of them together. `floor`: see `UNASKED_FLOOR`."""
    await ctx.require_sight()
    if not words.strip():
        raise OutOfRange("What is it about? Write a few words.")
    check_budget(budget)
    query = await embed_query(ctx.services.embedder, words)
    return await ctx.store.suggest(ctx.space, ctx.chat_id, ctx.topic_id, {**query.as_json(), "floor": floor}, budget)
