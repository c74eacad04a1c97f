"""Usage of models, and explanations of answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relay.core.models import Space, Thread
from relay.core.spending.charge import Account, Charge, ChargedUse, Spending
from relay.memory.calls.base import Calls, rpc
from relay.memory.rows.turns.why import Explanation
from relay.memory.rows.usage import DailyUse, SaidAnswer, ToolCall


class UsageCalls(Calls):
    """Counts the use of models, and explains answers."""

    @rpc()
    async def usage(self, space: Space, starts: Sequence[datetime], all: bool = False) -> list[DailyUse]:
        """Returns tokens by day, kind of work and model. Each of `starts` begins a day, numbered from 1. `all`: all
        spaces together, as day 0."""

    @rpc("spent")
    async def sum_spent(self, since: datetime, user_id: int | None = None) -> list[ChargedUse]:
        """Returns the use since then, by model and whether `user_id` pays for it."""

    @rpc("charged")
    async def find_account(self, charge: Charge, since: datetime) -> Account:
        """Returns who pays, and the use since then."""

    @rpc()
    async def spend(self, charge: Charge, spend: Spending) -> None:
        """Records the use of a piece of work, once, however often it is called."""

    @rpc("answered_turn")
    async def find_answered_turn(self, bot_id: int, thread: Thread, telegram_message_id: int) -> int:
        """Returns the turn of an answer in a thread (`telegram_message_id` 0: the last one there); 0 for none."""

    @rpc()
    async def answer_said(self, turn_id: int) -> SaidAnswer | None:
        """Returns a turn's answer and its space; None without an answer."""

    @rpc()
    async def tool_call(self, turn_id: int, nr: int) -> ToolCall | None:
        """Returns a tool call of a turn's answer, the nearest to that number; None if there was none."""

    @rpc("why")
    async def explain(self, turn_id: int, user_id: int) -> Explanation | None:
        """Returns what went into a turn's answer, for `user_id`, who sees its space; None without an answer."""
