"""Markers: the registry of passages to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from relay.core.models import Space
from relay.memory.calls.base import Calls, rpc
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.contexts.markers import KeepitChange, KeepitPage, OpenedKeepit
from relay.memory.rows.turns.edits import MarkedMessage


class MarkerCalls(Calls):
    """Reads and changes markers. `may`: this person may also change what others marked or said."""

    async def read_keepits(self, message: MarkedMessage, user_id: int, markers: Sequence[Mapping[str, object]]) -> None:
        """Sets the markers of an edited message, unless it was edited again meanwhile."""
        await self._call(
            "read_keepits",
            message_id=message.message_id,
            wording=message.wording,
            user_id=user_id,
            markers=list(markers),
        )

    @rpc()
    async def keepits(
        self, space: Space, session_id: int | None, offset: int, limit: int, chat_id: int = 0, topic_id: int = 0
    ) -> KeepitPage:
        """Returns a session's markers, or those of a thread, the most important first."""

    @rpc()
    async def keepit(self, space: Space, keepit_id: int) -> OpenedKeepit | None:
        """Returns a marker and whether it would survive; None if the space has no such marker."""

    @rpc()
    async def keep_it(
        self,
        turn: ClaimedTurn,
        space: Space,
        chat_id: int,
        topic_id: int,
        user_id: int,
        may: bool,
        keep: Mapping[str, object],
    ) -> KeepitChange:
        """Marks a passage: `{message_id | bot_id, telegram_message_id | draft, text, quoted, weight, origin}`. Without
        a weight, the passage is only remembered with the turn."""

    @rpc()
    async def weigh_keepit(
        self, space: Space, keepit_id: int, weight: Decimal, user_id: int, may: bool
    ) -> KeepitChange | None:
        """Changes a marker's weight in the registry. None: there is no such marker."""

    @rpc()
    async def remove_keepit(
        self, space: Space, keepit_id: int, removed: bool, user_id: int, may: bool
    ) -> KeepitChange | None:
        """Removes a marker, or restores it. None: there is no such marker."""

    @rpc()
    async def undo_keepits(self, turn_id: int, user_id: int, removed: bool) -> int:
        """Removes the markers of a turn's message, or restores them. Returns how many markers changed."""
