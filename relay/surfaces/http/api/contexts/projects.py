"""Projects, and the sessions in them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response

from relay.commands.contexts.library import register_session, unregister_session
from relay.commands.contexts.projects import list_projects, open_project, read_record
from relay.commands.history.sessions import sessions
from relay.surfaces.http.api.contexts.files import listing_what_holds_it, sent
from relay.surfaces.http.api.contexts.library import SettingsDocument
from relay.surfaces.http.api.contexts.names import ProjectId, SessionId, in_project, number_of
from relay.surfaces.http.api.contexts.records import (
    CompositionRecord,
    ProjectLine,
    SessionLine,
    SessionRecord,
    display_name,
)
from relay.surfaces.http.api.paging import Page, Paging, paged
from relay.surfaces.http.caller import Reading, Writing, WritingRoute
from relay.surfaces.http.wire import WireInput, WireModel

router = APIRouter(prefix="/memory/projects", tags=["projects"], route_class=WritingRoute)


class Manifest(WireModel):
    """A project: its registered sessions, newest first, and its compositions, by their ids. `next`: the cursor of more
    sessions."""

    version: str
    project_id: str
    display_name: str
    created_at: datetime
    last_modified: datetime
    sessions: dict[str, SessionRecord]
    compositions: dict[str, CompositionRecord]
    settings: SettingsDocument
    total: int
    next: str | None


class Nothing(WireInput):
    """An empty object."""


def few(page: Page, limit: Annotated[int, Query(ge=1, le=200)] = 25) -> Paging:
    """Reads the paging parameters for a list with large rows."""
    return Paging(page.offset, limit)


Few = Annotated[Paging, Depends(few)]


@router.get("", response_model=paged("projects", ProjectLine))
async def list_all(ctx: Reading, page: Page, registered: bool = False) -> Any:
    """Lists the projects whose memory you see, the last used first. `registered`: those with registered sessions."""
    found = await list_projects(ctx, registered, page.offset, page.limit)
    return page.page_of("projects", [*map(ProjectLine.of_row, found.projects)], found.total)


@router.get("/{projectId}", response_model=Manifest)
async def show_manifest(ctx: Reading, page: Few, project_id: ProjectId) -> Response:
    """Returns a project's manifest."""
    thread_id = number_of(project_id, "t")
    opened = await open_project(ctx, thread_id, page.offset, page.limit)
    found = opened.manifest
    manifest = Manifest(
        version=opened.settings["version"],
        project_id=project_id,
        display_name=display_name(found.name, found.chat_id, found.topic_id),
        created_at=found.created_at,
        last_modified=found.accessed,
        sessions={str(one.session.id): SessionRecord.of_row(one) for one in found.sessions},
        compositions={f"c{one.id}": CompositionRecord.of_row(one) for one in found.compositions},
        settings=SettingsDocument(dict(opened.settings)),
        total=found.total,
        next=page.next_of(found.total),
    )
    return sent(manifest)  # it can be large, and is checked already


@router.get("/{projectId}/sessions", response_model=paged("sessions", SessionLine))
async def list_sessions(ctx: Reading, page: Page, project_id: ProjectId) -> Any:
    """Lists a project's sessions, newest first; those linked from other projects come last on the first page."""
    there = await in_project(ctx, project_id)
    found = await sessions(there, page.offset, page.limit)
    return page.page_of("sessions", [*found.sessions, *found.linked], found.total)


@router.post("/{projectId}/sessions/{sessionId}", status_code=201, responses={200: {"model": SessionRecord}})
async def register(
    ctx: Writing, response: Response, project_id: ProjectId, session_id: SessionId, body: Nothing | None = None
) -> SessionRecord:
    """Registers a session. 200: it was registered before."""
    there, number = await in_project(ctx, project_id), number_of(session_id)
    was = (await read_record(there, number)).session.registered
    await register_session(there, number)
    if was is not None:
        response.status_code = 200
    return SessionRecord.of_row(await read_record(there, number))


@router.delete("/{projectId}/sessions/{sessionId}", status_code=204)
async def unregister(
    ctx: Writing,
    project_id: ProjectId,
    session_id: SessionId,
    versions: Literal["keep", "delete"] = "keep",
    force: bool = False,
) -> None:
    """Removes a session from the library. Its markers stay, and so do its versions, unless they are to be deleted;
    `force`: also those that a running conversation uses."""
    there, number = await in_project(ctx, project_id), number_of(session_id)
    with listing_what_holds_it():
        await unregister_session(there, number, versions == "delete", force)
