"""Memory switches, pending changes, and sessions off the record."""

from __future__ import annotations

from collections.abc import Mapping

from relay.core.models import Space
from relay.memory.calls.base import Calls, rpc
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.controls import Controls, DecidedWaiting, OffRecord
from relay.memory.rows.memories import ForgetPreview, ForgetProgress


class ControlCalls(Calls):
    """Actions on a memory as a whole."""

    @rpc()
    async def controls(self, space: Space, chat_id: int, topic_id: int) -> Controls:
        """Returns the switches of a space's memory and of a thread."""

    @rpc()
    async def control(
        self, space: Space, chat_id: int, topic_id: int, user_id: int, change: Mapping[str, object]
    ) -> Controls:
        """Sets switches of a space (`{memory, paused_until}`) or thread (`{recalls, teaches}`); others stay. Returns
        the new state."""

    @rpc()
    async def decide_waiting(self, space: Space, user_id: int, admin: bool, decision: str) -> DecidedWaiting:
        """Keeps or discards all pending changes that this person may decide, up to 200."""

    @rpc()
    async def forget_preview(
        self, turn: ClaimedTurn, space: Space, pattern: str, user_id: int, admin: bool
    ) -> ForgetPreview:
        """Previews what a pattern would forget, stored with the turn for `forget_shown`."""

    @rpc()
    async def forget_shown(self, turn_id: int, user_id: int, admin: bool, undo: bool = False) -> ForgetProgress | None:
        """Forgets a batch of what a turn previewed, or restores a batch. None: it was not shown to this person."""

    @rpc()
    async def was_shown(self, turn_id: int, user_id: int) -> bool:
        """Tests whether a command showed this person what it would forget."""

    @rpc()
    async def confirm_reset(self, turn: ClaimedTurn, space: Space, user_id: int, known: int) -> int | None:
        """Forgets a batch of all memories in a space, after a turn confirmed their number. Returns how many are left. A
        repeated turn continues. None: the number is wrong, and nothing was forgotten."""

    @rpc()
    async def private(
        self, space: Space, chat_id: int, topic_id: int, on: bool | None, user_id: int, may: bool = True
    ) -> OffRecord:
        """Begins (True) or ends (False) an off-the-record session; None: only returns its state. `may`: this person may
        begin one, and end one that someone else began; without it, they may only end their own. Anything else is
        `refused`."""

    @rpc()
    async def sweep_private(self, idle_hours: int) -> int:
        """Ends silent off-the-record sessions and erases ended ones. Returns how many are still to be erased."""
