"""`relay sleep`: what the last night came to, what the next would do, and one right now."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from relay.app import Relay, make_model, opened
from relay.errors import RelayError
from relay.jobs import LEASE_SECONDS, Summariser, kept, summarise_due
from relay.memory.people import People
from relay.nights import phases
from relay.settings import Settings
from relay.sleep.night import DUTY, sleep
from relay.sleep.words import PHASES, night_told, phase_told

Json = dict[str, Any]


class SleepsAlready(RelayError):
    """Another process is at the nightly work just now."""


async def look(settings: Settings) -> None:
    """Prints what the last night came to, and when the next one is."""
    async with opened(settings) as relay:
        last = (await relay.store.night_ahead())["last"]
        print(told(last, relay) if last else "There was no night yet.")
        print(f"The next begins at {settings.sleep_at} ({relay.budget.zone}), while `relay run` runs.")


async def preview(settings: Settings) -> None:
    """Prints what each phase would do now; changes nothing and asks no model."""
    async with opened(settings) as relay:
        for name, line in zip(PHASES, ahead(await relay.store.night_ahead(), settings), strict=True):
            print(f"{name}: {line}")


async def now(settings: Settings) -> None:
    """A night right now, or the rest of one that was cut off. Raises `SleepsAlready` and `NightFailed`."""
    async with opened(settings) as relay:
        store, model = relay.store, make_model(settings)
        people = People(settings.admins, settings.users)
        await people.refresh(store)
        summariser = Summariser(store, model, settings.small_model, budget=relay.budget, results=settings.result_cache)
        owed = {"summaries": lambda: summarise_due(summariser)}
        if not await store.take_duty(DUTY, LEASE_SECONDS):
            raise SleepsAlready()
        try:
            async with kept(lambda: store.take_duty(DUTY, LEASE_SECONDS)):
                done = await sleep(store, phases(relay, model, settings.bot_id, people, owed))
        finally:
            await store.end_duty(DUTY, done=False)  # the scheduled night is still to come
            if close := getattr(model, "close", None):
                await close()
        print("\n".join(phase_told(name, done[name]) for name in PHASES if name in done))


def ahead(found: Json, settings: Settings) -> list[str]:
    """What each phase would do, in words."""
    days = settings.backup_days
    return [
        f"writes one into {settings.backups}, keeps those of {days} days" if days else "off (RELAY_BACKUP_DAYS is 0)",
        f"looks at the new memories of {found['spaces']:,} spaces; {found['goals']:,} goals are past their date",
        f"tells {found['digests']:,} spaces what the day brought (/digest on)",
        f"writes {found['summaries']:,} summaries that are owed; gathers the database's statistics",
    ]


def told(night: Json, relay: Relay) -> str:
    """A night in one line."""
    begun = datetime.fromisoformat(night["begun_at"]).astimezone(relay.budget.zone)
    state = "" if night["ended_at"] else " (not over yet)"
    return f"Last night, {begun:%d %B %H:%M}{state}: {night_told(night['phases']) or 'nothing is done yet'}."
