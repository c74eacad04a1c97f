"""Nightly preparation: writes owed texts and gathers the database's statistics."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from relay.core.frozen import frozen
from relay.memory.rows.upkeep.night import PhaseResult
from relay.memory.store import Store


@frozen
class Preparation:
    """The preparation of a night. `owed`: functions that write owed texts, by name; each returns its count."""

    store: Store
    owed: Mapping[str, Callable[[], Awaitable[int]]]

    async def run(self, night_id: int) -> PhaseResult:
        """Prepares everything; returns the counts."""
        told = {name: await write() for name, write in self.owed.items()}
        return told | {"tables analysed": await self._statistics()}

    async def _statistics(self) -> int:
        tables, last = 0, await self.store.statistics(None)
        while last is not None:
            tables, last = tables + 1, await self.store.statistics(last)
        return tables
