"""Usage: tokens and dollars by day and model, and today's budgets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, time, timedelta, tzinfo

from relay.commands.context import CommandContext
from relay.commands.registry import command
from relay.core.errors import OutOfRange
from relay.core.frozen import frozen
from relay.core.spending.prices import Prices, round_dollars
from relay.memory.rows.usage import DailyUse

DAYS, MOST_DAYS = 14, 90
UNASKED = {"check": "checks", "heartbeat": "heartbeats", "growth": "ideas for the soul"}
"""The kinds of work that nobody asked for at that moment, in words."""


@frozen
class Used:
    """Use in a period: tokens by kind, and dollars where prices are known."""

    input: int = 0
    """Tokens that were neither read from the cache nor written to it."""
    cached: int = 0
    written: int = 0
    output: int = 0
    answers: int = 0
    summaries: int = 0
    titles: int = 0
    spent: float = 0.0
    """The cost in dollars."""
    unpriced: tuple[str, ...] = ()
    """Models without a known price."""

    @property
    def asked(self) -> int:
        """Returns all input tokens."""
        return self.input + self.cached + self.written

    @property
    def share(self) -> float | None:
        """Returns the share of input (0 to 1) read from the cache; None without input."""
        return self.cached / self.asked if self.asked else None


@frozen
class ModelUsed:
    """The use of one model."""

    model: str
    used: Used


@frozen
class WorkUsed:
    """The use of one kind of work."""

    what: str
    """The kind of work: answer, summary, title, judge …"""
    times: int
    """How many results it produced."""
    used: Used


@frozen
class BudgetUsed:
    """Today's spending in dollars, and the daily budgets; 0: no budget."""

    own: float
    each: float
    total: float | None
    """Everyone's spending; None: only admins see it."""
    all: float
    """The shared budget."""


@frozen
class UsageReport:
    """A space's use by day."""

    starts: tuple[datetime, ...]
    """The start of each day; the last is today."""
    days: tuple[Used, ...]
    models: tuple[ModelUsed, ...]
    works: tuple[WorkUsed, ...]
    whole: Used
    budget: BudgetUsed | None
    """None: there are no budgets."""
    everywhere: Used | None
    """Use of all spaces; None: only admins see it."""


@command("usage", usage="[days]", help="tokens, cost and cache share by day", surfaces=("chat", "cli", "http"))
async def usage(ctx: CommandContext, days: int = DAYS) -> UsageReport:
    """Returns this space's recent use; for admins also the whole installation's."""
    if not 1 <= days <= MOST_DAYS:
        raise OutOfRange(f"For how many days? Write a number up to {MOST_DAYS}: /usage 30")
    starts = day_starts(days, ctx.zone)
    rows = await ctx.store.usage(ctx.space, starts)
    prices = ctx.services.budget.prices
    everywhere = await ctx.store.usage(ctx.space, starts, all=True) if ctx.admin else None
    return UsageReport(
        starts=tuple(starts),
        days=tuple(sum_up((row for row in rows if row.day == day), prices) for day in range(1, days + 1)),
        models=by_model(rows, prices),
        works=by_work(rows, prices),
        whole=sum_up(rows, prices),
        budget=await _budget(ctx),
        everywhere=None if everywhere is None else sum_up(everywhere, prices),
    )


def day_starts(days: int, zone: tzinfo) -> list[datetime]:
    """Returns the start of each of the last days, today's last."""
    today = datetime.now(zone).date()
    return [datetime.combine(today - timedelta(days=ago), time.min, zone) for ago in reversed(range(days))]


def by_model(rows: Sequence[DailyUse], prices: Prices) -> tuple[ModelUsed, ...]:
    """Sums the rows by model."""
    names = sorted({row.model or "?" for row in rows})
    return tuple(ModelUsed(name, sum_up((row for row in rows if (row.model or "?") == name), prices)) for name in names)


def by_work(rows: Sequence[DailyUse], prices: Prices) -> tuple[WorkUsed, ...]:
    """Sums the rows by kind of work."""
    kinds = {what: [row for row in rows if row.what == what] for what in sorted({row.what for row in rows})}
    return tuple(WorkUsed(what, sum(row.times for row in of), sum_up(of, prices)) for what, of in kinds.items())


def sum_up(rows: Iterable[DailyUse], prices: Prices) -> Used:
    """Sums the rows."""
    rows = list(rows)
    costs = [(row.model or "?", prices.cost_of(row)) for row in rows]
    times = {what: sum(row.times for row in rows if row.what == what) for what in ("answer", "summary", "title")}
    return Used(
        input=sum(row.input for row in rows),
        cached=sum(row.cached for row in rows),
        written=sum(row.written for row in rows),
        output=sum(row.output for row in rows),
        answers=times["answer"],
        summaries=times["summary"],
        titles=times["title"],
        spent=round_dollars(sum(cost for _, cost in costs if cost is not None)),
        unpriced=tuple(sorted({model for model, cost in costs if cost is None})),
    )


async def _budget(ctx: CommandContext) -> BudgetUsed | None:
    budget = ctx.services.budget
    if not budget.limited:
        return None
    spent = budget.spent(await ctx.store.sum_spent(budget.day(), ctx.user_id))
    return BudgetUsed(spent.own, budget.each, spent.total if ctx.admin else None, budget.total)
