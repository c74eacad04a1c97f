"""Search in messages and memory, in pages, with the messages around a result."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.history.query import Query, parse
from relay.commands.registry import command
from relay.core.errors import CommandRefused, WrongArgument
from relay.core.frozen import frozen
from relay.core.limits import MAX_OFFSET
from relay.memory.query_vectors import embed_query
from relay.memory.rows.search import MessageContext, SearchPage, SearchQuery, Speakers, StoredSearch, ThreadPlace
from relay.memory.rows.search_context import OpenedArtefact, OpenedMemory, OpenedSummary

HOW = (
    "What should I look for? For example: /search boiler repair\n\n"
    "Narrow it with from:me, from:you or from:Name; after:2026-11-05, before:2026-11, after:7d; "
    'in:here or in:"a topic". Put "exact words" in quotes.\n\n'
    "Or by kind: kind:message, memory, summary, document or version; file:report; topic:garden; "
    "keepit:0.5..1 (messages with a marker of such a weight)."
)
FORGOTTEN = "I no longer have this search. Please run /search again."
NOTHING_MORE = "There's nothing more here."
Side = Literal["around", "before", "after"]


@frozen
class SearchResults:
    """A page of results."""

    search_id: int
    """The search's number, to open other pages and results later."""
    offset: int
    query: Query
    page: SearchPage


@command("search", usage="<words>", help="search all your conversations", surfaces=("chat", "cli", "http"))
async def search(ctx: CommandContext, text: str, offset: int = 0, limit: int = 20) -> SearchResults:
    """Finds messages and memories of this space, best first. `text`: see `query.parse`. In a turn, stores the search so
    that other pages can be opened later. Raises `CommandRefused` for an empty or unsupported search."""
    await ctx.require_sight()
    asked = StoredSearch(text, ctx.user_id, datetime.now(ctx.zone), ctx.chat_id, ctx.topic_id)
    query = parse(text, asked.at)
    if query.wrong:
        raise WrongArgument("\n\n".join(query.wrong))
    if query.empty:
        raise WrongArgument(HOW)
    results = await _find(ctx, asked, ctx.turn.turn_id, offset, limit)
    if results.page.found and ctx.turn.turn_id:
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
    query = make_search_query(parse(asked.text, asked.at), asked)
    found = await ctx.store.find_context(ctx.space, ctx.bot_id, query, message_id, side, count)
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
        raise CommandRefused("It's gone.")
    return found


async def recall_search(ctx: CommandContext, search_id: int) -> StoredSearch:
    """Returns an earlier search. Raises `CommandRefused` unless it was made in this space and this person may see
    it."""
    asked = await ctx.store.find_kept_search(search_id, ctx.space)
    if asked is None or not await ctx.sees(ctx.space):
        raise CommandRefused(FORGOTTEN)
    return replace(asked, at=asked.at.astimezone(ctx.zone))


async def _find(ctx: CommandContext, asked: StoredSearch, search_id: int, offset: int, limit: int) -> SearchResults:
    query = parse(asked.text, asked.at)
    meaning = await embed_query(ctx.services.embedder, " ".join([query.words, *query.phrases]))
    wanted = replace(make_search_query(query, asked), vector=meaning.vector, model=meaning.model)
    page = await ctx.store.find(ctx.space, ctx.bot_id, wanted, min(offset, MAX_OFFSET), limit)
    return SearchResults(search_id, offset, query, page)


def make_search_query(query: Query, asked: StoredSearch) -> SearchQuery:
    """Converts a query for the store; `me` and `here` become the person and place of the search."""
    by = Speakers(asked.user_id if query.me else None, query.you, query.names)
    return SearchQuery(
        words=query.words,
        phrases=query.phrases,
        by=by if query.me or query.you or query.names else None,
        here=ThreadPlace(asked.chat_id, asked.topic_id) if query.here else None,
        places=query.places,
        since=query.since,
        until=query.until,
        files=query.files,
        topics=query.topics,
        keepit=query.keepit,
        kinds=query.kinds,
    )
