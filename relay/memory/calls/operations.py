"""The database itself: status, duties, and readings for alerts and `relay doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from relay.memory.calls.base import Calls
from relay.memory.claims import Queue
from relay.memory.rows.operations import Examination, Observation, Readings, WatchedIncident, WorkState


class StatusCalls(Calls):
    """Health of the database and queue."""

    async def ping(self) -> str:
        """Returns the database's time (ISO 8601). Raises `DatabaseError` if it does not answer."""
        return str(await self._call("ping"))

    async def queue(self, bot_id: int) -> Queue:
        """Returns the backlog of a bot's queue."""
        return await self._fetch(Queue, "queue", bot_id=bot_id)


class ExamineCalls(Calls):
    """Read-only descriptions of the database and the work."""

    async def examine(self) -> Examination:
        """Describes the database."""
        return await self._fetch(Examination, "examine")

    async def examine_work(self) -> WorkState:
        """Describes the work of all bots."""
        return await self._fetch(WorkState, "examine_work")


class DutyCalls(Calls):
    """Leases on work that one process does at a time."""

    async def hold_duty(self, name: str, lease_seconds: int) -> bool:
        """Takes or renews a duty. Returns whether this process has it."""
        return bool(await self._call("hold_duty", name=name, worker=self._worker, lease_seconds=lease_seconds))

    async def free_duty(self, name: str) -> bool:
        """Gives a duty back. Returns whether this process still had it."""
        return bool(await self._call("free_duty", name=name, worker=self._worker))

    async def note_run(self, kind: str, bot_id: int) -> None:
        """Records that this process `started` or `stopped` serving a bot."""
        await self._call("note_run", kind=kind, bot_id=bot_id, payload={"worker": str(self._worker)})


class WatchCalls(Calls):
    """Incidents about which admins are alerted."""

    async def readings(self, bot_id: int, since: datetime) -> Readings:
        """Returns a bot's health, its spending since then, and open incidents."""
        return await self._fetch(Readings, "readings", bot_id=bot_id, since=since.isoformat())

    async def watch(self, seen: Sequence[Observation], lease_seconds: int) -> list[WatchedIncident]:
        """Records observations; leases the incidents to announce."""
        rows = [asdict(one) for one in seen]
        return await self._list(WatchedIncident, "watch", worker=self._worker, seen=rows, lease_seconds=lease_seconds)

    async def was_wrong(self, kind: str, detail: str, seconds: float) -> bool:
        """Records an incident that lasted until now and is over. Returns False if it was already recorded."""
        return bool(await self._call("was_wrong", kind=kind, detail=detail, seconds=seconds))

    async def record_told(self, incident_id: int, over: bool, told: bool = True) -> None:
        """Records that a leased incident was announced (`over`: as over), or (`told` False) could not be announced."""
        await self._call("told", incident_id=incident_id, worker=self._worker, told=told, over=over)
