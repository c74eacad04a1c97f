"""The database itself: its status, duties that one process has at a time, and what alerts and `relay doctor` read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from relay.memory.calls.base import Calls
from relay.memory.claims import Queue
from relay.memory.rows.operations import Examination, Readings, Sighting, WatchedIncident, WorkState


class StatusCalls(Calls):
    """What a process asks to know whether it is well."""

    async def ping(self) -> str:
        """The database's time (ISO 8601). Raises `DatabaseError` when it does not answer."""
        return str(await self._call("ping"))

    async def queue(self, bot_id: int) -> Queue:
        """What waits to be answered."""
        return await self._fetch(Queue, "queue", bot_id=bot_id)


class ExamineCalls(Calls):
    """The database as it is, and how the work goes. Neither changes anything."""

    async def examine(self) -> Examination:
        """What the database is and has."""
        return await self._fetch(Examination, "examine")

    async def examine_work(self) -> WorkState:
        """How the work goes, for all bots."""
        return await self._fetch(WorkState, "examine_work")


class DutyCalls(Calls):
    """Leases of what only one process does."""

    async def take_duty(self, name: str, lease_seconds: int, rest_seconds: int = 0) -> bool:
        """Takes a duty, or renews it; whether this process has it now.

        It is not given to anybody within `rest_seconds` after it was done to its end.
        """
        return bool(
            await self._call(
                "take_duty", name=name, worker=self._worker, lease_seconds=lease_seconds, rest_seconds=rest_seconds
            )
        )

    async def end_duty(self, name: str, done: bool) -> bool:
        """Gives a duty back, `done` to its end or not; whether this process still had it."""
        return bool(await self._call("end_duty", name=name, worker=self._worker, done=done))

    async def note_run(self, kind: str, bot_id: int) -> None:
        """Notes as an event that this process has `started` to serve a bot, or has `stopped`."""
        await self._call("note_run", kind=kind, bot_id=bot_id, payload={"worker": str(self._worker)})


class WatchCalls(Calls):
    """Trouble that admins are told of."""

    async def readings(self, bot_id: int, since: datetime) -> Readings:
        """How things stand for a bot, with what was spent since then and the open incidents."""
        return await self._fetch(Readings, "readings", bot_id=bot_id, since=since.isoformat())

    async def watch(self, seen: Sequence[Sighting], lease_seconds: int) -> list[WatchedIncident]:
        """Takes down what was seen; leases the incidents that are to be told."""
        rows = [asdict(one) for one in seen]
        return await self._list(WatchedIncident, "watch", worker=self._worker, seen=rows, lease_seconds=lease_seconds)

    async def was_wrong(self, kind: str, detail: str, seconds: float) -> bool:
        """Takes down an incident that is over and lasted until now. Returns False when it was taken down already."""
        return bool(await self._call("was_wrong", kind=kind, detail=detail, seconds=seconds))

    async def told(self, incident_id: int, over: bool, told: bool = True) -> None:
        """A leased incident was told (`over`: as something that is over), or could not be."""
        await self._call("told", incident_id=incident_id, worker=self._worker, told=told, over=over)
