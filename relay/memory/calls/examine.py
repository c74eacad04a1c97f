"""What `relay doctor` looks at."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json


class ExamineCalls(Calls):
    """The database as it is, and how the work goes. Neither changes anything."""

    async def examine(self) -> Json:
        """What the database is and has: `{server, number, bytes, since, extensions, tables, functions, open}`."""
        found: Json = await self._call("examine")
        return found

    async def examine_work(self) -> Json:
        """For all bots: `{working, admins, users, waiting, waiting_seconds, set_aside, incidents}`."""
        found: Json = await self._call("examine_work")
        return found
