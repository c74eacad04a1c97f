"""Titles of sessions, and names of topics."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json


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
