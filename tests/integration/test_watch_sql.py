"""Tests alerts on a real database: several processes report each incident once, and once when it is over."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from relay.core.errors import ChatGone, DatabaseUnavailable, MessengerUnavailable, RelayError
from relay.core.ports import Database
from relay.jobs.clock.scheduler import Schedule, Scheduler
from relay.jobs.watch.alerts import AlertMonitor
from relay.memory.people import People
from relay.memory.rows.operations import Observation
from relay.memory.spending.budget import Budget
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, TurnDriver, private, send_queued

Another = Callable[[], Store]


class Phone:
    """The admins' Telegram. `away`: it can't be reached; `gone`: admins who have blocked the bot."""

    def __init__(self) -> None:
        self.told: list[tuple[int, str]] = []
        self.away = False
        self.gone: set[int] = set()

    async def call(self, method: str, **parameters: Any) -> Any:
        if self.away:
            raise MessengerUnavailable
        if method == "getMe":
            return {}
        if parameters["chat_id"] in self.gone:
            raise ChatGone("bot was blocked by the user")
        self.told.append((parameters["chat_id"], parameters["text"]))
        return {"message_id": len(self.told)}

    async def fetch(self, file_id: str, most: int) -> bytes:
        raise AssertionError

    @property
    def lines(self) -> list[str]:
        return [text.splitlines()[0] for _, text in self.told]


@dataclass
class Watch:
    """One process's alert monitor, and what it observes."""

    store: Store
    phone: Phone
    silent: float | None = 1.0
    lost: int = 0
    slow: float = 0.0
    scheduler: Scheduler = field(default_factory=lambda: Scheduler([]))
    clock: float = 0.0
    admins: frozenset[int] = frozenset({ADA})
    budget: Budget = field(default_factory=Budget)

    def __post_init__(self) -> None:
        self.sentinel = AlertMonitor(
            self.store, People(self.admins), self.phone, BOT.id, self.budget, [Path("/nowhere")],
            lambda: self.silent, lambda: self.lost, self.scheduler.outcomes, lambda: self.clock, "host",
            lambda: self.slow,
        )  # fmt: skip

    async def look(self) -> list[str]:
        """Checks once, and returns what was sent."""
        before = len(self.phone.told)
        await self.sentinel.look()
        with contextlib.suppress(DatabaseUnavailable):
            await send_queued(self.store, self.phone)
        return self.phone.lines[before:]

    async def job(self, error: str = "", daily: bool = True) -> None:
        """Runs a job that succeeds or fails."""

        async def run() -> None:
            if error:
                raise RelayError(error)

        await self.scheduler.run(Schedule("backup", run, at=(3, 0)) if daily else Schedule("backup", run, minutes=3))


@pytest.fixture
def phone() -> Phone:
    return Phone()


@pytest.fixture
def watch(store: Store, phone: Phone) -> Watch:
    return Watch(store, phone)


CALM = "update incident set calm_since = calm_since - interval '4 minutes', begun_at = begun_at - interval '9 minutes'"


async def test_a_failed_job_is_reported_once_and_its_end_is_reported_once(
    watch: Watch, another: Another, sql: Sql
) -> None:
    other = Watch(another(), watch.phone)
    assert await watch.look() == []
    await watch.job("There is no room for the backup.")
    told = await watch.look()
    assert told == [
        "⚠️ The job “backup” failed: There is no room for the backup. I'll try again by myself; the log says more."
    ]
    assert [await one.look() for one in (other, watch, Watch(another(), watch.phone))] == [[], [], []]
    await watch.job("There is no room for the backup.")
    assert await watch.look() == []
    await other.job()
    assert [await one.look() for one in (other, watch)] == [[], []]
    await sql(CALM)
    assert [len(await one.look()) for one in (watch, other, watch)] == [1, 0, 0]
    assert watch.phone.lines[-1].startswith("✅ It's over: The job “backup” failed from ")
    assert watch.phone.lines[-1].endswith(" (5 min).")
    assert await sql("select count(*) from incident where over_told_at is null") == [(0,)]


async def test_a_frequent_job_may_fail_twice_before_it_is_reported(watch: Watch) -> None:
    for expected in (0, 0, 1, 0):
        await watch.job("The database is away.", daily=False)
        assert len(await watch.look()) == expected


async def test_an_outage_of_telegram_is_reported_once_after_it_is_over(watch: Watch, sql: Sql) -> None:
    watch.silent, watch.phone.away = 130.0, True
    for _ in range(2):
        assert await watch.look() == []
    watch.silent, watch.phone.away = 1.0, False
    assert await watch.look() == []
    await sql(CALM)
    (told,) = await watch.look()
    assert told.startswith("⚠️ I couldn't reach Telegram from ")
    assert told.endswith("It's over.")
    assert await watch.look() == []


async def test_another_polling_program_is_reported_and_shown_to_the_doctor(watch: Watch, sql: Sql) -> None:
    assert (await watch.store.examine_work()).rivalled == ()
    watch.lost, watch.silent = 3, 300.0
    (told,) = await watch.look()  # Telegram's silence isn't reported as well: it refuses the polls
    assert "Another program is reading this bot's messages" in told
    assert (await watch.store.examine_work()).rivalled == (str(BOT.id),)
    watch.lost, watch.silent = 0, 1.0
    await watch.look()
    await sql(CALM)
    assert "It's over: Another program read my messages" in (await watch.look())[0]
    assert (await watch.store.examine_work()).rivalled == ()


async def test_a_recurring_problem_stays_the_same_incident(watch: Watch, sql: Sql) -> None:
    watch.silent = 130.0
    assert len(await watch.look()) == 1
    for silent in (1.0, 130.0, 1.0):
        watch.silent = silent
        assert await watch.look() == []
    assert await sql("select count(*), count(calm_since), count(over_at) from incident") == [(1, 1, 0)]


async def test_an_alert_of_a_process_that_died_is_sent_by_another(watch: Watch, another: Another, sql: Sql) -> None:
    seen = [Observation("job backup", "wrong", "No room.", 300)]
    assert len(await another().watch(seen, 60)) == 1  # and then the process dies
    assert await watch.look() == []
    await sql("update incident set lease_until = now() - interval '1 second'")
    assert await watch.look() == ["⚠️ No room."]
    assert await Watch(another(), watch.phone).look() == []


async def test_an_unreachable_admin_does_not_prevent_alerts_to_others(store: Store, phone: Phone) -> None:
    watch = Watch(store, phone, 130.0, admins=frozenset({ADA, BEN}))
    phone.gone = {ADA}
    assert len(await watch.look()) == 1
    assert [chat_id for chat_id, _ in phone.told] == [BEN]
    assert await watch.look() == []


async def test_waiting_messages_and_failing_turns_are_reported(driver: TurnDriver, watch: Watch, sql: Sql) -> None:
    turns = [await driver.turn(ADA, f"hello {number}", topic_id=number + 1) for number in range(6)]
    assert await watch.look() == []
    await sql("update turn set lease_until = now() - interval '3 minutes', created_at = now() - interval '4 minutes'")
    (told,) = await watch.look()
    assert "Messages are waiting in the queue" in told
    await sql("update turn set failures = 2, created_at = now()")
    for turn in turns:
        assert await driver.store.fail(replace(turn, fence=turn.fence + 1), "ValueError", 1.0)  # it was taken over
    (told,) = await watch.look()
    assert "6 of the last 6 messages could not be answered" in told
    status = await driver.store.status(private(ADA))
    assert [incident.detail.split()[0] for incident in status.incidents] == ["Messages", "6"]


async def test_repeatedly_failing_background_jobs_are_reported(driver: TurnDriver, watch: Watch, sql: Sql) -> None:
    for number in range(5):
        await driver.exchange(ADA, f"hello {number}")
    await sql("update job set failures = 3, last_error = 'The model is away.'")
    assert await watch.look() == []
    await sql("update job set failures = 4 where kind = 'summary'")
    (told,) = await watch.look()
    assert "1 background job failed several times, most recently summary: The model is away. I'll keep trying." in told


async def test_the_total_budget_is_reported_at_80_percent_and_when_used_up(
    driver: TurnDriver, store: Store, phone: Phone, sql: Sql
) -> None:
    watch = Watch(store, phone, budget=Budget(total=1.0))
    await driver.exchange(ADA, "hello")
    await sql("update spend set model = 'claude-sonnet-5-5', input = 390000, output = 0")
    assert await watch.look() == []
    await sql("update spend set input = 400000")
    (told,) = await watch.look()
    assert told.startswith(
        "⚠️ $0.80 of today's $1.00 has been spent. When all of it is spent, I stop answering until midnight (UTC)"
    )
    await sql("update spend set input = 500000")
    (told,) = await watch.look()
    assert told.startswith("⚠️ $1.00 of today's $1.00 has been spent: I've stopped answering")
    await sql("update spend set at = at - interval '1 day'")
    assert await watch.look() == []
    await sql(CALM)
    (told,) = await watch.look()
    assert told.startswith("✅ It's over: The day's budget was used up from ")
    assert await watch.look() == []


async def test_an_outage_of_the_database_is_reported_once(
    database: Database, another: Another, phone: Phone, sql: Sql
) -> None:
    class Away:
        away = True

        async def call(self, function: str, **arguments: Any) -> Any:
            if self.away:
                raise DatabaseUnavailable
            return await database.call(function, **arguments)

    away = Away()
    watches = [Watch(Store(away, "00000000-0000-0000-0000-00000000000" + name), phone) for name in "12"]
    for watch in watches:
        assert await watch.look() == []
        watch.clock = 300.0
        assert await watch.look() == []
    away.away = False
    told = [line for watch in watches for line in await watch.look()]
    assert len(told) == 1
    assert told[0].startswith("⚠️ My database was unavailable from ")
    assert "(5 min). It's over." in told[0]
    assert [await watch.look() for watch in watches] == [[], []]


async def test_new_admins_get_alerts_and_an_undeliverable_alert_waits(store: Store, phone: Phone, sql: Sql) -> None:
    watch = Watch(store, phone, admins=frozenset())
    await watch.job("There is no room for the backup.")
    assert await watch.look() == []
    assert await sql("select told_at from incident") == [(None,)]
    row = "insert into person (user_id, bot_id, name, role) values (%s, 77, 'A', 'admin')"
    await sql(row, ADA)
    assert len(await watch.look()) == 1
    await sql("delete from person")
    await sql(row, BEN)
    watch.silent = 130.0
    assert len(await watch.look()) == 1
    assert [user_id for user_id, _ in phone.told] == [ADA, BEN]


async def test_slow_preferences_are_reported_once(watch: Watch, sql: Sql) -> None:
    assert await watch.look() == []
    watch.slow = 0.08
    (told,) = await watch.look()
    assert told.startswith("⚠️ Choosing preferences takes 80 ms of a turn; it should be under 50.")
    assert await watch.look() == []
    watch.slow = 0.03
    assert await watch.look() == []
    watch.slow = 0.0
    assert await watch.look() == []
    await sql(CALM)
    (over,) = await watch.look()
    assert over.startswith("✅ It's over: Choosing preferences took too long")
