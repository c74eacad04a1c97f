"""Judging: what was said is read again for what is worth keeping, and told."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json


class JudgeCalls(Calls):
    """Threads that wait to be judged, and what was found in them."""

    async def claim_judging(self, limit: int, lease_seconds: int) -> tuple[list[Json], bool]:
        """Leases threads in which something waits, each with its next messages: `{thread_id, space_id, kind, after,
        through, again, failures, messages, before, taught}`. And whether others may wait though these are few."""
        found = await self._call("claim_judging", worker=self._worker, limit=limit, lease_seconds=lease_seconds)
        return list(found["work"]), bool(found["passed"])

    async def renew_judging(self, thread_id: int, lease_seconds: int) -> None:
        """Prolongs the lease of a thread that is being judged."""
        await self._call("renew_judging", thread_id=thread_id, worker=self._worker, lease_seconds=lease_seconds)

    async def keep_judged(self, thread_id: int, result: Json) -> bool:
        """Keeps what was found and moves the cursor, all of it or nothing: `{after, again, through, findings, fallback,
        again_seconds}`. Returns False when the lease or the place was lost; the same again changes nothing more."""
        return bool(await self._call("keep_judged", thread_id=thread_id, worker=self._worker, result=result))

    async def put_off_judging(self, thread_id: int, error: str, retry_seconds: float, again: int | None) -> None:
        """Puts a thread off; its cursor stays."""
        await self._call(
            "put_off_judging",
            thread_id=thread_id,
            worker=self._worker,
            error=error,
            retry_seconds=retry_seconds,
            again=again,
        )

    async def pass_judging(self, limit: int) -> int:
        """Moves the cursors of threads in which something waits to the end, unjudged. Returns how many."""
        return int(await self._call("pass_judging", limit=limit))

    async def unjudged(self) -> int:
        """How many messages wait to be judged, in all spaces."""
        return int(await self._call("unjudged"))

    async def judging_rests(self) -> float | None:
        """Seconds until something that waits may be judged; None: nothing does."""
        found: float | None = await self._call("judging_rests")
        return found

    async def near_memories(self, space_id: int, candidates: list[Json], limit: int) -> list[list[Json]]:
        """For each candidate `{content, subject_id, kind, vector, model}` the memories nearest to it."""
        return list(await self._call("near_memories", space_id=space_id, candidates=candidates, limit=limit))

    async def claim_announcements(self, bot_id: int, limit: int, lease_seconds: int) -> list[Json]:
        """Leases what was learned after its answer was sent and is to be told under it."""
        return list(
            await self._call(
                "claim_announcements", bot_id=bot_id, worker=self._worker, limit=limit, lease_seconds=lease_seconds
            )
        )

    async def announced(self, turn_id: int, seq: int | None, request: Json | None) -> bool:
        """The message shows `request` now. False: another process has it."""
        return bool(await self._call("announced", turn_id=turn_id, worker=self._worker, seq=seq, request=request))

    async def announce_anew(self, turn_id: int, request: Json) -> bool:
        """It is about to be told in a message of its own. False: it was, or another process has it."""
        return bool(await self._call("announce_anew", turn_id=turn_id, worker=self._worker, request=request))

    async def announced_anew(self, turn_id: int, chat_id: int, telegram_message_id: int) -> None:
        """That message is in the chat."""
        await self._call("announced_anew", turn_id=turn_id, chat_id=chat_id, telegram_message_id=telegram_message_id)

    async def put_off_announcement(self, turn_id: int, retry_seconds: float) -> None:
        """It could not be told now."""
        await self._call("put_off_announcement", turn_id=turn_id, worker=self._worker, retry_seconds=retry_seconds)
