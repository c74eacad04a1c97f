"""Who may use the bot."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json


class PeopleCalls(Calls):
    """Those whom the database names; the settings name others."""

    async def people(self) -> list[Json]:
        """Everybody who may use the bot: `{user_id, role, name}`, role admin or user."""
        found: list[Json] = await self._call("people")
        return found
