"""`relay sleep`: shows the last nightly work, previews the next, or runs it now."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from relay.core.errors import RelayError
from relay.core.ports import Messenger
from relay.core.program import RELAY
from relay.core.settings import Settings, find_missing
from relay.core.text import pluralize
from relay.memory.rows.upkeep.nights import Night, NightAhead, NightSpace, PhaseResult, PlanStep
from relay.memory.sleep.consolidate import Consolidation
from relay.memory.sleep.night import NightFailed
from relay.memory.sleep.words import PHASES, night_told, phase_told, step_told
from relay.runtime.clients import open_telegram
from relay.runtime.nights import make_batch_model
from relay.runtime.runtime import Runtime, open_runtime
from relay.surfaces.server.job_list import runner_of

MOST_SHOWN = 20
"""The most memories to list in a preview."""


class SleepsAlready(RelayError):
    """Another process is at the nightly work just now."""


@dataclass(frozen=True, slots=True)
class NightState:
    """The last night, and when the next one begins."""

    last: Night | None
    next_at: str
    zone: str


@dataclass(frozen=True, slots=True)
class NightPreview:
    """What each phase would do, and the memories that would change."""

    phases: dict[str, str]
    steps: list[PlanStep]


async def look(settings: Settings) -> NightState:
    """Prints the result of the last night, and when the next one begins."""
    async with open_runtime(settings) as relay:
        last = (await relay.store.night_ahead()).last
        print(told(last, relay) if last else "There was no night yet.")
        print(f"The next begins at {settings.sleep_at} ({relay.budget.zone}), while `{RELAY} run` runs.")
        return NightState(last, settings.sleep_at, str(relay.budget.zone))


async def preview(settings: Settings) -> NightPreview:
    """Prints what each phase would do now, and what would become of which memories; changes none of them. The model is
    asked about them, if there is one; the night does not ask again."""
    async with open_runtime(settings) as relay:
        found = await relay.store.night_ahead()
        lines = dict(zip(PHASES, ahead(found, settings), strict=True))
        for name, line in lines.items():
            print(f"{name}: {line}")
        consolidation = Consolidation(make_batch_model(relay, relay.gate), settings.bot_id, tuple)
        asks = not find_missing(settings, "ANTHROPIC_API_KEY")
        steps = [step for space in found.awake for step in await planned(consolidation, space, asks)]
        for step in steps[:MOST_SHOWN]:
            print(f"  {step_told(step)}")
        if len(steps) > MOST_SHOWN:
            print(f"  … and {len(steps) - MOST_SHOWN:,} more.")
        return NightPreview(lines, steps)


async def planned(consolidation: Consolidation, space: NightSpace, asks: bool) -> list[PlanStep]:
    """Previews what a night would do to a space's memories; without a model, what it would ask."""
    space_id = space.space_id
    if asks:
        try:
            return (await consolidation.plan(space_id))[0]
        except (RelayError, TimeoutError) as error:
            print(f"  The model could not be asked: {error}")
    goals = await consolidation.mind.store.past_goals(space_id)
    pairs, _ = await consolidation.pairs(space_id)
    return [*(PlanStep("archive", goal) for goal in goals), *(PlanStep("compare", *one.undated()) for one in pairs)]


def reaching(settings: Settings) -> AbstractAsyncContextManager[Messenger | None]:
    """Connects to Telegram, where titles become topic names; None without a token."""
    return open_telegram(settings) if settings.telegram_bot_token else nullcontext()


async def now(settings: Settings) -> dict[str, PhaseResult]:
    """Runs the nightly work now, or the rest of an interrupted night. Raises `SleepsAlready` or `NightFailed`."""
    async with open_runtime(settings) as relay, reaching(settings) as messenger:
        store = relay.store
        await relay.people.refresh(store)
        await store.owe_job("sleep")
        if not await runner_of(relay, messenger, settings.bot_id).run_one("sleep", ""):
            raise SleepsAlready()
        job = await store.job("sleep", "")
        if job is not None:
            raise NightFailed(job.last_error or "It was broken off.")
        last = (await store.night_ahead()).last
        done = last.phases if last else {}
        print("\n".join(phase_told(name, done[name]) for name in PHASES if name in done))
        return done


def ahead(found: NightAhead, settings: Settings) -> list[str]:
    """Describes what each phase would do."""
    days = settings.backup_days
    return [
        f"writes one into {settings.backups}, keeps those of {days} days" if days else "off (RELAY_BACKUP_DAYS is 0)",
        f"looks at the new memories of {pluralize(found.spaces, 'space')}; "
        f"{pluralize(found.goals, 'goal')} past {'its' if found.goals == 1 else 'their'} date",
        f"sends a digest to {pluralize(found.digests, 'space')} (/digest on)",
        f"writes {pluralize(found.summaries, 'summary', 'summaries')} owed; gathers the database's statistics",
        "rewrites the database's files, if something was erased",
    ]


def told(night: Night, relay: Runtime) -> str:
    """Describes a night on one line."""
    begun = night.begun_at.astimezone(relay.budget.zone)
    state = "" if night.ended_at else " (not over yet)"
    return f"Last night, {begun:%d %B %H:%M}{state}: {night_told(night.phases) or 'nothing is done yet'}."
