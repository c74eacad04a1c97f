"""Sessions, titles, summaries, and cached derivations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.core.models import Space
from relay.memory.calls.base import Calls
from relay.memory.rows.jobs import ClaimedJob, SummaryWork
from relay.memory.rows.sessions import Session, SessionEnd, SessionPage, SummaryInUse, SummaryPage
from relay.memory.rows.status import Status
from relay.memory.rows.upkeep.writing import NewSummary, SourceMessage, TopicPlace


class SessionCalls(Calls):
    """Sessions: the parts of a thread between one /new and the next."""

    async def new_session(self, space: Space, chat_id: int, topic_id: int, title: str) -> SessionEnd:
        """Ends a thread's session and begins the next one."""
        return await self._fetch(
            SessionEnd, "new_session", space=space.as_json(), chat_id=chat_id, topic_id=topic_id, title=title
        )

    async def sessions(self, space: Space, chat_id: int, topic_id: int, offset: int, limit: int) -> SessionPage:
        """Returns a page of a thread's sessions, newest first."""
        where = {"space": space.as_json(), "chat_id": chat_id, "topic_id": topic_id}
        return await self._fetch(SessionPage, "sessions", **where, offset=offset, limit=limit)

    async def session(self, space: Space, chat_id: int, topic_id: int, session_id: int) -> Session | None:
        """Returns a session of a thread with its summary and last words; None if the thread doesn't have it."""
        where = {"space": space.as_json(), "chat_id": chat_id, "topic_id": topic_id}
        return await self._find(Session, "session", **where, session_id=session_id)

    async def status(self, space: Space) -> Status:
        """Returns the status of a space and the installation, in numbers."""
        return await self._fetch(Status, "status", space=space.as_json())


class TopicCalls(Calls):
    """Titles, and topics named after them."""

    async def title_work(self, job: ClaimedJob) -> list[SourceMessage]:
        """Returns the first messages of the session that a job has to name."""
        return await self._list(SourceMessage, "title_work", job_id=job.id, fence=job.fence)

    async def store_title(self, job: ClaimedJob, title: str, topics: Sequence[str] = ()) -> TopicPlace | None:
        """Stores a title and topics, and finishes their job. Returns the topic to rename, if any."""
        return await self._find(
            TopicPlace, "store_title", job_id=job.id, fence=job.fence, title=title, topics=list(topics)
        )

    async def topic_renamed(self, bot_id: int, chat_id: int, topic_id: int, name: str) -> None:
        """Records that a topic got its generated name."""
        await self._call("topic_renamed", bot_id=bot_id, chat_id=chat_id, topic_id=topic_id, name=name)


class SummaryCalls(Calls):
    """Summaries of threads."""

    async def summary_work(self, job: ClaimedJob) -> SummaryWork | None:
        """Returns the input of a job's summary. None: this process has lost the job."""
        return await self._find(SummaryWork, "summary_work", job_id=job.id, fence=job.fence)

    async def store_summary(self, job: ClaimedJob, summary: NewSummary) -> bool:
        """Stores a summary and finishes its job. Returns False if the job is lost, the summary exists, or the previous
        one was corrected meanwhile; in that case the job stays owed."""
        return bool(await self._call("store_summary", job_id=job.id, fence=job.fence, summary=summary.as_json()))

    async def want_summary(self, space: Space, chat_id: int, topic_id: int, least: int, user_id: int) -> str | None:
        """Owes a thread a summary now, paid by `user_id`. Returns its job's key; None if fewer than `least` messages
        are new."""
        found: str | None = await self._call(
            "want_summary", space=space.as_json(), chat_id=chat_id, topic_id=topic_id, least=least, user_id=user_id
        )
        return found

    async def summary(self, space: Space, chat_id: int, topic_id: int, summary_id: int | None = None) -> SummaryInUse:
        """Returns a thread's current summary, or another version."""
        where = {"space": space.as_json(), "chat_id": chat_id, "topic_id": topic_id}
        return await self._fetch(SummaryInUse, "summary", **where, summary_id=summary_id)

    async def summaries(self, space: Space, chat_id: int, topic_id: int, offset: int, limit: int) -> SummaryPage:
        """Returns a page of a thread's summary versions, newest first."""
        where = {"space": space.as_json(), "chat_id": chat_id, "topic_id": topic_id}
        return await self._fetch(SummaryPage, "summaries", **where, offset=offset, limit=limit)

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
        return bool(
            await self._call(
                "correct_summary",
                space=space.as_json(),
                chat_id=chat_id,
                topic_id=topic_id,
                of=of,
                text=text,
                version=version,
                user_id=user_id,
                name=name,
            )
        )


class ResultCalls(Calls):
    """Cached derivations, by space and hash."""

    async def result(self, space_id: int, hash: str) -> object:
        """Returns a derivation's cached result as JSON; None if there is none."""
        return await self._call("result", space_id=space_id, hash=hash)

    async def keep_result(self, space_id: int, derivation: Mapping[str, object], result: object, most: int) -> None:
        """Caches a derivation's result, up to `most` per space; the least recently used go."""
        await self._call("keep_result", space_id=space_id, derivation=derivation, result=result, most=most)
