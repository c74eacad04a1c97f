"""What was used of models, and what may still be."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relay.charge import Charge
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

    async def charged(self, charge: Charge, since: datetime) -> Json:
        """Who pays on an account (`user_id`; None: nobody in particular), and what was used since then (`spent`)."""
        found: Json = await self._call("charged", charge=charge.as_json(), since=since.isoformat())
        return found

    async def spend(self, charge: Charge, spend: Json) -> None:
        """Keeps what a piece of work used; once, however often it is told."""
        await self._call("spend", charge=charge.as_json(), spend=spend)
