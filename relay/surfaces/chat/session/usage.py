"""Renders /usage: a table, the models, and a chart."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import date

from relay.commands.session.usage import DAYS, UNASKED, BudgetUsed, UsageReport, Used, WorkUsed
from relay.commands.session.usage import usage as usage_command
from relay.core.models import File
from relay.core.spending.prices import AS_OF, format_dollars
from relay.core.text import escape_markdown, format_tokens, parse_number, pluralize
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import shows
from relay.surfaces.chat.reply import CommandReply, app_rows


@shows("usage", private=True)
async def usage(call: ChatContext) -> CommandReply:
    """Shows what this space used, with a chart; to admins also what the whole installation used."""
    word = call.text.strip()
    report = await usage_command(call, parse_number(word) or 0 if word else DAYS)
    lines = [table(report)]
    if report.budget and (left := budget_line(report.budget, str(call.services.budget.zone))):
        lines.append(left)
    if unasked := describe_unasked(report.works):
        lines.append(unasked)
    if report.everywhere:
        lines.append(f"**Everyone together**: {describe_usage(report.everywhere)}")
    text, rows = "\n\n".join(lines), app_rows(call, "/usage")
    if not report.models:
        return CommandReply(text, rows=rows, result=report)
    from relay.surfaces.chat.session.chart import usage_chart

    picture = await asyncio.to_thread(usage_chart, [start.date() for start in report.starts], report.days)
    return CommandReply(text, file=File("usage.png", picture, picture=True), rows=rows, result=report)


def describe_unasked(works: Iterable[WorkUsed]) -> str:
    """Says what was used without being asked: calls for checks, heartbeats, ideas for the soul; empty: nothing."""
    found = [work for work in works if work.what in UNASKED]
    if not found:
        return ""
    times = ", ".join(f"{pluralize(work.times, 'call')} for {UNASKED[work.what]}" for work in found)
    spent = sum(work.used.spent for work in found)
    return f"**Unprompted** (part of the total): {times}, {format_dollars(spent)}"


def budget_line(used: BudgetUsed, zone: str) -> str:
    """Says how much of today's budgets is used; empty without budgets."""
    parts = [f"you {format_dollars(used.own)} of {format_dollars(used.each)}"] if used.each else []
    if used.all and used.total is not None:
        parts.append(f"everyone {format_dollars(used.total)} of {format_dollars(used.all)}")
    return f"**Today's budget** (since midnight, {zone}): {', '.join(parts)}" if parts else ""


def table(report: UsageReport) -> str:
    """Renders the days with usage, the models, and the total."""
    days = len(report.starts)
    head = f"**Usage in the last {days} days**" if days > 1 else "**Today's usage**"
    if not report.models:
        return f"{head}\n\nNothing used."
    lines = [line("day", "answers", "in", "cache", "out", "cost")]
    lines += [
        day_line(start.date(), used) for start, used in zip(report.starts, report.days, strict=True) if used.asked
    ]
    block = "```\n" + "\n".join(lines) + "\n```"
    models = "\n".join(f"- {escape_markdown(one.model)}: {describe_usage(one.used)}" for one in report.models)
    unpriced = report.whole.unpriced
    notes = f"\n\nNo price known for {escape_markdown(', '.join(unpriced))}." if unpriced else ""
    return (
        f"{head}\n\n{block}\n\n{models}\n\n**Total**: {describe_usage(report.whole)}. "
        f"Prices as of {AS_OF:%d %B %Y}; your bill may differ.{notes}"
    )


def day_line(day: date, used: Used) -> str:
    """Renders one day of the table."""
    share = f"{100 * used.share:.0f}%" if used.share is not None else ""
    cost = price(used).replace("no price", "?")
    return line(f"{day:%m-%d}", str(used.answers), format_tokens(used.asked), share, format_tokens(used.output), cost)


def line(day: str, answers: str, asked: str, share: str, output: str, cost: str) -> str:
    """Formats a row of the table within 40 columns, so that a phone shows it on one line."""
    return f"{day:<5} {answers:>7} {asked:>6} {share:>5} {output:>5} {cost:>7}"


def describe_usage(used: Used) -> str:
    """Describes usage on one line."""
    share = f" ({100 * used.share:.0f}% from the cache)" if used.share is not None else ""
    times = [pluralize(used.answers, "answer")] if used.answers else []
    if used.summaries:
        times.append(pluralize(used.summaries, "summary", "summaries"))
    if used.titles:
        times.append(pluralize(used.titles, "title"))
    return ", ".join([*times, f"{pluralize(used.asked, 'token')} in{share}", f"{used.output:,} out", price(used)])


def price(used: Used) -> str:
    """Formats the cost; a plus means that some models have no known price."""
    if used.unpriced and not used.spent:
        return "no price"
    return format_dollars(used.spent) + ("+" if used.unpriced else "")
