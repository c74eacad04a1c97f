"""Contexts: versions of sessions, markers of passages to keep, and compositions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from relay.core.models import Space, Thread
from relay.memory.calls.base import Calls, encode_row, rpc
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.contexts.composition import (
    ComposableSessions,
    ComposeRequest,
    Composition,
    CompositionPage,
    CompositionPlan,
    Draft,
    DroppedComposition,
    Refusal,
)
from relay.memory.rows.contexts.compression import CompressionWork, MarkerFate, NewVersion, SessionOutline
from relay.memory.rows.contexts.markers import KeepitChange, KeepitPage, OpenedKeepit
from relay.memory.rows.contexts.versions import (
    ComparedVersions,
    LeftOut,
    OpenedVersion,
    Pruned,
    RestoredVersion,
    VersionPage,
)
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.sessions import SessionEnd


class VersionCalls(Calls):
    """Compressed versions of sessions, markers, and compositions (versions of several sessions together, within a
    budget). `may`: this person may also change what others marked or said."""

    @rpc()
    async def session_outline(
        self, thread: Thread, session_id: int | None, source_id: int | None = None
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
    async def await_version(self, thread: Thread, id: int, bot_id: int, user_id: int) -> bool:
        """Asks to be told in a chat when a version is ready. Returns False if it isn't being made."""

    @rpc()
    async def forget_chunks(self, space: Space, session_id: int, source_id: int | None) -> int:
        """Forgets the cached chunks of a session or of one of its versions. Returns how many there were."""

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

    @rpc()
    async def read_keepits(
        self, message_id: int, wording: int, user_id: int, markers: Sequence[Mapping[str, object]]
    ) -> None:
        """Sets the markers of an edited message, unless it was edited again since that wording."""

    @rpc()
    async def keepits(self, thread: Thread, session_id: int | None, offset: int, limit: int) -> KeepitPage:
        """Returns a session's markers, or those of a thread, the most important first."""

    @rpc()
    async def keepit(self, space: Space, keepit_id: int) -> OpenedKeepit | None:
        """Returns a marker and whether it would survive; None if the space has no such marker."""

    @rpc()
    async def keep_it(
        self, turn: ClaimedTurn, thread: Thread, user_id: int, may: bool, keep: Mapping[str, object]
    ) -> KeepitChange:
        """Marks a passage: `{message_id | bot_id, telegram_message_id | draft, text, quoted, weight, origin}`. Without
        a weight, the passage is only remembered with the turn."""

    @rpc()
    async def weigh_keepit(
        self, space: Space, keepit_id: int, weight: Decimal, user_id: int, may: bool
    ) -> KeepitChange | None:
        """Changes a marker's weight in the registry. None: there is no such marker."""

    @rpc()
    async def remove_keepit(
        self, space: Space, keepit_id: int, removed: bool, user_id: int, may: bool
    ) -> KeepitChange | None:
        """Removes a marker, or restores it. None: there is no such marker."""

    @rpc()
    async def undo_keepits(self, turn_id: int, user_id: int, removed: bool) -> int:
        """Removes the markers of a turn's message, or restores them. Returns how many markers changed."""

    @rpc()
    async def compose(self, space: Space, user_id: int, request: Mapping[str, object]) -> Composition | Refusal:
        """Composes sessions and returns the composition. `request`: a `ComposeRequest` as JSON with
        `{chat_id, topic_id, bot_id, zone}`."""

    @rpc()
    async def plan_composition(self, space: Space, request: ComposeRequest) -> CompositionPlan | Refusal:
        """Returns what composing would do."""

    @rpc()
    async def composition(self, space: Space, which: Mapping[str, object], rows: bool = False) -> Composition | None:
        """Returns a composition of a space. `which`: `{id}` or `{name, chat_id, topic_id}`; `rows`: with its text."""

    @rpc()
    async def compositions(self, thread: Thread, offset: int, limit: int) -> CompositionPage:
        """Returns a page of a space's compositions, a thread's first."""

    @rpc()
    async def composable_sessions(
        self, thread: Thread, everywhere: bool, offset: int, limit: int
    ) -> ComposableSessions:
        """Returns a page of the sessions of a thread, or of the whole space, that can be composed."""

    @rpc()
    async def use_composition(self, thread: Thread, composition_id: int) -> SessionEnd | Refusal:
        """Ends a thread's session and begins a new one with a composition."""

    @rpc()
    async def drop_composition(self, space: Space, composition_id: int) -> DroppedComposition | None:
        """Drops a composition; None if it is already gone."""

    async def keep_draft(self, turn: ClaimedTurn, space: Space, draft: Draft) -> None:
        """Stores a draft with the turn that began it."""
        await self._call(
            "keep_draft", turn_id=turn.turn_id, fence=turn.fence, space=space.as_json(), draft=encode_row(Draft, draft)
        )

    @rpc()
    async def change_draft(
        self, turn_id: int, space: Space, user_id: int, change: Mapping[str, object]
    ) -> Draft | None:
        """Changes some fields of a person's draft and returns it; None: there is no draft. See `relay_change_draft`."""
