"""Memory switches, pending changes, and sessions off the record."""

from __future__ import annotations

from collections.abc import Mapping

from relay.core.models import Space
from relay.memory.calls.base import Calls
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.controls import Controls, DecidedWaiting, OffRecord
from relay.memory.rows.memories import ForgetPreview, ForgetProgress


class ControlCalls(Calls):
    """Actions on a memory as a whole."""

    async def controls(self, space: Space, chat_id: int, topic_id: int) -> Controls:
        """Returns the switches of a space's memory and of a thread."""
        return await self._fetch(Controls, "controls", space=space.as_json(), chat_id=chat_id, topic_id=topic_id)

    async def control(
        self, space: Space, chat_id: int, topic_id: int, user_id: int, change: Mapping[str, object]
    ) -> Controls:
        """Sets switches of a space (`{memory, paused_until}`) or thread (`{recalls, teaches}`); others stay. Returns
        the new state."""
        return await self._fetch(
            Controls,
            "control",
            space=space.as_json(),
            chat_id=chat_id,
            topic_id=topic_id,
            user_id=user_id,
            change=dict(change),
        )

    async def decide_waiting(self, space: Space, user_id: int, admin: bool, decision: str) -> DecidedWaiting:
        """Keeps or discards all pending changes that this person may decide, up to 200."""
        return await self._fetch(
            DecidedWaiting, "decide_waiting", space=space.as_json(), user_id=user_id, admin=admin, decision=decision
        )

    async def forget_preview(
        self, turn: ClaimedTurn, space: Space, pattern: str, user_id: int, admin: bool
    ) -> ForgetPreview:
        """Previews what a pattern would forget, stored with the turn for `forget_shown`."""
        return await self._fetch(
            ForgetPreview,
            "forget_preview",
            turn_id=turn.turn_id,
            fence=turn.fence,
            space=space.as_json(),
            pattern=pattern,
            user_id=user_id,
            admin=admin,
        )

    async def forget_shown(self, turn_id: int, user_id: int, admin: bool, undo: bool = False) -> ForgetProgress | None:
        """Forgets a batch of what a turn previewed, or restores a batch. None: it was not shown to this person."""
        return await self._find(
            ForgetProgress, "forget_shown", turn_id=turn_id, user_id=user_id, admin=admin, undo=undo
        )

    async def was_shown(self, turn_id: int, user_id: int) -> bool:
        """Tests whether a command showed this person what it would forget."""
        return bool(await self._call("was_shown", turn_id=turn_id, user_id=user_id))

    async def reset_memory(self, space: Space, user_id: int) -> int:
        """Forgets a batch of all memories in a space. Returns how many are left."""
        return int(await self._call("reset_memory", space=space.as_json(), user_id=user_id))

    async def confirm_reset(self, turn: ClaimedTurn, space: Space, user_id: int, known: int) -> int | None:
        """Does the same after a turn confirmed the number of memories. A repeated turn continues. None: the number is
        wrong, and nothing was forgotten."""
        left = await self._call(
            "confirm_reset",
            turn_id=turn.turn_id,
            fence=turn.fence,
            space=space.as_json(),
            user_id=user_id,
            known=known,
        )
        return None if left is None else int(left)

    async def private(
        self, space: Space, chat_id: int, topic_id: int, on: bool | None, user_id: int, may: bool = True
    ) -> OffRecord:
        """Begins (True) or ends (False) an off-the-record session; None: only returns its state. `may`: this person may
        begin one, and end one that someone else began; without it, they may only end their own. Anything else is
        `refused`."""
        return await self._fetch(
            OffRecord,
            "private",
            space=space.as_json(),
            chat_id=chat_id,
            topic_id=topic_id,
            on=on,
            user_id=user_id,
            may=may,
        )

    async def sweep_private(self, idle_hours: int) -> int:
        """Ends silent off-the-record sessions and erases ended ones. Returns how many are still to be erased."""
        return int(await self._call("sweep_private", idle_hours=idle_hours))
