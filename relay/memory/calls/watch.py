"""What the sentinel reads, and incidents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relay.memory.calls.base import Calls, Json


class WatchCalls(Calls):
    """Trouble that admins are told of."""

    async def readings(self, bot_id: int, since: datetime) -> Json:
        """How things stand for a bot, as numbers, with what was spent since then and the open incidents."""
        result: Json = await self._call("readings", bot_id=bot_id, since=since.isoformat())
        return result

    async def watch(self, seen: Sequence[Json], lease_seconds: int) -> list[Json]:
        """Takes down what was seen (`{kind, state, detail, seconds}`); leases the incidents that are to be told."""
        return list(await self._call("watch", worker=self._worker, seen=list(seen), lease_seconds=lease_seconds))

    async def was_wrong(self, kind: str, detail: str, seconds: float) -> bool:
        """Takes down an incident that is over and lasted until now. Returns False when it was taken down already."""
        return bool(await self._call("was_wrong", kind=kind, detail=detail, seconds=seconds))

    async def told(self, incident_id: int, over: bool, told: bool = True) -> None:
        """A leased incident was told (`over`: as something that is over), or could not be."""
        await self._call("told", incident_id=incident_id, worker=self._worker, told=told, over=over)
