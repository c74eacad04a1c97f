"""Versions of sessions: pruning and comparison."""

from __future__ import annotations

from collections.abc import Sequence

from relay.core.models import Space
from relay.memory.calls.base import Calls
from relay.memory.rows.contexts.versions import ComparedVersions, Pruned, RestoredVersion


class PruningCalls(Calls):
    """Actions on finished versions."""

    async def compare_versions(self, space: Space, a: int, b: int) -> ComparedVersions | None:
        """Returns two ready versions side by side. None: the space lacks one of them."""
        return await self._find(ComparedVersions, "compare_versions", space=space.as_json(), a=a, b=b)

    async def prune_versions(self, space: Space, versions: Sequence[int], force: bool) -> Pruned:
        """Drops versions, all or none; with `force`, also those that a running session uses."""
        return await self._fetch(Pruned, "prune_versions", space=space.as_json(), versions=list(versions), force=force)

    async def restore_versions(self, space: Space, version_id: int) -> list[RestoredVersion]:
        """Restores what was dropped together with a version within the last ten minutes."""
        return await self._list(RestoredVersion, "restore_versions", space=space.as_json(), version=version_id)
