"""Alerts: looks at how things are, and tells admins once when something goes wrong, and once when it is over."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import structlog

from relay.core.errors import DatabaseError, MessengerError
from relay.core.ports import Messenger
from relay.core.text import escape_markdown
from relay.jobs.conditions import (
    SILENCE,
    Condition,
    Outcome,
    from_disks,
    from_jobs,
    from_lost_polls,
    from_readings,
    from_silence,
)
from relay.jobs.unstored import say_unstored
from relay.memory.people import People
from relay.memory.rows.delivery import Message
from relay.memory.rows.operations import Sighting, WatchedIncident
from relay.memory.spending.budget import Budget
from relay.memory.store import Store

log = structlog.get_logger()

OUTAGE = 120.0
"""Seconds without the database that are worth a word."""
CALM = timedelta(minutes=3)
"""For so long it must have been well before it is over."""
FORGOTTEN = timedelta(days=2)
"""What nobody has seen to be wrong for so long is over too: the machine it was on may be gone."""
LEASE_SECONDS = 60
"""Nothing renews this one: within it the messages to all admins are queued, or another process queues them."""


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


def judge(conditions: Sequence[Condition], incidents: Sequence[WatchedIncident], now: datetime) -> list[Sighting]:
    """What is to be taken down of what was found."""
    wrong = {condition.kind for condition in conditions if condition.wrong}
    well = {condition.kind for condition in conditions if condition.wrong is False}
    seen = [Sighting(one.kind, "wrong", one.detail, one.seconds) for one in conditions if one.wrong]
    for incident in incidents:
        kind, since = incident.kind, incident.calm_since
        if kind in wrong:
            continue
        if incident.seen_at < now - FORGOTTEN or (since is not None and since <= now - CALM):
            seen.append(Sighting(kind, "over"))
        elif kind in well and since is None:
            seen.append(Sighting(kind, "calm"))
    return seen


def describe_incident(incident: WatchedIncident, zone: tzinfo) -> str:
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
            line = f"⚠️ {full.detail}"
            told = [await say_unstored(self.messenger, one, line, silent=False) for one in self.people.admins]
            self._told_full = any(told)

    async def _database_was_away(self) -> None:
        """Takes down that the database was away, now that it is back."""
        if self._away_since is not None and self.clock() - self._away_since >= OUTAGE:
            detail = "My database could not be used. Its own log, or the status page of whoever runs it, may say why."
            await self.store.was_wrong("database", detail, self.clock() - self._away_since)
        self._away_since = None

    async def _tell(self, incident: WatchedIncident) -> None:
        """Queues what is said of an incident that is leased for that. Where there are no admins, it stays to be told;
        so it does while Telegram can't be reached: told later, it is told once, as something that is over."""
        over, admins = incident.over_at is not None, sorted(self.people.admins)
        text = describe_incident(incident, self.budget.zone)
        log.warning("incident", kind=incident.kind, detail=incident.detail, over=over)
        tells = bool(admins) and await self._reaches_telegram()
        if text and tells:
            markdown = "\n\n".join(map(escape_markdown, text.split("\n\n")))
            key = f"incident {incident.id} {'over' if over else 'wrong'}"
            await self.store.enqueue(
                self.bot_id,
                [
                    Message(chat_id=one, user_id=one, text=markdown, sound=not over, key=f"{key} {one}")
                    for one in admins
                ],
            )
        await self.store.told(incident.id, over, told=tells or not text)

    async def _reaches_telegram(self) -> bool:
        if self.silence() < SILENCE:
            return True
        try:
            await self.messenger.call("getMe")
        except MessengerError:
            return False
        return True
