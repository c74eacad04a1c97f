"""`relay memory rederive`: what it would cost, what it would change, and (when that is wanted) the change."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from relay.app import Relay, make_judge, make_model, make_summariser, opened
from relay.capture.again import Rejudge
from relay.errors import RelayError
from relay.keyboard import typed
from relay.ports import Model
from relay.prices import dollars
from relay.progress import plain, watching
from relay.rederive.change import Again, Change, Estimate
from relay.rederive.memories import Memories
from relay.rederive.summaries import Summaries
from relay.settings import Settings
from relay.verbs.difference import ADDED, KEPT, REMOVED, pieces

MOST_SHOWN = 30
STYLES = {KEPT: "", REMOVED: "red strike", ADDED: "green bold"}
SIGNS = {"added": "+", "changed": "~", "gone": "-"}


class NotDerived(RelayError):
    """Nothing was changed."""


async def rederive(settings: Settings, what: str, since: datetime | None, dry_run: bool, yes: bool) -> None:
    """Derives again what another version made of the record since a moment, shows the difference, and applies it once
    that is confirmed. Raises what the model raises, `BudgetUsedUp`, and `NotDerived`."""
    console = plain()
    async with opened(settings) as relay:
        model = make_model(settings)
        since = since and since.replace(tzinfo=relay.budget.zone)
        try:
            work = derivations(relay, model, since)
            if what not in (*work, "all"):
                raise NotDerived(f"--what is {', '.join(work)} or all.")
            for name, again in work.items():
                if what in (name, "all"):
                    await _one(console, relay, name, again, dry_run, yes)
        finally:
            if close := getattr(model, "close", None):
                await close()


def derivations(relay: Relay, model: Model, since: datetime | None) -> dict[str, Again]:
    """What can be derived again, by what it is called."""
    settings = relay.settings
    judge = Rejudge(make_judge(relay, model))
    return {
        "summaries": Summaries(make_summariser(relay, model), since, settings.background_concurrency),
        "memories": Memories(relay.store, judge, since, relay.budget, settings.result_cache),
    }


async def _one(console: Console, relay: Relay, name: str, again: Again, dry_run: bool, yes: bool) -> None:
    """One kind of what is derived."""
    estimate = await again.estimate()
    if not estimate.calls:
        console.print(f"{name}: all as this version makes them.")
        return
    console.print(f"{name}: {in_words(estimate, relay)}.")
    if not yes and not await agreed("Ask the model?"):
        raise NotDerived()
    with watching(console) as watcher:
        changes = await again.changes(lambda done: watcher.at("Deriving", name, done, estimate.calls))
    changes = [change for change in changes if change.before != change.after]
    show(console, name, changes)
    if dry_run:
        return
    if changes and not yes and not await agreed("Apply it?"):
        raise NotDerived()
    applied = [await change.apply() for change in changes]
    await again.settled()
    console.print(f"{name}: applied {sum(applied):,} of {len(applied):,}.")


def in_words(estimate: Estimate, relay: Relay) -> str:
    """What is to be asked, and what that costs."""
    model = relay.settings.small_model
    cost = relay.budget.prices.cost(model, estimate.usage)
    price = f"about {dollars(cost)}" if cost is not None else "at a price that is not known"
    return f"up to {estimate.calls:,} calls of {model}, {estimate.input:,} tokens in, {estimate.output:,} out, {price}"


async def agreed(question: str) -> bool:
    """What somebody at a terminal says; elsewhere nobody agrees."""
    if not sys.stdin.isatty():
        raise NotDerived("Nothing was changed: without a terminal it needs --yes.")
    return await typed(f"{question} Type yes: ") == "yes"


def show(console: Console, name: str, changes: Sequence[Change]) -> None:
    """The difference: how much of what, and the first of it in full."""
    counts = Counter(change.verdict for change in changes)
    table = Table(title=f"What changes of {name}")
    for verdict in SIGNS:
        table.add_column(verdict, justify="right")
    table.add_row(*(f"{counts[verdict]:,}" for verdict in SIGNS))
    console.print(table)
    for change in changes[:MOST_SHOWN]:
        line = Text(f"{SIGNS[change.verdict]} {change.label}: ")
        for sign, text in pieces(change.before or "", change.after or ""):
            line.append(text, STYLES[sign])
        console.print(line)
    if len(changes) > MOST_SHOWN:
        console.print(f"… and {len(changes) - MOST_SHOWN:,} more.")
