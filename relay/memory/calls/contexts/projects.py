"""Projects: each is a thread, seen as a library of sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from relay.core.models import Space
from relay.memory.calls.base import Calls
from relay.memory.rows.contexts.composition import CompositionPage
from relay.memory.rows.contexts.library import OriginalPage
from relay.memory.rows.contexts.projects import (
    DecayPreview,
    FoundSession,
    ProjectManifest,
    ProjectPage,
    ProjectPlace,
    SessionRecord,
)


class ProjectCalls(Calls):
    """Reads sessions for programs and the app, by ids alone."""

    async def find_project(self, kind: Literal["project", "session", "composition"], id: int) -> ProjectPlace | None:
        """Returns the place of a project, session or composition; None: there is none on the record."""
        return await self._find(ProjectPlace, "find_project", kind=kind, id=id)

    async def spaces_around(self, user_id: int) -> list[Space]:
        """Returns a person's own space and the groups where they spoke lately, even if they left them."""
        return await self._list(Space, "spaces_around", user_id=user_id)

    async def projects(self, spaces: Sequence[Space], registered: bool, offset: int, limit: int) -> ProjectPage:
        """Returns a page of the projects of some spaces. `registered`: those with registered sessions."""
        given = [space.as_json() for space in spaces]
        return await self._fetch(
            ProjectPage, "projects", spaces=given, registered=registered, offset=offset, limit=limit
        )

    async def project(self, space: Space, thread_id: int, offset: int, limit: int) -> ProjectManifest | None:
        """Returns a project with a page of its registered sessions; None: the space has no such project."""
        return await self._find(
            ProjectManifest, "project", space=space.as_json(), thread_id=thread_id, offset=offset, limit=limit
        )

    async def project_compositions(
        self, space: Space, chat_id: int, topic_id: int, offset: int, limit: int
    ) -> CompositionPage:
        """Returns a page of a thread's compositions, newest first."""
        where = {"space": space.as_json(), "chat_id": chat_id, "topic_id": topic_id}
        return await self._fetch(CompositionPage, "project_compositions", **where, offset=offset, limit=limit)

    async def session_record(self, space: Space, session_id: int) -> SessionRecord | None:
        """Returns a session with its markers and versions; None: the space has no such session."""
        return await self._find(SessionRecord, "session_record", space=space.as_json(), session_id=session_id)

    async def preview_decay(
        self, space: Space, session_id: int, level: str, ratio: int, distance: int | None
    ) -> DecayPreview | None:
        """Returns which markers of a session would survive; None: the space has no such session."""
        return await self._find(
            DecayPreview,
            "preview_decay",
            space=space.as_json(),
            session_id=session_id,
            level=level,
            ratio=ratio,
            distance=distance,
        )

    async def read_original(self, space: Space, session_id: int, offset: int, limit: int) -> OriginalPage | None:
        """Returns a page of a session's messages, without marking the session as used. None: the space has no such
        session."""
        return await self._find(
            OriginalPage, "read_original", space=space.as_json(), session_id=session_id, offset=offset, limit=limit
        )

    async def read_original_after(self, space: Space, session_id: int, after: int, limit: int) -> OriginalPage | None:
        """Returns the messages of a session after one. None: the space has no such session."""
        return await self._find(
            OriginalPage, "read_original_after", space=space.as_json(), session_id=session_id, after=after, limit=limit
        )

    async def found_sessions(self, space: Space, found: Sequence[tuple[str, int]]) -> list[FoundSession]:
        """Returns the sessions to which search results, as (kind, id), belong."""
        given = [{"kind": kind, "id": id} for kind, id in found]
        return await self._list(FoundSession, "found_sessions", space=space.as_json(), found=given)
