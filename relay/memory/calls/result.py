"""What derivations came to."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json


class ResultCalls(Calls):
    """The cache of results, by space and hash."""

    async def result(self, space_id: int, hash: str) -> Json | None:
        """What a derivation came to before; None when that is not known (any more)."""
        found: Json | None = await self._call("result", space_id=space_id, hash=hash)
        return found

    async def keep_result(self, space_id: int, derivation: Json, result: Json, most: int) -> None:
        """Keeps what a derivation came to, and no more than `most` of a space; the least recently used go."""
        await self._call("keep_result", space_id=space_id, derivation=derivation, result=result, most=most)
