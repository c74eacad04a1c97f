"""Alerts: tells admins once when something goes wrong, and once when it is over."""

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
from relay.core.metrics import PREFERENCE_TIMES
from relay.core.ports import Messenger
from relay.core.text import escape_markdown
from relay.jobs.watch.conditions import (
    SILENCE,
    Condition,
    Outcome,
    from_disks,
    from_jobs,
    from_lost_polls,
    from_preferences,
    from_readings,
    from_silence,
)
from relay.memory.people import People
from relay.memory.rows.delivery import Message
from relay.memory.rows.operations import Observation, WatchedIncident
from relay.memory.spending.budget import Budget
from relay.memory.store import Store

log = structlog.get_logger()

OUTAGE = 120.0
"""The fewest seconds without the database that cause an alert."""
CALM = timedelta(minutes=3)
"""How long things must be fine before an incident is over."""
FORGOTTEN = timedelta(days=2)
"""An incident that no check has confirmed for this long is over too, because its machine may be gone."""
LEASE_SECONDS = 60
"""How many seconds the lease of an incident lasts. It isn't renewed: in this time, one process queues the messages to
all admins."""


PAST = {
    "telegram": "I couldn't reach Telegram",
    "rival": "Another program read my messages",
    "queue": "Messages waited in the queue",
    "errors": "I couldn't answer many messages",
    "summaries": "Background jobs failed",
    "preferences": "Choosing preferences took too long",
    "disk": "A disk was nearly full",
    "database": "My database was unavailable",
    "budget": "The day's budget was used up",
    "spend": "",
}
"""The texts for incidents that are over, by kind; empty: no message is sent."""


def judge(conditions: Sequence[Condition], incidents: Sequence[WatchedIncident], now: datetime) -> list[Observation]:
    """Converts conditions to observations."""
    wrong = {condition.kind for condition in conditions if condition.wrong}
    well = {condition.kind for condition in conditions if condition.wrong is False}
    seen = [Observation(one.kind, "wrong", one.detail, one.seconds) for one in conditions if one.wrong]
    for incident in incidents:
        kind, since = incident.kind, incident.calm_since
        if kind in wrong:
            continue
        if incident.seen_at < now - FORGOTTEN or (since is not None and since <= now - CALM):
            seen.append(Observation(kind, "over"))
        elif kind in well and since is None:
            seen.append(Observation(kind, "calm"))
    return seen


def describe_incident(incident: WatchedIncident, zone: tzinfo) -> str:
    """Describes an incident: what is wrong and what to do, or that it is over. Empty: nothing to say."""
    begun = incident.begun_at.astimezone(zone)
    if incident.over_at is None:
        return f"⚠️ {incident.detail}\n\nSince {begun:%H:%M} on {begun:%d %B}."
    kind, _, name = incident.kind.partition(" ")
    past = f"The job “{name}” failed" if kind == "job" else PAST.get(kind, incident.detail.rstrip("."))
    if not past:
        return ""
    over = incident.over_at.astimezone(zone)
    until = f"{over:%H:%M}" if over.date() == begun.date() else f"{over:%H:%M} on {over:%d %B}"
    stretch = f"from {begun:%H:%M} on {begun:%d %B} to {until} ({format_duration(over - begun)})"
    return f"⚠️ {past} {stretch}. It's over." if incident.told_at is None else f"✅ It's over: {past} {stretch}."


def format_duration(time: timedelta) -> str:
    """Describes a duration in words."""
    minutes = max(1, round(time.total_seconds() / 60))
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


@dataclass(slots=True)
class AlertMonitor:
    """Checks conditions and alerts admins. `store` doesn't wait for an unreachable database."""

    store: Store
    people: People
    messenger: Messenger
    bot_id: int
    budget: Budget
    folders: Sequence[Path]
    silence: Callable[[], float]
    """Seconds since Telegram last answered."""
    lost_polls: Callable[[], int]
    """How many polls another program took in the last minutes."""
    outcomes: Mapping[str, Outcome]
    clock: Callable[[], float] = time.monotonic
    machine: str = field(default_factory=platform.node)
    preference_seconds: Callable[[], float] = PREFERENCE_TIMES.p95
    """The seconds in which nearly all prompts of the last minutes got their preferences."""
    _judged: dict[str, datetime] = field(default_factory=dict, init=False)
    """When each job's last judged outcome ended, by the job's name."""
    _away_since: float | None = field(default=None, init=False)
    _told_full: bool = field(default=False, init=False)
    """Whether the admins were told of a full disk, which the database could not record."""

    async def look(self) -> None:
        """Checks all conditions once and sends due alerts."""
        try:
            await self.people.refresh(self.store)
            readings = await self.store.readings(self.bot_id, self.budget.day())
            await self._database_was_away()
            self._told_full = False
            fresh = {name: one for name, one in self.outcomes.items() if self._judged.get(name) != one.at}
            # A refused poll also shows that Telegram answers.
            silence = 0.0 if self.lost_polls() else self.silence()
            conditions = [
                *from_readings(readings, self.budget, self.bot_id),
                from_silence(silence, self.bot_id),
                from_lost_polls(self.lost_polls(), self.bot_id),
                from_preferences(self.preference_seconds(), self.bot_id),
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
            log.error("cannot check for alerts: the database cannot be reached", error=str(error))
            await self._tell_of_a_full_disk()

    async def _tell_of_a_full_disk(self) -> None:
        """Tells the admins of a full disk once, bypassing the database, which can't store anything."""
        disks = await asyncio.to_thread(lambda: list(from_disks(self.folders, self.machine)))
        full = next((disk for disk in disks if disk.wrong), None)
        if full and not self._told_full:
            log.error("a disk is full", detail=full.detail)
            line = f"⚠️ {full.detail}"
            told = [await say_unstored(self.messenger, one, line, silent=False) for one in self.people.admins]
            self._told_full = any(told)

    async def _database_was_away(self) -> None:
        """Records that the database was unreachable, now that it is back."""
        if self._away_since is not None and self.clock() - self._away_since >= OUTAGE:
            detail = "My database was unavailable. Its log, or its host's status page, may say why."
            await self.store.was_wrong("database", detail, self.clock() - self._away_since)
        self._away_since = None

    async def _tell(self, incident: WatchedIncident) -> None:
        """Queues the messages for a leased incident. Without admins, or while Telegram can't be reached, it stays due;
        an incident that has ended by then is announced once, in the past tense."""
        over, admins = incident.over_at is not None, sorted(self.people.admins)
        text = describe_incident(incident, self.budget.zone)
        log.warning("incident", kind=incident.kind, detail=incident.detail, over=over)
        tells = bool(admins) and await self._reaches_telegram()
        if text and tells:
            markdown = "\n\n".join(map(escape_markdown, text.split("\n\n")))
            key = f"incident {incident.id} {'over' if over else 'wrong'}"
            messages = [
                Message(chat_id=one, user_id=one, text=markdown, sound=not over, key=f"{key} {one}") for one in admins
            ]
            await self.store.enqueue(self.bot_id, messages)
        await self.store.record_told(incident.id, over, told=tells or not text)

    async def _reaches_telegram(self) -> bool:
        if self.silence() < SILENCE:
            return True
        try:
            await self.messenger.call("getMe")
        except MessengerError:
            return False
        return True


async def say_unstored(messenger: Messenger, chat_id: int, text: str, topic_id: int = 0, silent: bool = True) -> bool:
    """Sends a plain text to a chat. Returns whether it certainly arrived."""
    topic = {"message_thread_id": topic_id} if topic_id else {}
    try:
        await messenger.call("sendMessage", chat_id=chat_id, **topic, text=text, disable_notification=silent)
    except MessengerError as error:
        log.warning("message not sent", chat_id=chat_id, error=type(error).__name__)
        return False
    return True
