"""What is done beside answering: which jobs there are, and when they run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from relay.core.ports import Embedder, Messenger
from relay.jobs.scheduler import Job
from relay.memory.erasure import finish_erasing
from relay.memory.indexing import enter
from relay.memory.people import People
from relay.memory.review.judging import judge_due
from relay.memory.sleep.night import DUTY, sleep
from relay.memory.spending.gate import Gate
from relay.memory.writing.summaries import run_as_duty, summarise_due, tidy
from relay.memory.writing.titles import Titler, title_due
from relay.runtime.app import Relay, make_judge, make_remover, make_summariser
from relay.runtime.nights import phases
from relay.surfaces.telegram.parsing.updates import Bot
from relay.surfaces.telegram.turns.announcements import Teller, tell_due

DAILY_SECONDS = 20 * 3600
"""What is done once a day is not done again sooner than this, by whichever process."""

Work = Callable[[], Awaitable[object]]
Writing = Callable[[], Awaitable[int]]
"""Work that tells how much it did."""


def jobs(
    relay: Relay, gate: Gate, messenger: Messenger, bot: Bot, people: People, embedder: Embedder | None = None
) -> list[Job]:
    """The jobs of one process; what each works on is leased in the database. `relay.jobs_owed` knows the first five by
    their names."""
    gate = gate.few(relay.settings.background_concurrency)
    owed = writings(relay, gate, messenger, bot.id)
    teller = Teller(relay.store, messenger, bot.id)
    judge = make_judge(relay, gate, embedder, lambda: tell_due(teller))

    keeper = make_remover(relay.settings)
    return [
        Job("summaries", owed["summaries"], minutes=3),
        Job("titles", owed["titles"], minutes=3),
        Job("judging", lambda: judge_due(judge), minutes=3),
        Job("telling", lambda: tell_due(teller), minutes=3),
        Job("index", owed["index"], minutes=1),
        Job("erasing", lambda: finish_erasing(relay.store, keeper, messenger, bot.id), minutes=3),
        Job("tidy", daily(relay, "tidy", lambda: tidy(relay.store, keep_days=relay.settings.keep_records)), at=(3, 10)),
        *nightly(relay, gate, bot, people, owed),
    ]


def writings(relay: Relay, gate: Gate, messenger: Messenger | None, bot_id: int) -> dict[str, Writing]:
    """What writes what is owed, by its name. Without a messenger no titles, by which topics are named."""
    summariser = make_summariser(relay, gate)
    owed: dict[str, Writing] = {"summaries": lambda: summarise_due(summariser)}
    if messenger is not None:
        titler = Titler(relay.store, gate, relay.settings.small_model, messenger, bot_id)
        owed["titles"] = lambda: title_due(titler)
    return owed | {"index": lambda: enter(relay.store)}


def nightly(relay: Relay, gate: Gate, bot: Bot, people: People, owed: Mapping[str, Writing]) -> list[Job]:
    """The night's sleep at its hour, and what goes on with one that was broken off."""
    sleeping = daily(relay, DUTY, lambda: sleep(relay.store, phases(relay, gate, bot.id, people, owed)))
    asleep = asyncio.Lock()

    async def night() -> None:
        """A night, one at a time: a process is given a duty that it has already."""
        if not asleep.locked():
            async with asleep:
                await sleeping()

    async def go_on() -> None:
        """A night that a kill broke off is gone on with."""
        if await relay.store.open_night():
            await night()

    hour, minute = relay.settings.sleep_at.split(":")
    return [Job("sleep", night, at=(int(hour), int(minute))), Job("sleep on", go_on, minutes=1)]


def daily(relay: Relay, name: str, work: Work) -> Work:
    """What one of several processes does a day."""
    return lambda: run_as_duty(relay.store, name, work, DAILY_SECONDS)
