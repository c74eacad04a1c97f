"""The conditions that are watched: Telegram, the queue, turns, jobs, disks, the budget."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from relay.core.errors import ModelAccountError, ModelMisconfigured, OutOfCredit, PollConflict
from relay.core.frozen import frozen
from relay.core.private_files import least_free
from relay.core.spending.charge import ChargedUse
from relay.core.spending.prices import format_dollars
from relay.core.text import pluralize
from relay.memory.rows.operations import Readings
from relay.memory.spending.budget import WARN, Budget

SILENCE = 120.0
"""Seconds of silence from Telegram that cause an alert. Polls return every 30 seconds, and webhooks are checked more
often."""
LOST, LOST_CALM = 3, 1
"""How many polls were lost to another program in the last minutes: wrong from the first number, fine below the second.
A restart or `relay doctor` can cause one or two."""
QUEUE, QUEUE_CALM = 120.0, 30.0
"""Seconds that a message has waited: wrong from the first number, fine below the second."""
ERRORS, ERRORS_CALM, LEAST_TURNS = 0.5, 0.2, 5
"""The share of failed turns in ten minutes: wrong from the first number, fine below the second; and the least number
of turns."""
SLOW, SLOW_CALM = 0.050, 0.025
"""Seconds within which 95 % of prompts have their preferences: wrong from the first number, fine below the second."""
SETUP = {error.__name__ for error in (ModelAccountError, OutOfCredit, ModelMisconfigured)}
"""Failures that only a person can fix: reported at the first one."""
JOB_FAILURES = 3
"""After how many failures in a row a frequent job is reported. A daily job is reported at once."""


@frozen
class Condition:
    """A watched condition. `wrong` None: neither wrong nor clearly fine."""

    kind: str
    wrong: bool | None
    detail: str = ""
    """A sentence for operators: what is wrong, and what to do."""
    seconds: float = 0.0
    """For how many seconds it has been so."""


@frozen
class Outcome:
    """A job's last outcome."""

    at: datetime
    error: str
    """Why it failed; empty: it succeeded."""
    failures: int
    """How many times in a row it has failed."""
    daily: bool


def from_readings(readings: Readings, budget: Budget, bot_id: int) -> Iterator[Condition]:
    """Yields conditions from the database's readings."""
    waited, turns, failed = readings.queue_seconds, readings.turns, readings.failed
    yield Condition(
        f"queue {bot_id}",
        between(waited, QUEUE, QUEUE_CALM),
        "Messages are waiting in the queue. If this doesn't pass, check the log and restart me. "
        "RELAY_CONCURRENCY sets how many conversations I answer at once.",
        waited,
    )
    rate = failed / turns if turns else 0.0
    error = readings.error or ""
    setup = error.partition(":")[0] in SETUP
    few = turns < LEAST_TURNS and failed > 0
    yield Condition(
        f"errors {bot_id}",
        setup or (None if few else between(rate, ERRORS, ERRORS_CALM)),
        f"{f'{failed} of the last {turns} messages' if turns > 1 else 'The last message'} could not be answered. "
        + (f"The last one: {error.partition(': ')[2] or error}" if error else "The log says why."),
    )
    yield Condition(
        f"summaries {bot_id}",
        readings.owed > 0,
        f"{pluralize(readings.owed, 'background job')} failed several times, most recently {readings.owed_error} "
        "I'll keep trying. (RELAY_SMALL_MODEL writes summaries and titles.)",
    )
    yield from from_budget(readings.spent, budget)


def from_budget(rows: Sequence[ChargedUse], budget: Budget) -> Iterator[Condition]:
    """Yields the condition of the shared budget."""
    spent = budget.spent(rows).total
    told = f"{format_dollars(spent)} of today's {format_dollars(budget.total)} has been spent"
    until = f"until midnight ({budget.zone}). RELAY_DAILY_BUDGET_USD sets the budget."
    reached = 0 < budget.total <= spent
    near = 0 < WARN * budget.total <= spent and not reached
    yield Condition("spend", near, f"{told}. When all of it is spent, I stop answering {until}")
    yield Condition("budget", reached, f"{told}: I've stopped answering {until}")


def from_silence(seconds: float, bot_id: int) -> Condition:
    """Returns the condition of whether Telegram answers."""
    return Condition(
        f"telegram {bot_id}",
        seconds >= SILENCE,
        "I can't reach Telegram. Messages to me wait there. If this lasts, check this machine's "
        "network, and whether another program reads this bot's messages.",
        seconds,
    )


def from_lost_polls(number: int, bot_id: int) -> Condition:
    """Returns the condition of whether another program polls for this bot."""
    return Condition(
        f"rival {bot_id}",
        between(number, LOST, LOST_CALM),
        f"{PollConflict()} If you can't find it, revoke the token (@BotFather, /revoke) and set the new one here.",
    )


def from_preferences(seconds: float, bot_id: int) -> Condition:
    """Returns the condition of how long it takes to choose the preferences of a prompt."""
    return Condition(
        f"preferences {bot_id}",
        between(seconds, SLOW, SLOW_CALM),
        f"Choosing preferences takes {seconds * 1000:.0f} ms of a turn; it should be under "
        f"{SLOW * 1000:.0f}. The machine or its database is probably busy.",
    )


def from_jobs(outcomes: Mapping[str, Outcome]) -> Iterator[Condition]:
    """Yields the conditions of jobs that ended since the last check."""
    for name, outcome in outcomes.items():
        often = outcome.failures >= (1 if outcome.daily else JOB_FAILURES)
        yield Condition(
            f"job {name}",
            (True if often else None) if outcome.error else False,
            f"The job “{name}” failed: {outcome.error.rstrip('.')}. I'll try again by myself; the log says more.",
        )


def from_disks(folders: Sequence[Path], machine: str) -> Iterator[Condition]:
    """Yields the condition of Relay's disks: whether they have room. One and a half times the minimum is fine. Skips
    missing folders."""
    seen = set()
    for folder in folders:
        try:
            device, disk = folder.stat().st_dev, shutil.disk_usage(folder)
        except OSError:
            continue
        if device in seen:
            continue
        seen.add(device)
        least = least_free(disk.total)
        yield Condition(
            f"disk {machine} {folder}",
            between(-disk.free, -least, -1.5 * least),
            f"The disk with {folder} on {machine} is nearly full: {disk.free / 1e6:,.0f} MB of "
            f"{disk.total / 1e9:,.1f} GB are free. Free some space: without it I can't store anything.",
        )


def between(value: float, wrong: float, well: float) -> bool | None:
    """Returns True from `wrong` on, False below `well`, None in between."""
    return True if value >= wrong else False if value < well else None
