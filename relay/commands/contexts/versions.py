"""Versions of a session: listed, found by name, opened, compared, and what they left out."""

from __future__ import annotations

from collections.abc import Sequence

from relay.commands.context import CommandContext
from relay.commands.history.sessions import NOT_HERE
from relay.commands.memory.access import GONE
from relay.commands.registry import operation
from relay.core.errors import Conflict, NotFound, OutOfRange, require_found
from relay.core.limits import MAX_OFFSET
from relay.memory.rows.contexts.versions import ComparedVersions, LeftOut, OpenedVersion, Version, VersionPage

PAGE = 100
ROWS = 500


@operation("chat", "cli", "http")
async def list_versions(ctx: CommandContext, session_id: int, offset: int = 0, limit: int = PAGE) -> VersionPage:
    """Returns a page of a session's versions, newest first. Raises `NotFound` if this space has no such session."""
    await ctx.require_sight()
    found = await ctx.store.versions(ctx.space, session_id, min(offset, MAX_OFFSET), limit)
    return require_found(found, NotFound(NOT_HERE))


async def all_versions(ctx: CommandContext, session_id: int) -> list[Version]:
    """Returns all versions of a session, newest first."""
    found = await list_versions(ctx, session_id)
    versions = list(found.versions)
    while found.versions and len(versions) < found.total:
        found = await list_versions(ctx, session_id, len(versions))
        versions += found.versions
    return versions


@operation("cli", "http")
async def versions_named(ctx: CommandContext, session_id: int, words: Sequence[str]) -> list[Version]:
    """Returns versions of a session by number or name: v002, 2, v002_tiered-standard_10k. Raises `NotFound`, which
    names the first that doesn't exist."""
    listed = await all_versions(ctx, session_id)
    found = []
    for word in words:
        name = word.lower()
        one = next((v for v in listed if name in (str(v.number), v.short, v.name.lower())), None)
        if one is None:
            there = f"There are: {', '.join(v.short for v in reversed(listed))}." if listed else "It has none."
            original = "The original can't be chosen here. " if name == "original" else ""
            raise NotFound(f"{original}This session has no version “{word[:40]}”. {there}")
        found.append(one)
    return found


async def open_version(ctx: CommandContext, version_id: int, offset: int = 0, limit: int = ROWS) -> OpenedVersion:
    """Returns a version with a page of its rows. Raises `NotFound` if this space has no such version."""
    await ctx.require_sight()
    return require_found(await ctx.store.version(ctx.space, version_id, min(offset, MAX_OFFSET), limit), NotFound(GONE))


@operation("chat", "cli", "http")
async def read_version(ctx: CommandContext, version_id: int) -> OpenedVersion:
    """Returns a version with all of its rows. Raises `Conflict` if it is not ready."""
    found = await open_version(ctx, version_id)
    rows = found.rows
    while found.version.output_messages and len(rows) < found.version.output_messages:
        more = await ctx.store.version(ctx.space, version_id, len(rows), ROWS)
        if more is None or not more.rows:
            break
        rows += more.rows
    if found.version.status != "ready":
        raise Conflict("This version isn't ready yet.")
    return OpenedVersion(found.version, rows, found.left_out)


@operation("chat", "cli", "http")
async def compare_versions(ctx: CommandContext, a: int, b: int) -> ComparedVersions:
    """Returns two versions side by side."""
    await ctx.require_sight()
    found = await ctx.store.compare_versions(ctx.space, a, b)
    if a == b:
        raise OutOfRange("Choose two different versions.")
    if found is None:
        raise Conflict("Both versions must be ready.")
    return found


async def left_out(ctx: CommandContext, version_id: int, offset: int = 0, limit: int = 10) -> LeftOut:
    """Returns a page of the messages that no row of a version covers, oldest first."""
    await ctx.require_sight()
    return await ctx.store.left_out(ctx.space, version_id, min(offset, MAX_OFFSET), limit)
