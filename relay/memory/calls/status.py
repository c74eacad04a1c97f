"""How the database itself is."""

from __future__ import annotations

from relay.claims import Queue
from relay.memory.calls.base import Calls


class StatusCalls(Calls):
    """What a process asks to know whether it is well."""

    async def ping(self) -> str:
        """The database's time (ISO 8601). Raises `DatabaseError` when it does not answer."""
        return str(await self._call("ping"))

    async def queue(self, bot_id: int) -> Queue:
        """What waits to be answered."""
        row = await self._call("queue", bot_id=bot_id)
        return Queue(row["waiting"], row["turns"], float(row["oldest"]))
