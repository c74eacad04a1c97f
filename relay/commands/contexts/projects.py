"""Projects: threads as libraries, found by ids alone from any conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from relay.commands.context import CommandContext
from relay.commands.contexts.space_settings import show_settings
from relay.commands.history.sessions import NOT_HERE
from relay.commands.memory.access import GONE
from relay.commands.registry import operation
from relay.core.errors import NotFound, require_found
from relay.core.frozen import frozen
from relay.core.limits import MAX_OFFSET
from relay.memory.contexts.settings import Level, level_of
from relay.memory.rows.contexts.library import OriginalMessage, OriginalPage
from relay.memory.rows.contexts.projects import DecayPreview, ProjectManifest, ProjectPage, SessionRecord

PAGE = 500
"""How many messages are read at once."""


@frozen
class OpenedProject:
    """A project, and its space's settings as a document."""

    manifest: ProjectManifest
    settings: Mapping[str, Any]


async def go_to(ctx: CommandContext, kind: Literal["project", "session", "composition"], id: int) -> CommandContext:
    """Returns the context of the conversation to which a project (its thread's id), session or composition belongs.
    Raises `NotFound` if there is none, or this person may not see its space."""
    place = await ctx.store.find_project(kind, id)
    if place is None or not await ctx.sees(place.space):
        raise NotFound(GONE)
    return replace(ctx, space=place.space, chat_id=place.chat_id, topic_id=place.topic_id)


@operation("http")
async def list_projects(ctx: CommandContext, registered: bool, offset: int, limit: int) -> ProjectPage:
    """Returns the projects of all spaces that this person sees, the last used first. `registered`: only those with
    registered sessions."""
    around = await ctx.store.spaces_around(ctx.user_id)
    seen = await asyncio.gather(*map(ctx.sees, around))
    spaces = [space for space, sees in zip(around, seen, strict=True) if sees]
    return await ctx.store.projects(spaces, registered, min(offset, MAX_OFFSET), limit)


@operation("http")
async def open_project(ctx: CommandContext, thread_id: int, offset: int, limit: int) -> OpenedProject:
    """Returns a project with some of its registered sessions. Raises `NotFound`."""
    there = await go_to(ctx, "project", thread_id)
    found = await ctx.store.project(there.space, thread_id, min(offset, MAX_OFFSET), limit)
    return OpenedProject(require_found(found, NotFound(GONE)), (await show_settings(there)).as_json())


@operation("http")
async def read_record(ctx: CommandContext, session_id: int) -> SessionRecord:
    """Returns a session of this space with its markers and versions. Raises `NotFound`."""
    await ctx.require_sight()
    return require_found(await ctx.store.session_record(ctx.space, session_id), NotFound(NOT_HERE))


@operation("http")
async def read_original(
    ctx: CommandContext, session_id: int, offset: int = 0, limit: int = 100, after: int | None = None
) -> OriginalPage:
    """Returns a page of a session's messages as they were said: starting at an offset, or those after a message. Unlike
    `open_original`, it doesn't mark the session as used. Raises `NotFound`."""
    await ctx.require_sight()
    if after is None:
        found = await ctx.store.read_original(ctx.space, session_id, min(offset, MAX_OFFSET), limit)
    else:
        found = await ctx.store.read_original_after(ctx.space, session_id, after, limit)
    return require_found(found, NotFound(NOT_HERE))


@operation("http")
async def read_whole_original(ctx: CommandContext, session_id: int) -> list[OriginalMessage]:
    """Returns all messages of a session as they were said. Raises `NotFound`."""
    page = await read_original(ctx, session_id, 0, PAGE)
    messages = list(page.messages)
    while len(messages) < page.total:
        more = await ctx.store.read_original(ctx.space, session_id, len(messages), PAGE)
        if more is None or not more.messages:
            break
        messages += more.messages
    return messages


@operation("http")
async def preview_decay(
    ctx: CommandContext, session_id: int, ratio: int, level: Level | None, distance: int | None
) -> DecayPreview:
    """Returns which markers of a session would survive. `level` None: the ratio's own level. `distance` None: the real
    distance. Raises `NotFound`."""
    await ctx.require_sight()
    found = await ctx.store.preview_decay(ctx.space, session_id, level or level_of(ratio), ratio, distance)
    return require_found(found, NotFound(NOT_HERE))
