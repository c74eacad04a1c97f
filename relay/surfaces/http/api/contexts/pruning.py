"""Dropping versions of a session, and bringing them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field

from relay.commands.context import CommandContext
from relay.commands.contexts.pruning import MOST_PRUNED, NOTHING_DROPPED, prune, restore_versions
from relay.commands.contexts.versions import versions_named
from relay.core.errors import Conflict
from relay.surfaces.http.api.contexts.files import listing_what_holds_it
from relay.surfaces.http.api.contexts.names import Name, SessionId, VersionId, VersionName, in_session, number_of
from relay.surfaces.http.api.contexts.records import CompressionRecord
from relay.surfaces.http.caller import Writing, WritingRoute
from relay.surfaces.http.wire import Flag, WireInput, WireModel

router = APIRouter(prefix="/memory", tags=["versions"], route_class=WritingRoute)


class Pruning(WireInput):
    """Versions of a session to drop, all or none. `force`: also those that a running conversation uses."""

    session_id: Name
    version_ids: Annotated[list[Name], Field(min_length=1, max_length=MOST_PRUNED)]
    force: Flag = False


class Pruned(WireModel):
    """What was dropped. For ten minutes `undo` brings it back."""

    pruned: list[CompressionRecord]
    undo: str


class VersionsToRestore(WireInput):
    """What to bring back."""

    session_id: Name
    undo: Name


class Restored(WireModel):
    """The versions that were brought back."""

    version_ids: list[VersionName]


@router.delete("/sessions/{sessionId}/versions/{versionId}", status_code=204)
async def drop(ctx: Writing, session_id: SessionId, version_id: VersionId, force: bool = False) -> None:
    """Drops a version. Compositions that hold it keep their text. 409: a running conversation uses one of them, or
    the version is still being made. To be able to bring it back, use `POST /api/memory/versions/prune`."""
    there, number = await in_session(ctx, session_id)
    versions = await made_versions(there, number, [version_id])
    with listing_what_holds_it():
        await prune(there, versions, force)


@router.post("/versions/prune", response_model=Pruned)
async def prune_some(ctx: Writing, body: Pruning) -> Any:
    """Drops versions of a session, all or none."""
    there, number = await in_session(ctx, body.session_id)
    versions = await made_versions(there, number, body.version_ids)
    with listing_what_holds_it():
        gone = await prune(there, versions, body.force)
    return {"pruned": gone, "undo": f"{body.session_id}-{gone[0].id}"}


async def made_versions(ctx: CommandContext, number: int, names: Sequence[str]) -> list[int]:
    """Returns the numbers of a session's versions. Raises `NotFound`, and `Conflict` if one is still being made."""
    found = await versions_named(ctx, number, names)
    if any(one.status == "due" for one in found):
        raise Conflict("This version is still being made.")
    return [one.id for one in found]


@router.post("/versions/restore")
async def restore(ctx: Writing, body: VersionsToRestore) -> Restored:
    """Brings back what was dropped together: within ten minutes; within a day, if the night did it."""
    there, _ = await in_session(ctx, body.session_id)
    session, _, version = body.undo.rpartition("-")
    if session != body.session_id:
        raise Conflict(NOTHING_DROPPED)
    back = await restore_versions(there, number_of(version))
    return Restored(version_ids=[one.name for one in back])
