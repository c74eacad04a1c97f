"""What a space holds, out and in again."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json
from relay.models import Space

PAGE = 200
"""Rows of a page, at most."""


class ExportCalls(Calls):
    """Pages of what a space holds, and what takes them into a space."""

    async def export_space(self, space: Space) -> Json | None:
        """A space's threads, choices, personas and rules; see `relay_export_space`."""
        found: Json | None = await self._call("export_space", space=space.as_json())
        return found

    async def export_memories(self, space: Space, after: Json | None) -> Json:
        """A page of its memories, oldest first: `{rows, last, end}`. `after`: the `last` of the page before."""
        page: Json = await self._call("export_memories", space=space.as_json(), after=after, most=PAGE)
        return page

    async def export_thread(self, part: str, space: Space, thread_id: int, after: Json | None) -> Json:
        """A page of a thread's sessions, messages, documents or summaries, which `part` names."""
        page: Json = await self._call(
            f"export_{part}", space=space.as_json(), thread_id=thread_id, after=after, most=PAGE
        )
        return page

    async def import_space(self, space: Space, rows: Json) -> Json:
        """Makes a space and its threads where they are not there yet: `{space_id, ids}`."""
        made: Json = await self._call("import_space", space=space.as_json(), rows=rows)
        return made

    async def import_rows(self, part: str, space_id: int, rows: list[Json], **more: list[int]) -> Json:
        """Adds sessions, messages, documents, summaries or memories that are not there yet: `{ids, added}`, the ids in
        order."""
        done: Json = await self._call(f"import_{part}", space_id=space_id, rows=rows, **more)
        return done

    async def import_links(self, space_id: int, rows: list[Json]) -> None:
        """Links memories to what replaced them: `[{id, replaced_by}]`, as they are numbered here."""
        await self._call("import_links", space_id=space_id, rows=rows)

    async def import_finish(self, space_id: int) -> None:
        """Lets the threads that were imported go on where they were."""
        await self._call("import_finish", space_id=space_id)
