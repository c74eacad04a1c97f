"""One run: the crowd talks, faults strike, processes are killed. Then all is quiet and the record is read."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from relay.clients.embedded.server import EmbeddedPostgres
from tests.chaos import answers, reading
from tests.chaos.bots import alive
from tests.chaos.checker import Verdict, verdict
from tests.chaos.crowd import Crowd
from tests.chaos.record import Record
from tests.chaos.stage import Plan, Stage, stage
from tests.chaos.trouble import Trouble

DRAIN_SECONDS = 240.0
"""The longest time after the last fault until everything is answered."""
GONE_LOOKS = 75
"""How many times, 0.2 seconds apart, to check that an idle process has ended before it counts as left."""


@dataclass
class Outcome:
    """The outcome of a run."""

    verdict: Verdict
    kills: int
    made: Counter[str]
    ended: Counter[str]
    notes: list[str] = field(default_factory=list)


async def run(plan: Plan) -> Outcome:
    """Makes one run and returns the verdict on it."""
    chance = random.Random(plan.seed)
    async with stage(plan) as here:
        crowd = Crowd(here.tg, chance)
        trouble = Trouble(here, chance, plan.longest)
        keeping = asyncio.create_task(here.keeper.keep())
        await here.tg.wait_polling(timeout=60)
        notes = await chaos(plan, here, crowd, trouble, chance)
        notes += await drain(crowd, here)
        record = await asyncio.to_thread(settled, crowd, here)
        (here.folder / "chats.log").write_text(crowd.transcripts(), "utf-8")
        notes.append(
            f"{len(here.tg.log)} requests at Telegram, {here.model.counts['requests']} at the model; "
            f"{len(record.shown)} messages of the bot, {len(record.kept)} memories"
        )
        notes.append("beside questions: " + ", ".join(f"{what} {n}" for what, n in sorted(crowd.acts.did.items())))
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await ended(here, record, notes)
        for process in here.keeper.processes:
            process.search()
        if not here.clock.moves:
            notes.append("the clocks were left alone (there is no C compiler, or no reaching them)")
        if not here.disk.fills:
            notes.append("the disk was never full (no small one could be mounted)")
        notes.append(f"the database was away for {max(trouble.away, default=0):.0f} s at most")
        return Outcome(
            verdict(record, answers.made_up), len(here.keeper.killed_at), trouble.made, here.keeper.ended, notes
        )


async def chaos(plan: Plan, here: Stage, crowd: Crowd, trouble: Trouble, chance: random.Random) -> list[str]:
    """Runs everything at once for the planned time."""
    until = time.monotonic() + plan.seconds
    at_once = [asyncio.create_task(crowd.talk(plan.pause)), asyncio.create_task(trouble.make(plan.trouble))]
    gap, seen = plan.seconds / max(plan.kills, 1), 0
    for number in range(plan.kills):
        await asyncio.sleep(max(0, until - plan.seconds + (number + chance.uniform(0.5, 1)) * gap - time.monotonic()))
        await asked_since(here, seen, until)
        if time.monotonic() > until:
            break
        await asyncio.sleep(chance.uniform(0, 1))
        seen = here.model.counts["requests"]
        victims = [one for one in here.keeper.processes if one.process and one.process.returncode is None]
        for victim in victims if chance.random() < 0.05 else chance.sample(victims, min(1, len(victims))):
            here.keeper.kill(victim)
    await asyncio.sleep(max(0, until - time.monotonic()))
    for task in at_once:
        task.cancel()
    failed = [one for one in await asyncio.gather(*at_once, return_exceptions=True) if isinstance(one, Exception)]
    await trouble.end()
    if failed:
        raise ExceptionGroup("the driver itself failed", failed)
    return []


async def asked_since(here: Stage, seen: int, until: float) -> None:
    """Waits until the model was asked more than `seen` times, at most half a minute and not beyond `until`. A process
    that has had no time to work isn't killed, or a slow machine would never get past the start."""
    most = min(until, time.monotonic() + 30)
    for _ in range(3000):
        if here.model.counts["requests"] > seen or time.monotonic() > most:
            return
        await asyncio.sleep(0.01)


async def drain(crowd: Crowd, here: Stage) -> list[str]:
    """Waits until everybody is answered and every queue is empty. Presses Retry where it is offered."""
    begun = time.monotonic()
    while time.monotonic() - begun < DRAIN_SECONDS:
        await asyncio.sleep(2)
        unanswered = crowd.unanswered()
        if unanswered and (here.tg.queue.polling or here.tg.queue.webhook):
            crowd.press_retry()
        if not unanswered and not await asyncio.to_thread(waiting, here):
            break
    return [f"drained in {time.monotonic() - begun:.0f} s", f"{crowd.retries} times somebody pressed Retry"]


def waiting(here: Stage) -> list[str]:
    """Returns what still waits in queues, without leases, which are in use while processes run."""
    try:
        with here.server.connect() as connection:
            return [line for line in reading.read_left(connection) if "lease" not in line and "aside" not in line]
    except psycopg.Error as error:
        return [str(error)]


def settled(crowd: Crowd, here: Stage) -> Record:
    """Returns the record of what was said and kept."""
    with here.server.connect() as connection:
        return reading.read(crowd, connection, here.keeper.killed_at)


async def ended(here: Stage, record: Record, notes: list[str]) -> None:
    """Stops the processes as a person would, and records what they leave."""
    codes = [await process.stop() for process in here.keeper.processes]
    notes.append(f"exit codes at the end: {codes}")
    if here.server.own is None:  # the last process has stopped its server
        record.left += await gone(here.folder)
        here.server.own = EmbeddedPostgres(here.server.data)
        await here.server.own.start()
    with here.server.connect() as connection:
        record.left += reading.read_left(connection)
    await here.server.own.stop()
    record.left += await gone(here.folder) + reading.files_left(here.folder)
    record.left += [f"the exit code {code}" for code in codes if code]
    record.logged += reading.surprises([process.log for process in here.keeper.processes])


async def gone(folder: Path) -> list[str]:
    """Returns the processes that are still there after a while."""
    left: list[str] = []
    for _ in range(GONE_LOOKS):
        left = alive(folder)
        if not left:
            break
        await asyncio.sleep(0.2)
    return left
