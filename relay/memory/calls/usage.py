"""What models were used for, and what went into an answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relay.core.charge import Charge
from relay.core.models import Space
from relay.memory.calls.base import Calls, Json


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


class WhyCalls(Calls):
    """Answers explained."""

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

    async def answer_said(self, turn_id: int) -> Json | None:
        """What a turn answered, and in which space: `{text, space}`; None without an answer."""
        found: Json | None = await self._call("answer_said", turn_id=turn_id)
        return found

    async def tool_call(self, turn_id: int, number: int) -> Json | None:
        """One tool that a turn's answer called, the nearest there is to that number; None where none was called."""
        found: Json | None = await self._call("tool_call", turn_id=turn_id, nr=number)
        return found

    async def why(self, turn_id: int, user_id: int) -> Json | None:
        """What went into a turn's answer, as `user_id` may see it who sees its space; None without an answer."""
        found: Json | None = await self._call("why", turn_id=turn_id, user_id=user_id)
        return found
