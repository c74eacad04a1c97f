"""Tests what a person does to a reminder: pausing, resuming and postponing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from relay.commands.reminders.editing import edit
from relay.commands.reminders.quiet import quiet
from relay.commands.reminders.reminders import pause, remind, snooze
from relay.core.errors import CommandRefused, Conflict, OutOfRange, WrongArgument
from relay.core.limits import PHRASE_LENGTH, REMINDER_LENGTH
from relay.memory.store import Store
from relay.surfaces.chat.reminders import reminders as shown
from tests.integration.conftest import Sql
from tests.integration.test_forget_many import asked
from tests.integration.test_reminder_sql import due, make, queued, tell
from tests.integration.turn_driver import ADA, TurnDriver


async def test_a_question_resumed_days_later_is_asked_anew(store: Store, sql: Sql, driver: TurnDriver) -> None:
    call = asked(store, await driver.turn(ADA, "/reminders"))
    made = await make(store, "Pills?", rule="FREQ=DAILY", kind="ask", repeat_minutes=60)
    start = datetime.now(UTC) - timedelta(days=5)
    await sql(
        "update reminder set next_at = %s, occurrence = %s, start_at = %s, asked = 1",
        start + timedelta(hours=1), start, start.replace(tzinfo=None),
    )  # fmt: skip
    await pause(call, made.id, True)
    resumed = await pause(call, made.id, False)
    assert (resumed.occurrence, resumed.asked) == (None, 0)
    await due(sql, resumed)
    await tell(store)
    assert await queued(sql) == ["⏰ Pills?"]


@pytest.mark.parametrize(("rule", "keeps"), [("FREQ=HOURLY", True), ("FREQ=HOURLY;INTERVAL=4", False)], ids=["1", "4"])
async def test_what_was_imported_and_comes_every_hour_does_not_ring_at_night_once_resumed(
    store: Store, sql: Sql, driver: TurnDriver, rule: str, keeps: bool
) -> None:
    call = asked(store, await driver.turn(ADA, "/reminders"))
    made = await make(store)
    night = datetime.now(UTC).replace(hour=23, minute=30) + timedelta(days=1)
    await sql(
        "update reminder set rule = %s, start_at = %s, next_at = %s, zone = 'UTC', status = 'paused'",
        rule, datetime(2026, 1, 1, 23, 30), night,
    )  # fmt: skip
    resumed = await pause(call, made.id, False)
    assert resumed.status == "active"
    assert resumed.next_at is not None
    assert (8 <= resumed.next_at.hour <= 20, "BYHOUR=8,9" in resumed.rule) == (keeps, keeps)


async def test_a_rule_that_cannot_be_read_is_not_resumed_and_holds_up_no_other(
    store: Store, sql: Sql, driver: TurnDriver
) -> None:
    call = asked(store, await driver.turn(ADA, "/reminders"))
    broken = await make(store, "Broken")
    await sql("update reminder set rule = 'FREQ=SECONDLY', status = 'paused'")
    with pytest.raises(CommandRefused, match="Change the time, or delete it"):
        await pause(call, broken.id, False)
    await sql("update reminder set status = 'active'")
    await due(sql, broken)
    await due(sql, await make(store))
    await tell(store)
    first, second = await queued(sql)
    assert first.startswith("⏰ Broken\n\nI can't read when this repeats")
    assert second == "⏰ Tea"
    assert await sql("select status, next_at from reminder where id = %s", broken.id) == [("ended", None)]


async def test_postponing_an_old_message_does_not_resume_a_paused_reminder(store: Store, driver: TurnDriver) -> None:
    call = asked(store, await driver.turn(ADA, "/reminders"))
    made = await make(store, rule="FREQ=DAILY")
    await pause(call, made.id, True)
    with pytest.raises(Conflict, match="It's paused"):
        await snooze(call, made.id, 60)


@pytest.mark.parametrize(
    ("rule", "words", "why"),
    [
        ("", "every quarter 9:00", "every 3 months 9:00"),
        ("", "every 10 seconds", "too often"),
        ("FREQ=HOURLY;INTERVAL=4", "9:00", "Say how often"),
    ],
)
async def test_words_that_do_not_fit_a_reminder_are_wrong_arguments(
    store: Store, driver: TurnDriver, rule: str, words: str, why: str
) -> None:
    call = asked(store, await driver.turn(ADA, "/reminders"))
    made = await make(store, rule=rule)
    with pytest.raises(WrongArgument, match=why):
        await edit(call, made.id, words)


async def test_a_phrase_that_would_take_long_to_read_is_refused_before(store: Store, driver: TurnDriver) -> None:
    turn = await driver.turn(ADA, "/remind")
    call = asked(store, turn)
    made = await make(store)
    slow = ("1h " * PHRASE_LENGTH, f"when x{' ' * PHRASE_LENGTH}y: z")
    for phrase in slow:
        long = asked(store, turn, phrase)
        for reading in (remind(call, phrase), quiet(call, phrase), edit(call, made.id, phrase), shown.remind(long)):
            with pytest.raises(OutOfRange, match=f"I can read at most {PHRASE_LENGTH}"):
                await reading
    longest = "x" * REMINDER_LENGTH
    assert (await remind(call, f"every monday and friday 8:00 {longest}")).text == longest
