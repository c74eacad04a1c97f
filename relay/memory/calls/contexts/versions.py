"""Versions of sessions: requested, made and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relay.core.models import Space
from relay.memory.calls.base import Calls
from relay.memory.rows.contexts.compression import CompressionWork, MarkerFate, NewVersion, SessionOutline
from relay.memory.rows.contexts.versions import LeftOut, OpenedVersion, VersionPage
from relay.memory.rows.jobs import ClaimedJob


class VersionCalls(Calls):
    """Compressed versions of sessions."""

    async def session_outline(
        self, space: Space, chat_id: int, topic_id: int, session_id: int | None, source_id: int | None = None
    ) -> SessionOutline | None:
        """Returns what a version of a session would be made from: its messages, or another version. `session_id` None:
        the thread's running session. None: the space has no such session."""
        return await self._find(
            SessionOutline,
            "session_outline",
            space=space.as_json(),
            chat_id=chat_id,
            topic_id=topic_id,
            session_id=session_id,
            source_id=source_id,
        )

    async def marker_fates(
        self, session_id: int, spans: Sequence[Mapping[str, object]], mode: str, distance: int | None
    ) -> list[MarkerFate]:
        """Returns which markers of a session survive. `spans`: `{from, through, ratio, level}` by tier."""
        return await self._list(
            MarkerFate, "marker_fates", session_id=session_id, spans=list(spans), mode=mode, distance=distance
        )

    async def make_version(
        self, space: Space, session_id: int, user_id: int, settings: Mapping[str, Any], source_id: int | None = None
    ) -> int | None:
        """Requests a version. Returns its id, which is the key of its job; None: there is nothing to make it from."""
        found: int | None = await self._call(
            "make_version",
            space=space.as_json(),
            session_id=session_id,
            user_id=user_id,
            settings=settings,
            source_id=source_id,
        )
        return found

    async def compression_work(self, job: ClaimedJob) -> CompressionWork | None:
        """Returns the task of a job that makes a version. None: the job is lost, or the version is no longer wanted."""
        return await self._find(CompressionWork, "compression_work", job_id=job.id, fence=job.fence)

    async def note_progress(self, job: ClaimedJob, done: int, total: int) -> bool:
        """Records how many chunks of a version are done. Returns False if the job is lost."""
        return bool(await self._call("note_progress", job_id=job.id, fence=job.fence, done=done, total=total))

    async def store_version(self, job: ClaimedJob, version: NewVersion) -> bool:
        """Stores a version and finishes its job. Returns False if the job is lost, or if something was erased
        meanwhile; the job then stays owed."""
        return bool(await self._call("store_version", job_id=job.id, fence=job.fence, version=version.as_json()))

    async def fail_version(self, job: ClaimedJob, error: str) -> bool:
        """Marks a version as failed, and ends its job."""
        return bool(await self._call("fail_version", job_id=job.id, fence=job.fence, error=error))

    async def make_without_model(self, space: Space, version_id: int) -> bool:
        """Allows an unfinished version to be made without a model. Returns False if there is none."""
        return bool(await self._call("make_without_model", space=space.as_json(), id=version_id))

    async def versions(self, space: Space, session_id: int, offset: int, limit: int) -> VersionPage | None:
        """Returns a page of a session's versions, newest first; None: the space has no such session."""
        return await self._find(
            VersionPage, "versions", space=space.as_json(), session_id=session_id, offset=offset, limit=limit
        )

    async def version(self, space: Space, version_id: int, offset: int, limit: int) -> OpenedVersion | None:
        """Returns a version with a page of its rows; None: the space has no such version."""
        return await self._find(
            OpenedVersion, "version", space=space.as_json(), id=version_id, offset=offset, limit=limit
        )

    async def left_out(self, space: Space, version_id: int, offset: int, limit: int) -> LeftOut:
        """Returns a page of the messages that a version left out, oldest first."""
        return await self._fetch(LeftOut, "left_out", space=space.as_json(), id=version_id, offset=offset, limit=limit)
