"""Erases, exports and imports a space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from relay.core.models import Space
from relay.memory.calls.base import Calls, rpc
from relay.memory.rows.upkeep.erasure import ErasePreview, ErasureStep, Retraction
from relay.memory.rows.upkeep.export import ExportedSpace, ExportPage, ImportedRows, ImportedSpace

RawRow = Mapping[str, Any]
"""A line of an export."""
PAGE = 50
"""The most rows per page."""


class ErasureCalls(Calls):
    """Previews and runs erasures, step by step; pages of a space and importing them."""

    @rpc()
    async def erase_preview(
        self, space: Space, query: Mapping[str, object], user_id: int, admin: bool, turn_id: int | None = None
    ) -> ErasePreview | None:
        """Previews an erasure by `{words}`, `{memory_id}` or `{number}`; None if nothing matches. `turn_id`: the turn
        that asked; the event log drops its words."""

    @rpc()
    async def other_spellings(self, space: Space, words: str, user_id: int, admin: bool) -> list[str]:
        """Returns up to five other spellings of words, with other accents, in what a person may erase."""

    @rpc()
    async def erase_begin(self, erasure_id: int, user_id: int, admin: bool) -> bool:
        """Starts a previewed erasure; returns whether it did. From then on it will be finished after any crash."""

    @rpc()
    async def erase_keep(self, erasure_id: int, user_id: int) -> bool:
        """Cancels a previewed erasure. Returns whether there was one."""

    @rpc()
    async def files_gone(self, removed: Sequence[str] = ()) -> list[str]:
        """Returns the unique ids of files whose copies must be deleted, up to 100. `removed`: those that were
        deleted."""

    @rpc()
    async def erase_step(self, erasure_id: int | None = None) -> ErasureStep | None:
        """Continues an erasure (None: the oldest) for a second. None: there is none, another process works on it, or it
        waits for turns that may show what was erased."""

    @rpc()
    async def retractions(self, bot_id: int, erasure_id: int | None, limit: int) -> list[Retraction]:
        """Returns messages that a bot must delete or edit for an erasure (None: any), newest first."""

    @rpc("retracted")
    async def record_retraction(self, bot_id: int, chat_id: int, message_id: int, outcome: str) -> None:
        """Records the result for such a message: `deleted`, `edited` or `left`."""

    @rpc()
    async def export_space(self, space: Space) -> ExportedSpace | None:
        """Returns a space's threads, choices, personas and rules; None if nothing was ever said there."""

    @rpc(most=PAGE)
    async def export_rows(
        self, part: str, space: Space, after: Sequence[object] | None, thread_id: int | None = None
    ) -> ExportPage:
        """Returns a page of a part of a space, or of one of its threads: see `relay.export_lines`. `after`: the `last`
        of the page before."""

    @rpc()
    async def import_space(self, space: Space, rows: Mapping[str, Sequence[RawRow] | RawRow | None]) -> ImportedSpace:
        """Creates a space and its threads if missing. `rows`: `{threads, personas, places, choices}`."""

    @rpc()
    async def import_rows(self, part: str, space_id: int, rows: Sequence[RawRow], taken: Sequence[int]) -> ImportedRows:
        """Adds missing rows of a part: sessions, messages, memories and so on. `taken`: the memories that the rows just
        before these were."""

    @rpc()
    async def import_links(self, space_id: int, rows: Sequence[Mapping[str, int]]) -> None:
        """Links memories to their replacements: `{id, replaced_by}`, as they are here."""

    @rpc()
    async def import_finish(self, space_id: int) -> None:
        """Lets the imported threads continue where they ended."""
