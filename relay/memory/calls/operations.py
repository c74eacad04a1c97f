"""The database itself: status, duties, and readings for alerts and `relay doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relay.memory.calls.base import WORKER, Calls, rpc
from relay.memory.claims import Queue
from relay.memory.rows.operations import Examination, Observation, Readings, WatchedIncident, WorkState


class OperationCalls(Calls):
    """Status, duties, and readings."""

    @rpc()
    async def ping(self) -> str:
        """Returns the database's time (ISO 8601). Raises `DatabaseError` if it does not answer."""

    @rpc()
    async def queue(self, bot_id: int) -> Queue:
        """Returns the backlog of a bot's queue."""

    @rpc()
    async def examine(self) -> Examination:
        """Describes the database."""

    @rpc()
    async def examine_work(self) -> WorkState:
        """Describes the work of all bots."""

    @rpc(worker=WORKER)
    async def hold_duty(self, name: str, lease_seconds: int) -> bool:
        """Takes or renews a duty. Returns whether this process has it."""

    @rpc(worker=WORKER)
    async def free_duty(self, name: str) -> bool:
        """Gives a duty back. Returns whether this process still had it."""

    async def note_run(self, kind: str, bot_id: int) -> None:
        """Records that this process `started` or `stopped` serving a bot."""
        await self._call("note_run", kind=kind, bot_id=bot_id, payload={"worker": str(self._worker)})

    @rpc()
    async def readings(self, bot_id: int, since: datetime) -> Readings:
        """Returns a bot's health, its spending since then, and open incidents."""

    @rpc(worker=WORKER)
    async def watch(self, seen: Sequence[Observation], lease_seconds: int) -> list[WatchedIncident]:
        """Records observations; leases the incidents to announce."""

    @rpc()
    async def was_wrong(self, kind: str, detail: str, seconds: float) -> bool:
        """Records an incident that lasted until now and is over. Returns False if it was already recorded."""

    @rpc("told", worker=WORKER)
    async def record_told(self, incident_id: int, over: bool, told: bool) -> None:
        """Records that a leased incident was announced (`over`: as over), or (`told` False) could not be announced."""
