"""Reads for calendar subscriptions and open pages."""

from __future__ import annotations

from collections.abc import Sequence

from relay.core.models import Space
from relay.memory.calls.base import Calls
from relay.memory.rows.people import ApiCaller
from relay.memory.rows.proactive.feed import CalendarToken, Marks


class FeedCalls(Calls):
    """Calendar tokens, and the marks that change with a space's content."""

    async def calendar_token(self, user_id: int) -> CalendarToken | None:
        """Returns a person's calendar token; None: they have none."""
        return await self._find(CalendarToken, "calendar_token", user_id=user_id)

    async def replace_calendar_token(self, user_id: int, hash: str | None) -> bool:
        """Replaces a person's calendar token by its hash; None removes it. Returns whether they had one."""
        return bool(await self._call("replace_calendar_token", user_id=user_id, hash=hash))

    async def find_calendar_caller(self, hash: str) -> ApiCaller | None:
        """Returns the person whose calendar token has this hash; None if there is none."""
        return await self._find(ApiCaller, "calendar_caller", hash=hash)

    async def marks(self, spaces: Sequence[Space], user_id: int) -> list[Marks]:
        """Returns the marks of some spaces that a person's open page watches."""
        return await self._list(Marks, "marks", spaces=[space.as_json() for space in spaces], user_id=user_id)
