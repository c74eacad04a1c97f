"""Daily budgets, for everyone together and for each person, and the use of one piece of work. Pure.

A day begins at midnight in the installation's time zone. The database reports what was spent when work begins, and it
is counted from then on; `relay.memory.spending.gate` adds what others use meanwhile.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, tzinfo

from relay.core.errors import SettingsError
from relay.core.frozen import frozen
from relay.core.spending.charge import ChargedUse, Spending
from relay.core.spending.prices import Prices, format_dollars, round_dollars

WARN = 0.8
"""The share of a budget at which people are warned."""


@frozen
class Spent:
    """A day's spending in dollars: by everyone, and by one person."""

    total: float = 0.0
    own: float = 0.0


@frozen
class Budget:
    """The daily budgets in dollars; 0: no limit."""

    total: float = 0.0
    each: float = 0.0
    prices: Prices = field(default_factory=Prices)
    zone: tzinfo = UTC

    @property
    def limited(self) -> bool:
        """Tells whether there is any budget."""
        return self.total > 0 or self.each > 0

    def day(self, now: datetime | None = None) -> datetime:
        """Returns when today began."""
        today = (now or datetime.now(UTC)).astimezone(self.zone).date()
        return datetime.combine(today, time.min, self.zone)

    def spent(self, rows: Iterable[ChargedUse]) -> Spent:
        """Returns today's dollars; models without a price count as free."""
        total = own = 0.0
        for row in rows:
            cost = self.prices.cost_of(row) or 0.0
            total += cost
            own += cost if row.own else 0.0
        return Spent(round_dollars(total), round_dollars(own))

    def used_up(self, spent: Spent) -> str:
        """Returns a sentence that a budget is used up; empty if none is."""
        again = f"I'll answer again from midnight ({self.zone}). Commands still work."
        if _reaches(spent.total, self.total):
            return f"Today's budget of {format_dollars(self.total)} is used up; {again}"
        if _reaches(spent.own, self.each):
            return f"Your budget of {format_dollars(self.each)} for today is used up; {again}"
        return ""

    def nearly_used_up(self, spent: Spent) -> str:
        """Returns a sentence that warns a person about their own budget; empty if there is no need."""
        if not _reaches(spent.own, WARN * self.each):
            return ""
        if _reaches(spent.own, self.each):
            each = format_dollars(self.each)
            return f"💸 That used up your budget of {each} for today; it resets at midnight ({self.zone})"
        share = f"{100 * spent.own / self.each:.0f}%"
        return f"💸 {format_dollars(spent.own)} of your {format_dollars(self.each)} for today is used ({share})"

    def refuses(self, model: str) -> bool:
        """Tells whether a model may not be used because it has no price and there is a budget."""
        return self.limited and self.prices.of(model) is None

    def check(self, **models: str) -> None:
        """Raises `SettingsError` for the first of the models, by the names of their settings, that has no price."""
        for setting, model in models.items():
            if self.refuses(model):
                raise SettingsError(
                    f"{setting} is {model}, whose price is unknown, so a daily budget in dollars cannot be kept. "
                    f'Give its price in the file that RELAY_PRICES names, such as {{"{model}": {{"input": 2, '
                    '"output": 10}} (dollars per million tokens; 0 if it is free), or remove '
                    "RELAY_DAILY_BUDGET_USD and RELAY_DAILY_BUDGET_USD_PER_USER."
                )


def _reaches(spent: float, limit: float) -> bool:
    """Tells whether a sum has reached a limit; 0: there is none."""
    return limit > 0 and round_dollars(limit) <= round_dollars(spent)


UNLIMITED = Budget()
NOTHING = Spent()


@dataclass(slots=True)
class Tally:
    """What a piece of work has used of a model so far, besides what was spent that day before it began."""

    model: str
    budget: Budget = UNLIMITED
    before: Spent = NOTHING
    usage: dict[str, int] = field(default_factory=dict)
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    """The id under which it is stored once, however often it is sent."""

    def count(self, usage: Mapping[str, int]) -> None:
        """Counts a call's tokens and searches, by kind."""
        for kind, number in usage.items():
            self.usage[kind] = self.usage.get(kind, 0) + number

    @property
    def cost(self) -> float:
        """Returns its cost in dollars."""
        return self.budget.prices.cost(self.model, self.usage) or 0.0

    @property
    def spent(self) -> Spent:
        """Returns what is spent now."""
        return Spent(self.before.total + self.cost, self.before.own + self.cost)

    @property
    def used_up(self) -> str:
        """Returns why no further call may be made; empty if one may."""
        return self.budget.used_up(self.spent)

    def make_spending(self, done: bool) -> Spending | None:
        """Returns what the database stores of it; None if nothing was used. `done`: the work had a result."""
        return Spending(self.id, done, self.model, self.usage) if any(self.usage.values()) else None
