"""The sentinel: looks at how things stand; tells admins once when something goes wrong, and once when it is over."""

from __future__ import annotations

import asyncio
import platform
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import structlog

from relay.core.charge import ChargedUse
from relay.core.errors import (
    ChatGone,
    DatabaseError,
    MessengerError,
    ModelAccountError,
    ModelMisconfigured,
    OutOfCredit,
    PollConflict,
)
from relay.core.ports import Messenger
from relay.core.prices import dollars
from relay.core.private_files import least_free
from relay.memory.people import People
from relay.memory.rows.operations import Readings, Sighting, WatchedIncident
from relay.memory.spending.budget import WARN, Budget
from relay.memory.store import Store

log = structlog.get_logger()

SILENCE = 120.0
"""Seconds without a word from Telegram; a poll comes back every 30, a webhook is looked after more often."""
LOST, LOST_CALM = 3, 1
"""Polls lost to another program in the last minutes: one or two are those of a restart, or of `relay doctor`."""
QUEUE, QUEUE_CALM = 120.0, 30.0
"""Seconds that a message waits to be taken, and what is well again."""
ERRORS, ERRORS_CALM, LEAST_TURNS = 0.5, 0.2, 5
"""The part of the last ten minutes' turns that failed, what is well again, and of how many that is told."""
SETUP = {error.__name__ for error in (ModelAccountError, OutOfCredit, ModelMisconfigured)}
"""Why a message could not be answered where only a person can mend it: told at the first one."""
JOB_FAILURES = 3
"""So often in a row a job fails that runs every few minutes; one that runs once a day, once."""
OUTAGE = 120.0
"""Seconds without the database that are worth a word."""
CALM = timedelta(minutes=3)
"""For so long it must have been well before it is over."""
FORGOTTEN = timedelta(days=2)
"""What nobody has seen to be wrong for so long is over too: the machine it was on may be gone."""
LEASE_SECONDS = 60
"""Nothing renews this one: within it all admins are told, or another process tells them."""

PAST = {
    "telegram": "I could not reach Telegram",
    "rival": "Another program read my messages",
    "queue": "Messages waited in the queue",
    "errors": "Many messages could not be answered",
    "summaries": "Summaries or titles failed",
    "disk": "A disk was nearly full",
    "database": "My database could not be used",
    "budget": "The budget of the day was used up",
    "spend": "",
}
"""What was wrong, when it is over; empty: of that nobody needs to hear."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that is watched, as it is now. `wrong` None: neither wrong nor well enough for it to be over."""

    kind: str
    wrong: bool | None
    detail: str = ""
    """A sentence for the people who run it: what is wrong, and what to do."""
    seconds: float = 0.0
    """For how long it has been so."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended when it ran last."""

    at: datetime
    error: str
    """Empty: well."""
    failures: int
    """How often in a row it has failed."""
    daily: bool


def judge(conditions: Sequence[Condition], incidents: Sequence[WatchedIncident], now: datetime) -> list[Sighting]:
    """What is to be taken down of what was found."""
    wrong = {condition.kind for condition in conditions if condition.wrong}
    well = {condition.kind for condition in conditions if condition.wrong is False}
    seen = [Sighting(one.kind, "wrong", one.detail, one.seconds) for one in conditions if one.wrong]
    for incident in incidents:
        kind, since = incident.kind, incident.calm_since
        if kind in wrong:
            continue
        forgotten = incident.seen_at < now - FORGOTTEN
        if forgotten or (since is not None and since <= now - CALM):
            seen.append(Sighting(kind, "over"))
        elif kind in well and since is None:
            seen.append(Sighting(kind, "calm"))
    return seen


def from_readings(readings: Readings, budget: Budget, bot_id: int) -> Iterator[Condition]:
    """What the database's numbers say."""
    waited, turns, failed = readings.queue_seconds, readings.turns, readings.failed
    yield Condition(
        f"queue {bot_id}",
        between(waited, QUEUE, QUEUE_CALM),
        "Messages wait in the queue and are not taken up. If that does not pass, look at the log, and restart me; "
        "RELAY_CONCURRENCY is how many conversations I answer at once.",
        waited,
    )
    rate = failed / turns if turns else 0.0
    error = readings.error or ""
    setup = error.partition(":")[0] in SETUP
    few = turns < LEAST_TURNS and failed > 0
    yield Condition(
        f"errors {bot_id}",
        setup or (None if few else between(rate, ERRORS, ERRORS_CALM)),
        f"{failed} of the last {turns} messages could not be answered. "
        + (f"The last one: {error.partition(': ')[2] or error}" if error else "The log says why."),
    )
    yield Condition(
        f"summaries {bot_id}",
        readings.owed > 0,
        f"Summaries or titles fail again and again (still owed: {readings.owed}): {readings.owed_error} "
        "They are tried again by themselves; RELAY_SMALL_MODEL is who writes them.",
    )
    yield from from_budget(readings.spent, budget)


def from_budget(rows: Sequence[ChargedUse], budget: Budget) -> Iterator[Condition]:
    """What was spent today of the budget for all."""
    spent = budget.spent(rows).total
    told = f"{dollars(spent)} of today's {dollars(budget.total)} are spent"
    until = f"until midnight ({budget.zone}). RELAY_DAILY_BUDGET_USD is how much that is."
    reached = 0 < budget.total <= spent
    near = 0 < WARN * budget.total <= spent and not reached
    yield Condition("spend", near, f"{told}. When all of it is, I answer nobody {until}")
    yield Condition("budget", reached, f"{told}: I answer nobody {until}")


def from_silence(seconds: float, bot_id: int) -> Condition:
    """Whether Telegram is heard."""
    return Condition(
        f"telegram {bot_id}",
        seconds >= SILENCE,
        "I do not hear from Telegram. What is written to me waits there. If that lasts, look at this machine's "
        "network, and whether another program reads this bot's messages.",
        seconds,
    )


def from_lost_polls(number: int, bot_id: int) -> Condition:
    """Whether another program asks for this bot's messages."""
    return Condition(
        f"rival {bot_id}",
        between(number, LOST, LOST_CALM),
        f"{PollConflict()} Where you cannot find it: @BotFather, /revoke, and the new token here.",
    )


def from_jobs(outcomes: Mapping[str, Outcome]) -> Iterator[Condition]:
    """How jobs ended that have run since the last look."""
    for name, outcome in outcomes.items():
        often = outcome.failures >= (1 if outcome.daily else JOB_FAILURES)
        yield Condition(
            f"job {name}",
            (True if often else None) if outcome.error else False,
            f"The job “{name}” failed: {outcome.error.rstrip('.')}. It is tried again by itself; the log says more.",
        )


def from_disks(folders: Sequence[Path], machine: str) -> Iterator[Condition]:
    """Whether there is room where Relay keeps its files: half as much again as the least is well. A folder that is not
    there says nothing."""
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
            f"The disk of {folder} on {machine} is nearly full: {disk.free / 1e6:,.0f} MB of "
            f"{disk.total / 1e9:,.1f} GB are free. Make room: without it I can keep nothing.",
        )


def between(value: float, wrong: float, well: float) -> bool | None:
    """Wrong from one value on, well below another, and neither between them."""
    return True if value >= wrong else False if value < well else None


def told(incident: WatchedIncident, zone: tzinfo) -> str:
    """An incident as it is told: what is wrong and what to do, or that it is over. Empty: nothing is said of it."""
    begun = incident.begun_at.astimezone(zone)
    if incident.over_at is None:
        return f"⚠️ {incident.detail}\n\nSince {begun:%H:%M} on {begun:%d %B}."
    kind, _, name = incident.kind.partition(" ")
    past = f"The job “{name}” failed" if kind == "job" else PAST.get(kind, incident.detail.rstrip("."))
    if not past:
        return ""
    over = incident.over_at.astimezone(zone)
    until = f"{over:%H:%M}" if over.date() == begun.date() else f"{over:%H:%M} on {over:%d %B}"
    stretch = f"from {begun:%H:%M} on {begun:%d %B} to {until} ({lasting(over - begun)})"
    return f"⚠️ {past} {stretch}. It is over." if incident.told_at is None else f"✅ It is over: {past} {stretch}."


def lasting(time: timedelta) -> str:
    """How long something took, in words."""
    minutes = max(1, round(time.total_seconds() / 60))
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


@dataclass(slots=True)
class Sentinel:
    """What it watches and whom it tells. `store` does not wait for a database that is away."""

    store: Store
    people: People
    messenger: Messenger
    bot_id: int
    budget: Budget
    folders: Sequence[Path]
    silence: Callable[[], float]
    """Seconds since Telegram was heard."""
    lost_polls: Callable[[], int]
    """How many polls were lost to another program in the last minutes."""
    outcomes: Mapping[str, Outcome]
    clock: Callable[[], float] = time.monotonic
    machine: str = field(default_factory=platform.node)
    _judged: dict[str, datetime] = field(default_factory=dict, init=False)
    """Which outcomes of jobs were judged already, by when they ended."""
    _away_since: float | None = field(default=None, init=False)
    _told_full: bool = field(default=False, init=False)
    """The admins know of a full disk, which the database could not take down."""

    async def look(self) -> None:
        """Looks once, and tells what is to be told."""
        try:
            await self.people.refresh(self.store)
            readings = await self.store.readings(self.bot_id, self.budget.day())
            await self._database_was_away()
            self._told_full = False
            fresh = {name: one for name, one in self.outcomes.items() if self._judged.get(name) != one.at}
            conditions = [
                *from_readings(readings, self.budget, self.bot_id),
                from_silence(0.0 if self.lost_polls() else self.silence(), self.bot_id),  # a refused poll is a word
                from_lost_polls(self.lost_polls(), self.bot_id),
                *from_jobs(fresh),
                *await asyncio.to_thread(lambda: list(from_disks(self.folders, self.machine))),
            ]
            seen = judge(conditions, readings.open, readings.now)
            incidents = await self.store.watch(seen, LEASE_SECONDS)
            self._judged |= {name: one.at for name, one in fresh.items()}
            for incident in incidents:
                await self._tell(incident)
        except DatabaseError as error:
            if self._away_since is None:
                self._away_since = self.clock()
            log.error("the sentinel cannot reach the database", error=str(error))
            await self._tell_of_a_full_disk()

    async def _tell_of_a_full_disk(self) -> None:
        """Tells the admins once, past the database: on a full disk it can take nothing down."""
        disks = await asyncio.to_thread(lambda: list(from_disks(self.folders, self.machine)))
        full = next((disk for disk in disks if disk.wrong), None)
        if full and not self._told_full:
            log.error("a disk is full", detail=full.detail)
            self._told_full = await self._reached(f"⚠️ {full.detail}", silent=False)

    async def _database_was_away(self) -> None:
        """Takes down that the database was away, now that it is back."""
        if self._away_since is not None and self.clock() - self._away_since >= OUTAGE:
            detail = "My database could not be used. Its own log, or the status page of whoever runs it, may say why."
            await self.store.was_wrong("database", detail, self.clock() - self._away_since)
        self._away_since = None

    async def _tell(self, incident: WatchedIncident) -> None:
        """Tells the admins of an incident that is leased for that; one that nobody could be told stays to be told."""
        over = incident.over_at is not None
        text = told(incident, self.budget.zone)
        log.warning("incident", kind=incident.kind, detail=incident.detail, over=over)
        if not text or await self._reached(text, over):
            await self.store.told(incident.id, over)
        else:
            await self.store.told(incident.id, over, told=False)

    async def _reached(self, text: str, silent: bool) -> bool:
        """Whether all admins were told whom Telegram lets us tell, or at least one was; not where there are none."""
        reached = failed = 0
        admins = sorted(self.people.admins)
        for admin in admins:
            try:
                await self.messenger.call("sendMessage", chat_id=admin, text=text, disable_notification=silent)
                reached += 1
            except ChatGone:
                continue
            except MessengerError as error:
                failed += 1
                log.warning("an admin could not be told", error=type(error).__name__)
        return reached > 0 or (bool(admins) and not failed)
