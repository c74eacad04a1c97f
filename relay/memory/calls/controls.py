"""The switches of a memory, what waits in it, and sessions off the record."""

from __future__ import annotations

from relay.core.models import Space
from relay.memory.calls.base import Calls, Json
from relay.memory.claims import ClaimedTurn


class ControlCalls(Calls):
    """What the owner of a memory does with it as a whole."""

    async def controls(self, space: Space, chat_id: int, topic_id: int) -> Json:
        """How it stands with a space's memory, and with it in a thread.

        `{space_id, memory, paused_until, remembers, recalls, teaches, private, memories, pending}`.
        """
        found: Json = await self._call("controls", space=space.as_json(), chat_id=chat_id, topic_id=topic_id)
        return found

    async def control(self, space: Space, chat_id: int, topic_id: int, user_id: int, change: Json) -> Json:
        """Switches a space's memory (`{memory, paused_until}`) or what a thread does with it (`{recalls, teaches}`).

        Those that are not named stay as they are. Returns how it stands then, as `controls` does.
        """
        found: Json = await self._call(
            "control", space=space.as_json(), chat_id=chat_id, topic_id=topic_id, user_id=user_id, change=change
        )
        return found

    async def decide_waiting(self, space: Space, user_id: int, admin: bool, decision: str) -> Json:
        """keep or discard all that waits and is this person's, 200 at most: `{decided, pending}`."""
        found: Json = await self._call(
            "decide_waiting", space=space.as_json(), user_id=user_id, admin=admin, decision=decision
        )
        return found

    async def forget_preview(self, turn: ClaimedTurn, space: Space, pattern: str, user_id: int, admin: bool) -> Json:
        """What a pattern would have forgotten: `{total, memories}`; kept with the control that asked for it."""
        found: Json = await self._call(
            "forget_preview",
            turn_id=turn.turn_id,
            fence=turn.fence,
            space=space.as_json(),
            pattern=pattern,
            user_id=user_id,
            admin=admin,
        )
        return found

    async def forget_shown(self, turn_id: int, user_id: int, admin: bool, undo: bool = False) -> Json | None:
        """Forgets a batch of what a control has shown, or takes a batch of that back: `{done, left}`.

        `done`: how many are forgotten, or brought back, in all; `left`: call it again. None: not shown to this person.
        """
        found: Json | None = await self._call("forget_shown", turn_id=turn_id, user_id=user_id, admin=admin, undo=undo)
        return found

    async def was_shown(self, turn_id: int, user_id: int) -> bool:
        """Whether a control has shown this person what it would forget."""
        return bool(await self._call("was_shown", turn_id=turn_id, user_id=user_id))

    async def reset_memory(self, space: Space, user_id: int) -> int:
        """Forgets all that is known in a space, a batch of it; how many memories are left."""
        return int(await self._call("reset_memory", space=space.as_json(), user_id=user_id))

    async def confirm_reset(self, turn: ClaimedTurn, space: Space, user_id: int, known: int) -> int | None:
        """The same for a turn that says how many there are, and which goes on where it was when it is made again.

        None: that is not their number, and the turn has forgotten nothing.
        """
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
    ) -> Json:
        """Begins (on) or ends a session off the record: `{private, was}`. None: tells how it is.

        `may`: this person may, whoever began it; else they may end what they began, and else it is `refused`.
        """
        found: Json = await self._call(
            "private", space=space.as_json(), chat_id=chat_id, topic_id=topic_id, on=on, user_id=user_id, may=may
        )
        return found

    async def sweep_private(self, idle_hours: int) -> int:
        """Ends sessions off the record that were silent for so long, and erases those that have ended.

        Returns how many are still to be erased.
        """
        return int(await self._call("sweep_private", idle_hours=idle_hours))
