"""Sessions, titles, summaries, and the results of derivations."""

from __future__ import annotations

from relay.core.models import Space
from relay.memory.calls.base import Calls, Json
from relay.memory.rows.sessions import Session, SessionEnd, SessionPage, SummaryInUse, SummaryPage
from relay.memory.rows.status import Status


class SessionCalls(Calls):
    """The stretches of a thread between two /new."""

    async def new_session(self, space: Space, chat_id: int, topic_id: int, title: str) -> SessionEnd:
        """Ends a thread's session."""
        return await self._fetch(
            SessionEnd, "new_session", space=space.as_json(), chat_id=chat_id, topic_id=topic_id, title=title
        )

    async def sessions(self, space: Space, chat_id: int, topic_id: int, offset: int, limit: int) -> SessionPage:
        """A page of a thread's sessions, newest first."""
        where = {"space": space.as_json(), "chat_id": chat_id, "topic_id": topic_id}
        return await self._fetch(SessionPage, "sessions", **where, offset=offset, limit=limit)

    async def session(self, space: Space, chat_id: int, topic_id: int, session_id: int) -> Session | None:
        """One session of a thread, with its summary and its last words; None when there is none of that id."""
        where = {"space": space.as_json(), "chat_id": chat_id, "topic_id": topic_id}
        return await self._find(Session, "session", **where, session_id=session_id)

    async def status(self, space: Space) -> Status:
        """A space and the installation, in numbers."""
        return await self._fetch(Status, "status", space=space.as_json())


class TopicCalls(Calls):
    """Titles, owed and made; topics that bear them."""

    async def claim_titles(self, bot_id: int, limit: int, lease_seconds: int) -> list[Json]:
        """Leases titles that are due in a bot's chats, with what each is made of."""
        return list(
            await self._call(
                "claim_titles", bot_id=bot_id, worker=self._worker, limit=limit, lease_seconds=lease_seconds
            )
        )

    async def renew_title(self, session_id: int, lease_seconds: int) -> None:
        """Prolongs the lease of a title that is being made."""
        await self._call("renew_title", session_id=session_id, worker=self._worker, lease_seconds=lease_seconds)

    async def store_title(self, session_id: int, title: str) -> Json | None:
        """Stores a title. Returns `{chat_id, topic_id}` of the topic that is to be renamed by it, if any."""
        found: Json | None = await self._call("store_title", session_id=session_id, worker=self._worker, title=title)
        return found

    async def skip_title(self, session_id: int) -> None:
        """Settles a title for which there is nothing to name."""
        await self._call("skip_title", session_id=session_id, worker=self._worker)

    async def fail_title(self, session_id: int, error: str, retry_seconds: float, most: int | None) -> None:
        """Puts a title off, up to `most` times; None: that was no failure, and counts as none."""
        await self._call(
            "fail_title",
            session_id=session_id,
            worker=self._worker,
            error=error,
            retry_seconds=retry_seconds,
            most=most,
        )

    async def topic_renamed(self, bot_id: int, chat_id: int, topic_id: int, name: str) -> None:
        """Takes down that a topic bears the name that was thought up for it."""
        await self._call("topic_renamed", bot_id=bot_id, chat_id=chat_id, topic_id=topic_id, name=name)


class SummaryCalls(Calls):
    """Summaries of threads, owed and made."""

    async def claim_summaries(self, limit: int, lease_seconds: int) -> list[Json]:
        """Leases summaries that are due, with what each is made of."""
        return list(await self._call("claim_summaries", worker=self._worker, limit=limit, lease_seconds=lease_seconds))

    async def renew_summary(self, due_id: int, lease_seconds: int) -> None:
        """Prolongs the lease of a summary that is being made."""
        await self._call("renew_summary", due_id=due_id, worker=self._worker, lease_seconds=lease_seconds)

    async def store_summary(self, due_id: int, summary: Json) -> bool:
        """Stores a summary. Returns False when the lease was lost or it is there already."""
        return bool(await self._call("store_summary", due_id=due_id, worker=self._worker, summary=summary))

    async def skip_summary(self, due_id: int) -> None:
        """Settles a due row for which there is too little to summarise."""
        await self._call("skip_summary", due_id=due_id, worker=self._worker)

    async def fail_summary(self, due_id: int, error: str, retry_seconds: float, most: int | None) -> None:
        """Puts a summary off, up to `most` times; None: that was no failure, and counts as none."""
        await self._call(
            "fail_summary", due_id=due_id, worker=self._worker, error=error, retry_seconds=retry_seconds, most=most
        )

    async def claim_summary(self, due_id: int, lease_seconds: int) -> Json | None:
        """Leases one summary, with what it is made of. None when it is made already, or being made elsewhere."""
        found: Json | None = await self._call(
            "claim_summary", due_id=due_id, worker=self._worker, lease_seconds=lease_seconds
        )
        return found

    async def owe_summary(self, space: Space, chat_id: int, topic_id: int, least: int) -> int | None:
        """Owes a thread a summary, now. Returns its number; None when fewer than `least` messages are new."""
        found: int | None = await self._call(
            "owe_summary", space=space.as_json(), chat_id=chat_id, topic_id=topic_id, least=least
        )
        return found

    async def summary_due(self, due_id: int) -> Json:
        """How it stands with a summary that was owed: `{status, error}`."""
        result: Json = await self._call("summary_due", due_id=due_id)
        return result

    async def summary(self, space: Space, chat_id: int, topic_id: int, summary_id: int | None = None) -> SummaryInUse:
        """A thread's present summary, or another version of it."""
        where = {"space": space.as_json(), "chat_id": chat_id, "topic_id": topic_id}
        return await self._fetch(SummaryInUse, "summary", **where, summary_id=summary_id)

    async def summaries(self, space: Space, chat_id: int, topic_id: int, offset: int, limit: int) -> SummaryPage:
        """A page of the versions of a thread's summary, newest first."""
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
        """Puts a person's `text`, or an older `version`, in the place of the present summary `of`.

        Returns whether it is the present one now: not when `of` is no longer.
        """
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
    """The cache of results, by space and hash."""

    async def result(self, space_id: int, hash: str) -> Json | None:
        """What a derivation came to before; None when that is not known (any more)."""
        found: Json | None = await self._call("result", space_id=space_id, hash=hash)
        return found

    async def keep_result(self, space_id: int, derivation: Json, result: Json, most: int) -> None:
        """Keeps what a derivation came to, and no more than `most` of a space; the least recently used go."""
        await self._call("keep_result", space_id=space_id, derivation=derivation, result=result, most=most)
