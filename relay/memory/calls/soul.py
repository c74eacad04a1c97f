"""The soul."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json


class SoulCalls(Calls):
    """The personality, versioned."""

    async def soul(self) -> Json | None:
        """The active soul."""
        found: Json | None = await self._call("soul")
        return found

    async def set_soul(self, text: str, author_id: int, reason: str) -> int:
        """Activates a soul. Returns its version."""
        return int(await self._call("set_soul", text=text, author_id=author_id, reason=reason))
