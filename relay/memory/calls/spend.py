"""What was used of models, and what may still be."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relay.memory.calls.base import Calls, Json
from relay.models import Space


class SpendCalls(Calls):
    """Tokens counted."""

    async def usage(self, space: Space, starts: Sequence[datetime], all: bool = False) -> list[Json]:
        """Tokens by day, kind of work and model since the first of `starts`, at each of which a day begins.

        Day n (1, 2 …) begins at the nth. `all`: of all spaces together, as day 0.
        """
        begins = [start.isoformat() for start in starts]
        return list(await self._call("usage", space=space.as_json(), starts=begins, all=all))

    async def spent(self, since: datetime, user_id: int | None = None) -> list[Json]:
        """What was used since then, by model and whether `user_id` is charged with it (`own`)."""
        return list(await self._call("spent", since=since.isoformat(), user_id=user_id))

    async def spend_turn(self, turn_id: int, spend: Json) -> None:
        """Keeps what a turn used that ended without its answer being saved; once, whatever how often it is told."""
        await self._call("spend_turn", turn_id=turn_id, spend=spend)

    async def spend_summary(self, thread_id: int, spend: Json) -> None:
        """Keeps what a summary of a thread used."""
        await self._call("spend_writing", thread_id=thread_id, session_id=None, spend=spend)

    async def spend_proposal(self, space: Space, user_id: int, spend: Json) -> None:
        """Keeps what proposing a memory used, charged to who asked for it."""
        await self._call("spend_proposal", space=space.as_json(), user_id=user_id, spend=spend)

    async def spend_title(self, session_id: int, spend: Json) -> None:
        """Keeps what the title of a session used."""
        await self._call("spend_writing", thread_id=None, session_id=session_id, spend=spend)
