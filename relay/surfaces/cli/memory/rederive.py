"""`relay memory rederive`: shows the cost and the difference, and applies it on request."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, field, replace
from datetime import datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text

from relay.core.errors import RelayError, WrongArgument
from relay.core.frozen import frozen
from relay.core.models import Space
from relay.core.settings import Settings
from relay.core.spending.prices import format_dollars
from relay.core.text import pluralize
from relay.memory.preferences.attribution import Attributor
from relay.memory.rederivation.attributions import Attributions
from relay.memory.rederivation.change import Change, Estimate, Rederivation
from relay.memory.rederivation.memories import Memories, Rejudge
from relay.memory.rederivation.summaries import Summaries
from relay.runtime.runtime import Runtime, open_runtime
from relay.surfaces.chat.difference import ADDED, KEPT, REMOVED, pieces
from relay.surfaces.cli.progress import plain, show_progress
from relay.surfaces.cli.terminal.keyboard import read_line

KINDS = ("summaries", "memories", "preferences")
MOST_SHOWN = 30
STYLES = {KEPT: "", REMOVED: "red strike", ADDED: "green bold"}
SIGNS = {"added": "+", "changed": "~", "gone": "-"}


class NotDerived(RelayError):
    """Nothing was changed."""


@frozen
class RederiveOptions:
    """The options of the command. `user`: whose memory (None: the owner's). `quiet`: JSON, for programs."""

    what: str = "all"
    since: datetime | None = None
    user: int | None = None
    dry_run: bool = False
    yes: bool = False
    quiet: bool = False


@frozen
class ShownChange:
    """One derived row, before and after."""

    what: str
    verdict: str
    before: str | None
    after: str | None


@frozen
class Rederived:
    """The result of deriving one kind again. `cost`: approximate US dollars; None if unknown."""

    calls: int
    cost: float | None
    changes: list[ShownChange] = field(default_factory=list)
    applied: int = 0


async def rederive(settings: Settings, wish: RederiveOptions) -> None:
    """Derives again what another version derived from a person's record since a moment, shows the difference, and
    applies it if confirmed. Raises what the model raises, `BudgetUsedUp`, and `NotDerived`."""
    if wish.quiet and not wish.yes:
        raise NotDerived("--json can't ask, so it needs --yes. With --dry-run it still changes nothing.")
    console, told = plain(), dict[str, Rederived]()
    console.quiet = wish.quiet
    async with open_runtime(settings) as relay:
        space = await find_space(relay, wish.user)
        since = wish.since and wish.since.replace(tzinfo=relay.budget.zone)
        work = derivations(relay, space, since)
        if wish.what not in (*KINDS, "all"):
            raise WrongArgument(f"--what must be {', '.join(KINDS)} or all.")
        if wish.what not in (*work, "all"):
            raise NotDerived(f"With RELAY_CAPTURE={settings.capture}, Relay doesn't derive memories.")
        console.print(f"The memory of user {space.owner_id}. For another person's, add --user.")
        for name, again in work.items():
            if wish.what in (name, "all"):
                told[name] = await _rederive_one(console, relay, name, again, wish)
    if wish.quiet:
        shown = {name: asdict(one) for name, one in told.items()}
        print(json.dumps({"user": space.owner_id, **shown}, indent=2, ensure_ascii=False))


async def find_space(relay: Runtime, user: int | None) -> Space:
    """Returns a person's space; by default the owner's."""
    return Space("private", owner_id=user if user is not None else await relay.find_owner())


def derivations(relay: Runtime, space: Space, since: datetime | None) -> dict[str, Rederivation]:
    """Returns the derivations by name, without those that people have switched off."""
    settings = relay.settings
    found: dict[str, Rederivation] = {
        "summaries": Summaries(relay.make_summariser(relay.gate), space, since, settings.background_concurrency)
    }
    attributor = Attributor(relay.store, relay.gate, settings.small_model)
    found["preferences"] = Attributions(attributor, space, since, settings.background_concurrency)
    if settings.capture in ("auto", "ask"):
        judge, asks = Rejudge(relay.make_judge(relay.gate)), settings.capture == "ask"
        found["memories"] = Memories(relay.store, judge, space, since, asks)
    return found


async def _rederive_one(
    console: Console, relay: Runtime, name: str, again: Rederivation, wish: RederiveOptions
) -> Rederived:
    """Derives one kind again."""
    estimate = await again.estimate()
    told = Rederived(estimate.calls, cost(estimate, relay))
    if not estimate.calls:
        console.print(f"{name}: nothing was derived by another version.")
        return told
    changes = await _changes(console, relay, name, again, estimate, wish)
    shown = [ShownChange(one.label, one.verdict, one.before, one.after) for one in changes]
    told = replace(told, changes=shown)
    if wish.dry_run:
        return told
    if changes and not wish.yes and not await confirm("Apply it?"):
        raise NotDerived()
    applied = sum([await change.apply() for change in changes])
    await again.finish()
    console.print(f"{name}: applied {applied:,} of {len(changes):,}.")
    return replace(told, applied=applied)


async def _changes(
    console: Console, relay: Runtime, name: str, again: Rederivation, estimate: Estimate, wish: RederiveOptions
) -> list[Change]:
    """Shows the changes as they are found; asks first at a terminal."""
    console.print(f"{name}: {describe_estimate(estimate, relay)}.")
    if not wish.yes and not await confirm("Ask the model?"):
        raise NotDerived()
    with show_progress(console) as watcher:
        found = await again.changes(lambda done: watcher.report("Deriving", name, done, estimate.calls))
    changes = [change for change in found if change.before != change.after]
    show(console, name, changes)
    return changes


def cost(estimate: Estimate, relay: Runtime) -> float | None:
    """Returns the approximate cost in US dollars; None if the price is unknown."""
    return relay.budget.prices.cost(relay.settings.small_model, estimate.usage)


def describe_estimate(estimate: Estimate, relay: Runtime) -> str:
    """Says how many model calls are needed, and their cost."""
    model = relay.settings.small_model
    dear = cost(estimate, relay)
    price = f"about {format_dollars(dear)}" if dear is not None else "at an unknown price"
    calls = f"about {pluralize(estimate.calls, 'call')} of {model}"
    return f"{calls}, {estimate.input:,} tokens in, {estimate.output:,} out, {price}"


async def confirm(question: str) -> bool:
    """Asks the person at the terminal; without a terminal the answer is no."""
    if not sys.stdin.isatty():
        raise NotDerived("Nothing was changed. Without a terminal, add --yes.")
    return await read_line(f"{question} Type yes: ") == "yes"


def show(console: Console, name: str, changes: Sequence[Change]) -> None:
    """Renders the difference: the counts, and the first changes in full."""
    counts = Counter(change.verdict for change in changes)
    table = Table(title=f"Changes of {name}")
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
