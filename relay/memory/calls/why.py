"""What went into an answer, and what was used."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relay.memory.calls.base import Calls, Json
from relay.models import Space


class WhyCalls(Calls):
    """Answers explained, and tokens counted."""

    async def answered_turn(
        self, bot_id: int, chat_id: int, topic_id: int, telegram_message_id: int, space: Space
    ) -> int:
        """The turn of an answer in the chat (`telegram_message_id` 0: the last one there); 0 for none."""
        found = await self._call(
            "answered_turn",
            bot_id=bot_id,
            chat_id=chat_id,
            topic_id=topic_id,
            telegram_message_id=telegram_message_id,
            space=space.as_json(),
        )
        return int(found or 0)

    async def why(self, turn_id: int, user_id: int) -> Json | None:
        """What went into a turn's answer, as `user_id` may see it who sees its space; None without an answer."""
        found: Json | None = await self._call("why", turn_id=turn_id, user_id=user_id)
        return found

    async def usage(self, space: Space, starts: Sequence[datetime], all: bool = False) -> list[Json]:
        """Tokens by day, kind and model since the first of `starts`, at each of which a day begins.

        Day n (1, 2 …) begins at the nth. `all`: of all spaces together, as day 0.
        """
        begins = [start.isoformat() for start in starts]
        return list(await self._call("usage", space=space.as_json(), starts=begins, all=all))
