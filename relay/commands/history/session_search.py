"""Search in past sessions: messages, summaries and versions, each with the session that it belongs to."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from relay.commands.context import CommandContext
from relay.commands.registry import operation
from relay.core.errors import OutOfRange
from relay.core.frozen import frozen
from relay.core.limits import MAX_OFFSET
from relay.memory.query_vectors import embed_query
from relay.memory.rows.search import SearchQuery

KINDS = ("message", "summary", "version")
"""The kinds that belong to a session."""


@frozen
class FoundInSession:
    """A search result. `rank`: 1 is the best."""

    kind: str
    id: int
    session_id: int
    version: int | None
    """The number of the version, if it is one."""
    rank: int
    text: str
    """The passage that fits the query. Matching words are between U+0002 and U+0003."""
    at: datetime


@frozen
class SessionFindings:
    """A page of results, and their total."""

    total: int
    found: tuple[FoundInSession, ...]


def conditions_of(query: SearchQuery) -> tuple[str, ...]:
    """Returns the names of a query's conditions."""
    given = {"text": query.words, "files": query.files, "topics": query.topics, "keepitWeight": query.keepit,
             "dateRange": query.since or query.until}  # fmt: skip
    return tuple(name for name, value in given.items() if value)


@operation("http")
async def search_sessions(ctx: CommandContext, query: SearchQuery, offset: int, limit: int) -> SessionFindings:
    """Finds messages, summaries and versions of this space, best first. Raises `OutOfRange` without any condition."""
    await ctx.require_sight()
    if not conditions_of(query):
        raise OutOfRange("What should I look for? Give words, files, topics, dates or weights.")
    meaning = await embed_query(ctx.services.embedder, query.words)
    wanted = replace(query, kinds=query.kinds or KINDS, vector=meaning.vector, model=meaning.model)
    offset = min(offset, MAX_OFFSET)
    page = await ctx.store.find(ctx.space, ctx.bot_id, wanted, offset, limit)
    places = await ctx.store.found_sessions(ctx.space, [{"kind": hit.kind, "id": hit.id} for hit in page.found])
    place_of = {(one.kind, one.id): one for one in places}
    found = tuple(
        FoundInSession(hit.kind, hit.id, place.session_id, place.version, offset + nr, hit.text, hit.at)
        for nr, hit in enumerate(page.found, 1)
        if (place := place_of.get((hit.kind, hit.id)))
    )
    return SessionFindings(page.total, found)
