"""Usage: tokens, cost and cache share by day, in words and as a picture, and what is left of today's budget."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo

from relay.core.models import File
from relay.core.prices import AS_OF, Prices, dollars
from relay.core.text import escape_markdown, format_tokens, parse_number, pluralize
from relay.memory.rows.usage import DailyUse
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import verb
from relay.surfaces.chat.reply import CommandReply

DAYS, MOST_DAYS = 14, 90


@dataclass(slots=True)
class Used:
    """What was used in a stretch of time: tokens, what they went into, and dollars as far as prices are known."""

    input: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0
    answers: int = 0
    summaries: int = 0
    titles: int = 0
    spent: float = 0.0
    unpriced: set[str] = field(default_factory=set)
    """Models without a known price."""

    def add(self, row: DailyUse, prices: Prices) -> Used:
        """Counts a row of `Store.usage`."""
        self.input += row.input
        self.cached += row.cached
        self.written += row.written
        self.output += row.output
        match row.what:
            case "answer":
                self.answers += row.times
            case "summary":
                self.summaries += row.times
            case "title":
                self.titles += row.times
        spent = prices.cost_of(row)
        if spent is None:
            self.unpriced.add(row.model or "?")
        else:
            self.spent += spent
        return self

    @property
    def asked(self) -> int:
        """All tokens that went in."""
        return self.input + self.cached + self.written

    @property
    def share(self) -> float | None:
        """Which part of them (0–1) came from the cache; None when there were none."""
        return self.cached / self.asked if self.asked else None

    @property
    def price(self) -> str:
        return "no price" if self.unpriced and not self.spent else dollars(self.spent) + ("+" if self.unpriced else "")


@verb("usage", usage="[days]", help="tokens, cost and cache share by day")
async def usage(call: ChatContext) -> CommandReply:
    """Tells what this space used, with a picture; admins also what the whole installation used."""
    days = DAYS if not call.text.strip() else parse_number(call.text.strip()) or 0
    if not 1 <= days <= MOST_DAYS:
        return CommandReply(
            f"For how many days? Write a number up to {MOST_DAYS} after it: /usage 30", private=True, refused=True
        )
    starts = day_starts(days, call.zone)
    rows = await call.store.usage(call.space, starts)
    prices = call.services.budget.prices
    by_day = [Used() for _ in starts]
    for row in rows:
        by_day[min(max(row.day, 1), days) - 1].add(row, prices)
    lines = [told(by_day, rows, starts, prices)]
    if left := await of_budget(call):
        lines.append(left)
    if call.admin:
        everywhere = summed(await call.store.usage(call.space, starts, all=True), prices)
        lines.append(f"**All spaces**: {in_words(everywhere)}")
    if not rows:
        return CommandReply("\n\n".join(lines), private=True)
    from relay.surfaces.chat.session.chart import usage_chart

    picture = await asyncio.to_thread(usage_chart, [start.date() for start in starts], by_day)
    return CommandReply("\n\n".join(lines), private=True, file=File("usage.png", picture, picture=True))


def day_starts(days: int, zone: tzinfo) -> list[datetime]:
    """When each of the last days began, today's last."""
    today = datetime.now(zone).date()
    return [datetime.combine(today - timedelta(days=ago), time.min, zone) for ago in reversed(range(days))]


async def of_budget(call: ChatContext) -> str:
    """How much of today's budgets is used: one's own, for admins also that of all; empty without any."""
    budget = call.services.budget
    if not budget.limited:
        return ""
    spent = budget.spent(await call.store.spent(budget.day(), call.user_id))
    parts = [f"you {dollars(spent.own)} of {dollars(budget.each)}"] if budget.each else []
    if budget.total and call.admin:
        parts.append(f"all together {dollars(spent.total)} of {dollars(budget.total)}")
    return f"**Budget of today** (since midnight, {budget.zone}): {', '.join(parts)}" if parts else ""


def summed(rows: Iterable[DailyUse], prices: Prices) -> Used:
    """Rows of `Store.usage` together."""
    used = Used()
    for row in rows:
        used.add(row, prices)
    return used


def told(by_day: Sequence[Used], rows: Sequence[DailyUse], starts: Sequence[datetime], prices: Prices) -> str:
    """The days on which there was something, the models, and all of it together."""
    head = f"**Usage of the last {len(starts)} days**" if len(starts) > 1 else "**Usage of today**"
    if not rows:
        return f"{head}\n\nNothing was used."
    table = [line("day", "answers", "in", "cache", "out", "cost")]
    table += [day_line(start.date(), used) for start, used in zip(starts, by_day, strict=True) if used.asked]
    models = []
    for name in sorted({row.model or "?" for row in rows}):
        used = summed((row for row in rows if (row.model or "?") == name), prices)
        models.append(f"- {escape_markdown(name)}: {in_words(used)}")
    whole = summed(rows, prices)
    block = "```\n" + "\n".join(table) + "\n```"
    notes = f"\n\nNo price known for {escape_markdown(', '.join(sorted(whole.unpriced)))}." if whole.unpriced else ""
    return (
        f"{head}\n\n{block}\n\n" + "\n".join(models) + f"\n\n**Together**: {in_words(whole)}. "
        f"Prices as of {AS_OF:%d %B %Y}; your bill may differ.{notes}"
    )


def day_line(day: date, used: Used) -> str:
    """One day of the table."""
    share = f"{100 * used.share:.0f}%" if used.share is not None else ""
    price = used.price.replace("no price", "?")
    return line(f"{day:%m-%d}", str(used.answers), format_tokens(used.asked), share, format_tokens(used.output), price)


def line(day: str, answers: str, asked: str, share: str, output: str, price: str) -> str:
    """A row of the table within 40 columns, so that a phone shows it on one line."""
    return f"{day:<5} {answers:>7} {asked:>6} {share:>5} {output:>5} {price:>7}"


def in_words(used: Used) -> str:
    """What was used, on one line."""
    share = f" ({100 * used.share:.0f} % from the cache)" if used.share is not None else ""
    times = [pluralize(used.answers, "answer")] if used.answers else []
    if used.summaries:
        times.append(pluralize(used.summaries, "summary", "summaries"))
    if used.titles:
        times.append(pluralize(used.titles, "title"))
    return f"{', '.join(times) or 'nothing'}, {used.asked:,} tokens in{share}, {used.output:,} out, {used.price}"
