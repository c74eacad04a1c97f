"""Search in messages and memory, in pages, with the messages around a result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.history.query import Query, parse
from relay.commands.registry import command
from relay.core.errors import CommandRefused
from relay.core.limits import MAX_OFFSET
from relay.memory.query_vectors import embed_query
from relay.memory.rows.opened import OpenedArtefact, OpenedMemory, OpenedSummary
from relay.memory.rows.search import MessageContext, SearchPage, SearchQuery, Speakers, StoredSearch, ThreadPlace

HOW = (
    "What should I look for? For example: /search boiler repair\n\n"
    "Narrow it with from:me, from:you or from:Name; after:2026-11-05, before:2026-11, after:7d; "
    'in:here or in:"a topic". Put "exact words" in quotes.'
)
FORGOTTEN = "I don't know any more what was asked here. Ask again with /search."
NOTHING_MORE = "There is nothing more here."
Side = Literal["around", "before", "after"]


@dataclass(frozen=True, slots=True)
class SearchResults:
    """A page of results."""

    search_id: int
    """The search's number, to open other pages and results later."""
    offset: int
    query: Query
    page: SearchPage


@command("search", usage="<words>", help="search all your conversations")
async def search(ctx: CommandContext, text: str, limit: int = 20) -> SearchResults:
    """Finds messages and memories of this space, best first. `text`: see `query.parse`. Raises `CommandRefused` for an
    empty or unsupported search."""
    asked = StoredSearch(text, ctx.user_id, datetime.now(ctx.zone), ctx.chat_id, ctx.topic_id)
    query = parse(text, asked.at)
    if query.wrong:
        raise CommandRefused("\n\n".join(query.wrong))
    if query.empty:
        raise CommandRefused(HOW)
    results = await _find(ctx, asked, ctx.turn.turn_id, 0, limit)
    if results.page.found:
        await ctx.store.keep_search(ctx.turn, ctx.space, text)
    return results


async def search_page(ctx: CommandContext, search_id: int, offset: int, limit: int = 20) -> SearchResults:
    """Returns another page of an earlier search."""
    return await _find(ctx, await recall_search(ctx, search_id), search_id, offset, limit)


async def messages_beside(
    ctx: CommandContext, search_id: int, message_id: int, side: Side, count: int
) -> MessageContext:
    """Returns the messages around, before or after a result of an earlier search."""
    asked = await recall_search(ctx, search_id)
    query = looked_for(parse(asked.text, asked.at), asked)
    found = await ctx.store.found_context(ctx.space, ctx.bot_id, query, message_id, side, count)
    if found is None or not found.messages:
        raise CommandRefused(NOTHING_MORE)
    return found


async def open_known(
    ctx: CommandContext, search_id: int, kind: str, number: int
) -> OpenedMemory | OpenedSummary | OpenedArtefact:
    """Returns a memory or another artefact that an earlier search found, in full."""
    await recall_search(ctx, search_id)
    found = await ctx.store.open_found(ctx.space, ctx.bot_id, kind, number)
    if not isinstance(found, OpenedMemory | OpenedSummary | OpenedArtefact):
        raise CommandRefused("It is gone.")
    return found


async def recall_search(ctx: CommandContext, search_id: int) -> StoredSearch:
    """Returns an earlier search. Raises `CommandRefused` unless it was asked in this space, which this person sees."""
    asked = await ctx.store.kept_search(search_id, ctx.space)
    if asked is None or not await ctx.sees(ctx.space):
        raise CommandRefused(FORGOTTEN)
    return replace(asked, at=asked.at.astimezone(ctx.zone))


async def _find(ctx: CommandContext, asked: StoredSearch, search_id: int, offset: int, limit: int) -> SearchResults:
    query = parse(asked.text, asked.at)
    meaning = await embed_query(ctx.services.embedder, " ".join([query.words, *query.phrases]))
    wanted = replace(looked_for(query, asked), vector=meaning.vector, model=meaning.model)
    page = await ctx.store.find(ctx.space, ctx.bot_id, wanted, min(offset, MAX_OFFSET), limit)
    return SearchResults(search_id, offset, query, page)


def looked_for(query: Query, asked: StoredSearch) -> SearchQuery:
    """Converts a query for the store; `me` and `here` are the asker and place."""
    by = Speakers(asked.user_id if query.me else None, query.you, query.names)
    return SearchQuery(
        words=query.words,
        phrases=query.phrases,
        by=by if query.me or query.you or query.names else None,
        here=ThreadPlace(asked.chat_id, asked.topic_id) if query.here else None,
        places=query.places,
        since=query.since,
        until=query.until,
    )
