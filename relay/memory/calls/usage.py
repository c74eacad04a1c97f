"""Usage of models, and explanations of answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relay.core.charge import Account, Charge, ChargedUse, Spending
from relay.core.models import Space
from relay.memory.calls.base import Calls
from relay.memory.rows.turns.why import Explanation
from relay.memory.rows.usage import DailyUse, SaidAnswer, ToolCall


class SpendCalls(Calls):
    """Counts the use of models."""

    async def usage(self, space: Space, starts: Sequence[datetime], all: bool = False) -> list[DailyUse]:
        """Returns tokens by day, kind of work and model. Each of `starts` begins a day, numbered from 1. `all`: all
        spaces together, as day 0."""
        begins = [start.isoformat() for start in starts]
        return await self._list(DailyUse, "usage", space=space.as_json(), starts=begins, all=all)

    async def sum_spent(self, since: datetime, user_id: int | None = None) -> list[ChargedUse]:
        """Returns the use since then, by model and whether `user_id` pays for it."""
        return await self._list(ChargedUse, "spent", since=since.isoformat(), user_id=user_id)

    async def find_account(self, charge: Charge, since: datetime) -> Account:
        """Returns who pays, and the use since then."""
        return await self._fetch(Account, "charged", charge=charge.as_json(), since=since.isoformat())

    async def spend(self, charge: Charge, spending: Spending) -> None:
        """Records the use of a piece of work, once however often it is called."""
        await self._call("spend", charge=charge.as_json(), spend=spending.as_json())


class WhyCalls(Calls):
    """Explains answers."""

    async def find_answered_turn(
        self, bot_id: int, chat_id: int, topic_id: int, telegram_message_id: int, space: Space
    ) -> int:
        """Returns the turn of an answer in the chat (`telegram_message_id` 0: the last one there); 0 for none."""
        found = await self._call(
            "answered_turn",
            bot_id=bot_id,
            chat_id=chat_id,
            topic_id=topic_id,
            telegram_message_id=telegram_message_id,
            space=space.as_json(),
        )
        return int(found or 0)

    async def answer_said(self, turn_id: int) -> SaidAnswer | None:
        """Returns a turn's answer and its space; None without an answer."""
        return await self._find(SaidAnswer, "answer_said", turn_id=turn_id)

    async def tool_call(self, turn_id: int, number: int) -> ToolCall | None:
        """Returns a tool call of a turn's answer, the nearest to that number; None if there was none."""
        return await self._find(ToolCall, "tool_call", turn_id=turn_id, nr=number)

    async def explain(self, turn_id: int, user_id: int) -> Explanation | None:
        """Returns what went into a turn's answer, for `user_id`, who sees its space; None without an answer."""
        return await self._find(Explanation, "why", turn_id=turn_id, user_id=user_id)
