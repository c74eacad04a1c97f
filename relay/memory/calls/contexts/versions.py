"""Versions of sessions: requested, made and read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relay.core.models import Space
from relay.memory.calls.base import Calls, rpc
from relay.memory.rows.contexts.compression import CompressionWork, MarkerFate, NewVersion, SessionOutline
from relay.memory.rows.contexts.versions import (
    ComparedVersions,
    LeftOut,
    OpenedVersion,
    Pruned,
    RestoredVersion,
    VersionPage,
)
from relay.memory.rows.jobs import ClaimedJob


class VersionCalls(Calls):
    """Compressed versions of sessions."""

    @rpc()
    async def session_outline(
        self, space: Space, chat_id: int, topic_id: int, session_id: int | None, source_id: int | None = None
    ) -> SessionOutline | None:
        """Returns what a version of a session would be made from: its messages, or another version. `session_id` None:
        the thread's running session. None: the space has no such session."""

    @rpc()
    async def marker_fates(
        self, session_id: int, spans: Sequence[Mapping[str, object]], mode: str, distance: int | None
    ) -> list[MarkerFate]:
        """Returns which markers of a session survive. `spans`: `{from, through, ratio, level}` by tier."""

    @rpc()
    async def make_version(
        self, space: Space, session_id: int, user_id: int, settings: Mapping[str, Any], source_id: int | None = None
    ) -> int | None:
        """Requests a version. Returns its id, which is the key of its job; None: there is nothing to make it from."""

    @rpc()
    async def compression_work(self, job: ClaimedJob) -> CompressionWork | None:
        """Returns the task of a job that makes a version. None: the job is lost, or the version is no longer wanted."""

    @rpc()
    async def note_progress(self, job: ClaimedJob, done: int, total: int) -> bool:
        """Records how many chunks of a version are done. Returns False if the job is lost."""

    @rpc()
    async def store_version(self, job: ClaimedJob, version: NewVersion) -> bool:
        """Stores a version and finishes its job. Returns False if the job is lost, or if something was erased
        meanwhile; the job then stays owed."""

    @rpc()
    async def fail_version(self, job: ClaimedJob, error: str) -> bool:
        """Marks a version as failed, and ends its job."""

    @rpc()
    async def make_without_model(self, space: Space, id: int) -> bool:
        """Allows an unfinished version to be made without a model. Returns False if there is none."""

    @rpc()
    async def versions(self, space: Space, session_id: int, offset: int, limit: int) -> VersionPage | None:
        """Returns a page of a session's versions, newest first; None: the space has no such session."""

    @rpc()
    async def version(self, space: Space, id: int, offset: int, limit: int) -> OpenedVersion | None:
        """Returns a version with a page of its rows; None: the space has no such version."""

    @rpc()
    async def left_out(self, space: Space, id: int, offset: int, limit: int) -> LeftOut:
        """Returns a page of the messages that a version left out, oldest first."""

    @rpc()
    async def compare_versions(self, space: Space, a: int, b: int) -> ComparedVersions | None:
        """Returns two ready versions side by side. None: the space lacks one of them."""

    @rpc()
    async def prune_versions(self, space: Space, versions: Sequence[int], force: bool) -> Pruned:
        """Drops versions, all or none; with `force`, also those that a running session uses."""

    @rpc()
    async def restore_versions(self, space: Space, version: int) -> list[RestoredVersion]:
        """Restores what was dropped together with a version within the last ten minutes."""
