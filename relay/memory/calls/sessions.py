"""Sessions with their titles and summaries, projects, and cached derivations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from relay.core.models import Space, Thread
from relay.memory.calls.base import Calls, rpc
from relay.memory.contexts.space_settings import ContextSettings, read_document, valid_settings
from relay.memory.rows.contexts.composition import CompositionPage
from relay.memory.rows.contexts.library import OriginalPage, StorageStatistics, Suggestion
from relay.memory.rows.contexts.projects import (
    DecayPreview,
    FoundSession,
    ProjectManifest,
    ProjectPage,
    ProjectPlace,
    SessionRecord,
)
from relay.memory.rows.jobs import ClaimedJob, SummaryWork
from relay.memory.rows.sessions import Session, SessionEnd, SessionPage, SummaryInUse, SummaryPage
from relay.memory.rows.status import Status
from relay.memory.rows.upkeep.writing import NewSummary, SourceMessage


class SessionCalls(Calls):
    """Sessions: the parts of a thread between one /new and the next; their titles and summaries; cached derivations;
    and sessions as a library, found by a thread, or by ids alone for programs and the app."""

    @rpc()
    async def new_session(self, thread: Thread, title: str) -> SessionEnd:
        """Ends a thread's session and begins the next one."""

    @rpc()
    async def sessions(self, thread: Thread, offset: int, limit: int) -> SessionPage:
        """Returns a page of a thread's sessions, newest first."""

    @rpc()
    async def session(self, thread: Thread, session_id: int) -> Session | None:
        """Returns a session of a thread with its summary and last words; None if the thread doesn't have it."""

    @rpc()
    async def status(self, space: Space) -> Status:
        """Returns the status of a space and the installation, in numbers."""

    @rpc()
    async def title_work(self, job: ClaimedJob) -> list[SourceMessage]:
        """Returns the first messages of the session that a job has to name."""

    @rpc()
    async def store_title(self, job: ClaimedJob, title: str, topics: Sequence[str] = ()) -> None:
        """Stores a title and topics, queues the naming of a private topic without a name, and finishes their job."""

    @rpc()
    async def topic_renamed(self, bot_id: int, chat_id: int, topic_id: int, name: str) -> None:
        """Records that a topic got its generated name."""

    @rpc()
    async def summary_work(self, job: ClaimedJob) -> SummaryWork | None:
        """Returns the input of a job's summary. None: this process has lost the job."""

    @rpc()
    async def store_summary(self, job: ClaimedJob, summary: NewSummary) -> bool:
        """Stores a summary and finishes its job. Returns False if the job is lost, the summary exists, or the previous
        one was corrected meanwhile; in that case the job stays owed."""

    @rpc()
    async def want_summary(self, thread: Thread, least: int, user_id: int) -> str | None:
        """Owes a thread a summary now, paid by `user_id`. Returns its job's key; None if fewer than `least` messages
        are new."""

    @rpc()
    async def summary(self, thread: Thread, summary_id: int | None = None) -> SummaryInUse:
        """Returns a thread's current summary, or another version."""

    @rpc()
    async def summaries(self, thread: Thread, offset: int, limit: int) -> SummaryPage:
        """Returns a page of a thread's summary versions, newest first."""

    @rpc()
    async def correct_summary(
        self, thread: Thread, of: int, user_id: int, name: str, text: str | None = None, version: int | None = None
    ) -> bool:
        """Replaces the current summary `of` with a person's `text` or an older `version`. Returns whether it did: not
        if `of` is no longer current."""

    @rpc()
    async def result(self, space_id: int, hash: str) -> object:
        """Returns a derivation's cached result as JSON; None if there is none."""

    @rpc()
    async def keep_result(self, space_id: int, derivation: Mapping[str, object], result: object, most: int) -> None:
        """Caches a derivation's result, up to `most` per space; the least recently used go."""

    @rpc()
    async def find_project(self, kind: Literal["project", "session", "composition"], id: int) -> ProjectPlace | None:
        """Returns the place of a project, session or composition; None: there is none on the record."""

    @rpc()
    async def spaces_around(self, user_id: int) -> list[Space]:
        """Returns a person's own space and the groups where they spoke lately, even if they left them."""

    @rpc()
    async def projects(self, spaces: Sequence[Space], registered: bool, offset: int, limit: int) -> ProjectPage:
        """Returns a page of the projects of some spaces. `registered`: those with registered sessions."""

    @rpc()
    async def project(self, space: Space, thread_id: int, offset: int, limit: int) -> ProjectManifest | None:
        """Returns a project with a page of its registered sessions; None: the space has no such project."""

    @rpc()
    async def project_compositions(self, thread: Thread, offset: int, limit: int) -> CompositionPage:
        """Returns a page of a thread's compositions, newest first."""

    @rpc()
    async def session_record(self, space: Space, session_id: int) -> SessionRecord | None:
        """Returns a session with its markers and versions; None: the space has no such session."""

    @rpc()
    async def preview_decay(
        self, space: Space, session_id: int, level: str, ratio: int, distance: int | None
    ) -> DecayPreview | None:
        """Returns which markers of a session would survive; None: the space has no such session."""

    @rpc()
    async def read_original(self, space: Space, session_id: int, offset: int, limit: int) -> OriginalPage | None:
        """Returns a page of a session's messages, without marking the session as used. None: the space has no such
        session."""

    @rpc()
    async def read_original_after(self, space: Space, session_id: int, after: int, limit: int) -> OriginalPage | None:
        """Returns the messages of a session after one. None: the space has no such session."""

    @rpc()
    async def found_sessions(self, space: Space, found: Sequence[Mapping[str, object]]) -> list[FoundSession]:
        """Returns the sessions to which search results, as `{kind, id}`, belong."""

    @rpc()
    async def open_original(self, thread: Thread, session_id: int, offset: int, limit: int) -> OriginalPage | None:
        """Returns a page of a session's messages, and marks the session as used. None: the thread doesn't have it."""

    @rpc()
    async def register_session(self, thread: Thread, session_id: int, on: bool) -> bool | None:
        """Adds a session to the library, or removes it. Returns whether it is in the library now. None: the thread
        doesn't have it."""

    @rpc()
    async def link_session(self, thread: Thread, session_id: int, reason: str, user_id: int) -> bool:
        """Links a session of the space to a thread of it. Returns False if there is no such session, or it belongs to
        this thread."""

    @rpc()
    async def unlink_session(self, thread: Thread, session_id: int) -> bool:
        """Removes a link. Returns False if there is none."""

    async def suggest(self, thread: Thread, query: Mapping[str, object], budget: int) -> list[Suggestion]:
        """Returns past sessions that fit a question (see `relay.find_entries`), best first, within a budget in
        tokens."""
        asked = {**query, "chat_id": thread.chat_id, "topic_id": thread.topic_id}
        return await self._list(Suggestion, "suggest", space=thread.space.as_json(), query=asked, budget=budget)

    async def context_settings(self, space: Space) -> ContextSettings:
        """Returns a space's settings of contexts, with defaults for stored values that are no longer valid."""
        stored = await self._call("context_settings", space=space.as_json())
        return read_document(valid_settings(stored))

    async def change_context_settings(self, space: Space, changes: Mapping[str, object]) -> ContextSettings:
        """Changes a space's settings of contexts. Returns all of them."""
        stored = await self._call("change_context_settings", space=space.as_json(), changes=changes)
        return read_document(valid_settings(stored))

    @rpc()
    async def storage_statistics(self, space: Space) -> StorageStatistics:
        """Returns how much a space stores."""
