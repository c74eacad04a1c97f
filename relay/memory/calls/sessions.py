"""Sessions, titles, summaries, and cached derivations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.core.models import Space
from relay.memory.calls.base import Calls, rpc
from relay.memory.rows.jobs import ClaimedJob, SummaryWork
from relay.memory.rows.sessions import Session, SessionEnd, SessionPage, SummaryInUse, SummaryPage
from relay.memory.rows.status import Status
from relay.memory.rows.upkeep.writing import NewSummary, SourceMessage


class SessionCalls(Calls):
    """Sessions: the parts of a thread between one /new and the next; their titles and summaries; cached derivations."""

    @rpc()
    async def new_session(self, space: Space, chat_id: int, topic_id: int, title: str) -> SessionEnd:
        """Ends a thread's session and begins the next one."""

    @rpc()
    async def sessions(self, space: Space, chat_id: int, topic_id: int, offset: int, limit: int) -> SessionPage:
        """Returns a page of a thread's sessions, newest first."""

    @rpc()
    async def session(self, space: Space, chat_id: int, topic_id: int, session_id: int) -> Session | None:
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
    async def want_summary(self, space: Space, chat_id: int, topic_id: int, least: int, user_id: int) -> str | None:
        """Owes a thread a summary now, paid by `user_id`. Returns its job's key; None if fewer than `least` messages
        are new."""

    @rpc()
    async def summary(self, space: Space, chat_id: int, topic_id: int, summary_id: int | None = None) -> SummaryInUse:
        """Returns a thread's current summary, or another version."""

    @rpc()
    async def summaries(self, space: Space, chat_id: int, topic_id: int, offset: int, limit: int) -> SummaryPage:
        """Returns a page of a thread's summary versions, newest first."""

    @rpc()
    async def correct_summary(
        self,
        space: Space,
        chat_id: int,
        topic_id: int,
        of: int,
        user_id: int,
        name: str,
        text: str | None = None,
        version: int | None = None,
    ) -> bool:
        """Replaces the current summary `of` with a person's `text` or an older `version`. Returns whether it did: not
        if `of` is no longer current."""

    @rpc()
    async def result(self, space_id: int, hash: str) -> object:
        """Returns a derivation's cached result as JSON; None if there is none."""

    @rpc()
    async def keep_result(self, space_id: int, derivation: Mapping[str, object], result: object, most: int) -> None:
        """Caches a derivation's result, up to `most` per space; the least recently used go."""
