"""`relay sleep`: shows the last nightly work, previews the next, or runs it now."""

from __future__ import annotations

from contextlib import nullcontext

from relay.commands.session.zones import say_zone
from relay.core.errors import RelayError
from relay.core.frozen import frozen
from relay.core.program import RELAY
from relay.core.settings import Settings, find_missing
from relay.core.text import pluralize
from relay.memory.night.consolidate import Consolidation
from relay.memory.night.run import NightFailed
from relay.memory.night.words import PHASES, describe_night, describe_phase, describe_step
from relay.memory.rows.upkeep.night import Night, NightAhead, NightSpace, PhaseResult, PlanStep
from relay.runtime.clients import open_telegram
from relay.runtime.night import make_batch_model
from relay.runtime.runtime import Runtime, open_runtime
from relay.surfaces.server.job_list import runner_of

MOST_SHOWN = 20
"""The most memories to list in a preview."""


class NightInProgress(RelayError):
    """Another process is doing the nightly work right now."""


@frozen
class NightState:
    """The last night, and when the next one begins."""

    last: Night | None
    next_at: str
    zone: str


@frozen
class NightPreview:
    """A preview: what each phase would do, and which memories would change."""

    phases: dict[str, str]
    steps: list[PlanStep]


async def show_last(settings: Settings) -> NightState:
    """Prints the result of the last night, and when the next one begins."""
    async with open_runtime(settings) as relay:
        last = (await relay.store.night_ahead()).last
        print(describe_last(last, relay) if last else "The nightly work has not run yet.")
        print(f"`{RELAY} run` starts the next one at {settings.sleep_at} ({say_zone(str(relay.budget.zone))}).")
        return NightState(last, settings.sleep_at, str(relay.budget.zone))


async def preview(settings: Settings) -> NightPreview:
    """Prints what each phase would do now, and how memories would change, without changing them. Asks the model if
    there is one; the night then uses its answers."""
    async with open_runtime(settings) as relay:
        found = await relay.store.night_ahead()
        lines = dict(zip(PHASES, describe_ahead(found, settings), strict=True))
        for name, line in lines.items():
            print(f"{name}: {line}")
        consolidation = Consolidation(make_batch_model(relay, relay.gate), settings.bot_id, tuple)
        asks = not find_missing(settings, "ANTHROPIC_API_KEY")
        steps = [step for space in found.awake for step in await plan_space(consolidation, space, asks)]
        for step in steps[:MOST_SHOWN]:
            print(f"  {describe_step(step)}")
        if len(steps) > MOST_SHOWN:
            print(f"  … and {len(steps) - MOST_SHOWN:,} more.")
        return NightPreview(lines, steps)


async def plan_space(consolidation: Consolidation, space: NightSpace, asks: bool) -> list[PlanStep]:
    """Previews what a night would do to a space's memories; without a model, what it would ask."""
    space_id = space.space_id
    if asks:
        try:
            return (await consolidation.plan(space_id))[0]
        except (RelayError, TimeoutError) as error:
            print(f"  The model could not be asked: {error}")
    goals = await consolidation.batch.store.past_goals(space_id)
    pairs, _ = await consolidation.pairs(space_id)
    return [*(PlanStep("archive", goal) for goal in goals), *(PlanStep("compare", *one.strip_dates()) for one in pairs)]


async def run_now(settings: Settings) -> dict[str, PhaseResult]:
    """Runs the nightly work now, or the rest of an interrupted night. Raises `NightInProgress` or `NightFailed`."""
    # Titles become topic names in Telegram.
    telegram = open_telegram(settings) if settings.telegram_bot_token else nullcontext()
    async with open_runtime(settings) as relay, telegram as messenger:
        store = relay.store
        await relay.people.refresh(store)
        await store.owe_job("sleep")
        if not await runner_of(relay, messenger, settings.bot_id).run_one("sleep", ""):
            raise NightInProgress()
        job = await store.job("sleep", "")
        if job is not None:
            raise NightFailed(job.last_error or "It was interrupted.")
        last = (await store.night_ahead()).last
        done = last.phases if last else {}
        print("\n".join(describe_phase(name, done[name]) for name in PHASES if name in done))
        return done


def describe_ahead(found: NightAhead, settings: Settings) -> list[str]:
    """Describes what each phase would do."""
    days = settings.backup_days
    return [
        f"writes one to {settings.backups} and keeps those of {days} days" if days else "off (RELAY_BACKUP_DAYS is 0)",
        f"checks the new memories of {pluralize(found.spaces, 'space')}; "
        f"{pluralize(found.goals, 'goal')} past {'its' if found.goals == 1 else 'their'} date",
        "compresses idle conversations and drops replaced versions, where that is on",
        f"sends a digest to {pluralize(found.digests, 'space')} ({RELAY} digest on)",
        f"writes {pluralize(found.summaries, 'owed summary', 'owed summaries')}; gathers the database's statistics",
        "rewrites the database's files if something was erased",
    ]


def describe_last(night: Night, relay: Runtime) -> str:
    """Describes a night on one line."""
    begun = night.begun_at.astimezone(relay.budget.zone)
    state = "" if night.ended_at else " (still running)"
    return f"Last done on {begun:%d %B at %H:%M}{state}: {describe_night(night.phases) or 'nothing done yet'}."
