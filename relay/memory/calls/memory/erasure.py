"""Erasing, exporting and importing a space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relay.core.models import Space
from relay.memory.calls.base import Calls
from relay.memory.rows.upkeep.erasure import ErasePreview, ErasureStep, Retraction
from relay.memory.rows.upkeep.export import ExportedSpace, ExportPage, ImportedRows, ImportedSpace


class EraseCalls(Calls):
    """What an erasure would take, and taking it, step by step."""

    async def erase_preview(
        self,
        space: Space,
        query: Mapping[str, object],
        user_id: int,
        admin: bool,
        turn_id: int | None = None,
    ) -> ErasePreview | None:
        """What an erasure by `{words}`, `{memory_id}` or `{number}` would take; None when there is nothing.

        `turn_id`: in which it was asked for; its words stay in no event.
        """
        return await self._find(
            ErasePreview,
            "erase_preview",
            space=space.as_json(),
            query=dict(query),
            user_id=user_id,
            admin=admin,
            turn_id=turn_id,
        )

    async def erase_begin(self, erasure_id: int, user_id: int, admin: bool) -> bool:
        """Lets an erasure that was shown happen: whether it does. From then on it is finished, whatever dies."""
        return bool(await self._call("erase_begin", erasure_id=erasure_id, user_id=user_id, admin=admin))

    async def erase_keep(self, erasure_id: int, user_id: int) -> bool:
        """Erases nothing of what was shown, and forgets that it was; whether there was something."""
        return bool(await self._call("erase_keep", erasure_id=erasure_id, user_id=user_id))

    async def files_gone(self, removed: Sequence[str] = ()) -> list[str]:
        """The unique ids of files of which no copy may be kept, a hundred at most; without those that are `removed`."""
        return list(await self._call("files_gone", removed=list(removed)))

    async def erase_step(self, erasure_id: int | None = None) -> ErasureStep | None:
        """Goes on with an erasure (None: the oldest) for a second.

        None: there is none, or another process works on it.
        """
        return await self._find(ErasureStep, "erase_step", erasure_id=erasure_id)

    async def retractions(self, bot_id: int, erasure_id: int | None, limit: int) -> list[Retraction]:
        """Messages of ours that a bot is to delete or edit for an erasure (None: for any), the newest first."""
        return await self._list(Retraction, "retractions", bot_id=bot_id, erasure_id=erasure_id, limit=limit)

    async def retracted(self, bot_id: int, chat_id: int, message_id: int, outcome: str) -> None:
        """Takes down what became of such a message: `deleted`, `edited` or `left`."""
        await self._call("retracted", bot_id=bot_id, chat_id=chat_id, message_id=message_id, outcome=outcome)


RawRow = Mapping[str, Any]
"""A line of an export."""
PAGE = 200
"""Rows of a page, at most."""


class ExportCalls(Calls):
    """Pages of what a space holds, and what takes them into a space."""

    async def export_space(self, space: Space) -> ExportedSpace | None:
        """A space's threads, choices, personas and rules; None when nobody has said anything there."""
        return await self._find(ExportedSpace, "export_space", space=space.as_json())

    async def export_memories(self, space: Space, after: Sequence[object] | None) -> ExportPage:
        """A page of its memories, oldest first. `after`: the `last` of the page before."""
        return await self._fetch(ExportPage, "export_memories", space=space.as_json(), after=after, most=PAGE)

    async def export_thread(
        self, part: str, space: Space, thread_id: int, after: Sequence[object] | None
    ) -> ExportPage:
        """A page of a thread's sessions, messages, documents or summaries, which `part` names."""
        where = {"space": space.as_json(), "thread_id": thread_id}
        return await self._fetch(ExportPage, f"export_{part}", **where, after=after, most=PAGE)

    async def export_rows(self, part: str, space: Space, after: Sequence[object] | None) -> ExportPage:
        """A page of what belongs to no thread: feedback or preference_decisions, which `part` names."""
        return await self._fetch(ExportPage, f"export_{part}", space=space.as_json(), after=after, most=PAGE)

    async def import_space(
        self,
        space: Space,
        threads: Sequence[RawRow],
        personas: Sequence[RawRow],
        places: Sequence[RawRow],
        choices: RawRow | None,
    ) -> ImportedSpace:
        """Makes a space and its threads where they are not there yet."""
        rows = {"threads": threads, "personas": personas, "places": places, "choices": choices}
        return await self._fetch(ImportedSpace, "import_space", space=space.as_json(), rows=rows)

    async def import_rows(
        self, part: str, space_id: int, rows: Sequence[RawRow], **more: Sequence[int]
    ) -> ImportedRows:
        """Adds rows of a kind that are not there yet: sessions, messages, memories and so on."""
        return await self._fetch(ImportedRows, f"import_{part}", space_id=space_id, rows=rows, **more)

    async def import_links(self, space_id: int, pairs: Sequence[tuple[int, int]]) -> None:
        """Links memories to what replaced them: pairs of their numbers here."""
        rows = [{"id": old, "replaced_by": new} for old, new in pairs]
        await self._call("import_links", space_id=space_id, rows=rows)

    async def import_finish(self, space_id: int) -> None:
        """Lets the threads that were imported go on where they were."""
        await self._call("import_finish", space_id=space_id)
