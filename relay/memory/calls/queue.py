"""The queue, in which updates go in and turns come out, and jobs."""

from __future__ import annotations

from collections.abc import Sequence

from relay.memory.calls.base import WORKER, Calls, rpc
from relay.memory.claims import ClaimedTurn, ClaimResult
from relay.memory.rows.delivery import Delivered, Message
from relay.memory.rows.jobs import ClaimedJob, OwedJob
from relay.memory.rows.turns.inbox import InboxRow

LEASE_SECONDS = 20
"""How many seconds a turn belongs to a process after its last renewal. A dead process's turns wait this long, and until
another process's next claim."""
JOB_LEASE_SECONDS = 24
"""How many seconds a job belongs to a process after its last renewal. It is renewed every `RENEW_SECONDS`, so three
renewals may be lost. (Turns have the queue's lease, which each claim renews.)"""
FAILURES = 3
"""A turn that failed this often is set aside."""


class QueueCalls(Calls):
    """Stores updates, claims and releases turns, and the same for jobs: owed background work."""

    async def intake(
        self, bot_id: int, updates: Sequence[InboxRow], limit: int, running: Sequence[int] = ()
    ) -> tuple[list[ClaimedTurn], float | None]:
        """Stores updates (each once) and claims up to `limit` due turns. Returns them and the seconds until more."""
        rows = [row.arguments() for row in updates]
        result = await self._fetch_claims("intake", bot_id, limit, running, updates=rows)
        return list(result.turns), result.wait

    @rpc()
    async def begin_command(self, bot_id: int, chat_id: int, topic_id: int, user_id: int) -> ClaimedTurn:
        """Begins a turn for a command without an update. It ends with `sent(turn, [], True)`."""

    @rpc()
    async def refuse_command(self, turn: ClaimedTurn) -> Delivered:
        """Ends the turn of a command that was refused. A turn in which nothing was stored is deleted."""

    async def claim(
        self, bot_id: int, limit: int, running: Sequence[int] = ()
    ) -> tuple[list[ClaimedTurn], ClaimResult]:
        """Claims up to `limit` turns besides those `running` here, and renews the leases of these."""
        result = await self._fetch_claims("claim", bot_id, limit, running)
        return list(result.turns), result

    async def _fetch_claims(
        self, function: str, bot_id: int, limit: int, running: Sequence[int], **more: object
    ) -> ClaimResult:
        own = {"worker": self._worker, "lease_seconds": LEASE_SECONDS}
        return await self._fetch(
            ClaimResult, function, bot_id=bot_id, limit=limit, running=list(running), **own, **more
        )

    @rpc()
    async def absorb(self, turn: ClaimedTurn) -> ClaimedTurn:
        """Adds the user's later messages to a turn that has not answered yet."""

    @rpc(worker=WORKER)
    async def start(self) -> int:
        """Releases everything that a dead process of this name held, and notes that it died with them. Returns how many
        turns."""

    @rpc(worker=WORKER)
    async def release(self) -> int:
        """Releases everything that this process holds. Returns how many turns."""

    @rpc()
    async def ask_stop(self, bot_id: int, chat_id: int, topic_id: int, turn_id: int | None) -> bool:
        """Stops the answer in progress in a chat's topic, or that of one turn, in any process. Returns whether there is
        one."""

    async def fail(self, turn: ClaimedTurn, error: str, retry_seconds: float, say: Sequence[Message] = ()) -> bool:
        """Records a failed turn. Returns whether it was set aside; in that case the messages `say` are queued."""
        result = await self._call(
            "fail", turn_id=turn.turn_id, fence=turn.fence, error=error, retry_seconds=retry_seconds, most=FAILURES,
            say=[one.as_json() for one in say],
        )  # fmt: skip
        return bool(result["set_aside"])

    @rpc()
    async def tidy(self, days: int, limit: int) -> int:
        """Deletes rows kept to recognise repeated updates. Returns how many."""

    @rpc()
    async def drop_records(self, days: int, limit: int) -> int:
        """Deletes old records: prompts, sent messages, spending. Returns how many."""

    @rpc(worker=WORKER, lease_seconds=JOB_LEASE_SECONDS)
    async def claim_jobs(self, kind: str, bot_id: int | None, limit: int, key: str | None = None) -> list[ClaimedJob]:
        """Leases due jobs of a kind, longest wait first: those for any process, and those of one bot. With a `key`,
        leases only that job, even if it waits after a failure."""

    @rpc(lease_seconds=JOB_LEASE_SECONDS)
    async def renew_job(self, job: ClaimedJob) -> bool:
        """Renews a job's lease. Returns False if this process has lost it."""

    @rpc()
    async def finish_job(self, job: ClaimedJob) -> bool:
        """Finishes a job. Returns False if this process has lost it, or storing its result finished it."""

    @rpc()
    async def fail_job(self, job: ClaimedJob, error: str, retry_seconds: float, most: int) -> bool:
        """Delays a job after a failure. Returns True if it failed for the `most`th time and is now parked."""

    @rpc()
    async def skip_job(self, job: ClaimedJob, reason: str, seconds: float) -> bool:
        """Gives back a job that can't be done now, without counting a failure. Returns False if this process has lost
        it."""

    @rpc()
    async def jobs_rest(self, kind: str, bot_id: int | None) -> float | None:
        """Returns the seconds until a job of a kind may be claimed; None if no owed job may be."""

    @rpc()
    async def job(self, kind: str, key: str) -> OwedJob | None:
        """Returns an owed job; None if it is done."""

    @rpc()
    async def owe_job(self, kind: str, key: str = "") -> None:
        """Owes a job now; a failed one starts over."""

    @rpc()
    async def owe_daily(self, kind: str, rest_seconds: int) -> bool:
        """Owes a daily job. Returns False if a process has owed it within `rest_seconds`."""
