"""Usage: tokens and dollars by day and model, and how much of today's budgets is spent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo

from relay.commands.context import CommandContext
from relay.commands.registry import command
from relay.core.errors import CommandRefused
from relay.core.prices import Prices
from relay.memory.rows.usage import DailyUse

DAYS, MOST_DAYS = 14, 90


@dataclass(frozen=True, slots=True)
class Used:
    """What was used in a stretch of time: tokens, what they went into, and dollars as far as prices are known."""

    input: int = 0
    """Tokens that were neither read from the cache nor written to it."""
    cached: int = 0
    written: int = 0
    output: int = 0
    answers: int = 0
    summaries: int = 0
    titles: int = 0
    spent: float = 0.0
    """Dollars."""
    unpriced: tuple[str, ...] = ()
    """Models without a known price."""

    @property
    def asked(self) -> int:
        """All tokens that went in."""
        return self.input + self.cached + self.written

    @property
    def share(self) -> float | None:
        """The part of them (0 to 1) that came from the cache; None when there were none."""
        return self.cached / self.asked if self.asked else None


@dataclass(frozen=True, slots=True)
class ModelUsed:
    """What was used of one model."""

    model: str
    used: Used


@dataclass(frozen=True, slots=True)
class BudgetUsed:
    """Dollars of today, and the daily budgets; 0: no budget."""

    own: float
    each: float
    total: float | None
    """Of everybody together; None: only admins see it."""
    all: float
    """The budget of everybody together."""


@dataclass(frozen=True, slots=True)
class UsageReport:
    """What a space used, day by day."""

    starts: tuple[datetime, ...]
    """When each day began; the last is today."""
    days: tuple[Used, ...]
    models: tuple[ModelUsed, ...]
    whole: Used
    budget: BudgetUsed | None
    """None: there are no budgets."""
    everywhere: Used | None
    """What all spaces used; None: only admins see it."""


@command("usage", usage="[days]", help="tokens, cost and cache share by day")
async def usage(ctx: CommandContext, days: int = DAYS) -> UsageReport:
    """Returns what this space used in the last days; for admins also what the whole installation used."""
    if not 1 <= days <= MOST_DAYS:
        raise CommandRefused(f"For how many days? Write a number up to {MOST_DAYS} after it: /usage 30")
    starts = day_starts(days, ctx.zone)
    rows = await ctx.store.usage(ctx.space, starts)
    prices = ctx.services.budget.prices
    everywhere = await ctx.store.usage(ctx.space, starts, all=True) if ctx.admin else None
    return UsageReport(
        starts=tuple(starts),
        days=tuple(sum_up((row for row in rows if row.day == day), prices) for day in range(1, days + 1)),
        models=by_model(rows, prices),
        whole=sum_up(rows, prices),
        budget=await _budget(ctx),
        everywhere=None if everywhere is None else sum_up(everywhere, prices),
    )


def day_starts(days: int, zone: tzinfo) -> list[datetime]:
    """When each of the last days began, today's last."""
    today = datetime.now(zone).date()
    return [datetime.combine(today - timedelta(days=ago), time.min, zone) for ago in reversed(range(days))]


def by_model(rows: Sequence[DailyUse], prices: Prices) -> tuple[ModelUsed, ...]:
    """The rows summed up by model."""
    names = sorted({row.model or "?" for row in rows})
    return tuple(ModelUsed(name, sum_up((row for row in rows if (row.model or "?") == name), prices)) for name in names)


def sum_up(rows: Iterable[DailyUse], prices: Prices) -> Used:
    """The rows together."""
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
        spent=sum(cost for _, cost in costs if cost is not None),
        unpriced=tuple(sorted({model for model, cost in costs if cost is None})),
    )


async def _budget(ctx: CommandContext) -> BudgetUsed | None:
    budget = ctx.services.budget
    if not budget.limited:
        return None
    spent = budget.spent(await ctx.store.spent(budget.day(), ctx.user_id))
    return BudgetUsed(spent.own, budget.each, spent.total if ctx.admin else None, budget.total)
