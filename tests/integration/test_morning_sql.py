"""Tests a digest at a chosen time in the morning, which begins with what is due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from relay.core.errors import ModelUnavailable
from relay.core.models import ModelRequest, Step
from relay.jobs.proactive import digest_kind
from relay.jobs.runner import Runner
from relay.memory.night.asking import BatchModel
from relay.memory.night.digest import Digests
from relay.memory.reminders.recurrence import next_clock
from relay.memory.rows.upkeep.digest import DigestPlace
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.dump import holding
from tests.integration.test_erase_sql import erase
from tests.integration.test_reminder_sql import make
from tests.integration.turn_driver import ADA, BEN, BOT, GROUP, TurnDriver, group, private, send_queued
from tests.standins.fakes import FakeMessenger

BERLIN = ZoneInfo("Europe/Berlin")
TOLD = '[{"topic": "Garden", "points": ["Roses were planted."]}]'
USAGE = {"input_tokens": 900, "output_tokens": 40}


class Writer:
    """A model that writes digests, or can't be reached."""

    def __init__(self, answer: str = TOLD) -> None:
        self.answer = answer
        self.asked: list[ModelRequest] = []

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        self.asked.append(request)
        if not self.answer:
            raise ModelUnavailable("The model is away.")
        return Step([{"type": "text", "text": self.answer}], "end_turn", USAGE, request.model)


async def wanted(store: Store, user_id: int = ADA, at: time = time(7, 30)) -> None:
    place = DigestPlace(user_id, user_id, 0, at, "Europe/Berlin", BOT.id, next_clock(at, BERLIN, datetime.now(UTC)))
    await store.want_digest(private(user_id), place)


async def morning(store: Store, sql: Sql, writer: Writer, admins: Callable[[], Collection[int]] = tuple) -> None:
    """Runs the digest that is due in the morning."""
    await sql("update digest set next_at = now()")
    await sql("update job set due_at = now() where kind = 'digest'")
    mind = BatchModel(store, Gate(writer, store), "small")
    await Runner(store, [digest_kind(mind, BOT.id, admins)], BOT.id).run_due("digest")


async def told(sql: Sql) -> list[str]:
    rows = await sql("select request ->> 'text' from outbox where dedupe_key like 'digest %%' order by id")
    return [str(text) for (text,) in rows]


async def test_the_job_waits_for_the_chosen_time_and_is_rescheduled(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await wanted(store)
    [(due,)] = await sql("select due_at from job where kind = 'digest'")
    assert (due.astimezone(BERLIN).hour, due.astimezone(BERLIN).minute) == (7, 30)
    assert timedelta() < due - datetime.now(UTC) <= timedelta(days=1, hours=1)
    await wanted(store, at=time(9))
    assert [row[0].astimezone(BERLIN).hour for row in await sql("select due_at from job where kind = 'digest'")] == [9]
    await wanted(store, BEN)
    assert await sql("select count(*) from job where kind = 'digest'") == [(2,)]
    await morning(store, sql, Writer())
    assert await sql("select count(*), min(due_at) > now() from job where kind = 'digest'") == [(2, True)]
    await store.want_digest(private(ADA), None)
    await store.want_digest(private(BEN), DigestPlace(BEN, BEN, 0))
    assert await sql("select count(*) from job where kind = 'digest'") == [(0,)]


async def test_due_reminders_stand_at_the_top_of_the_digest(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "We planted the roses today")
    await make(store, "call the dentist", next_at=datetime.now(UTC) + timedelta(hours=2))
    await make(store, "in a week", next_at=datetime.now(UTC) + timedelta(days=7))
    await wanted(store)
    writer = Writer()
    await morning(store, sql, writer)
    [text] = await told(sql)
    top, _, rest = text.partition("\n\n")
    assert top.startswith("⏰ **Due today**\n- ")
    assert "call the dentist" in top
    assert "in a week" not in text
    assert "Roses were planted" in rest
    [(inputs,)] = await sql("select inputs from outbox where dedupe_key like 'digest %%'")
    assert {one.partition(":")[0] for one in inputs} == {"reminder", "message"}
    # The next morning only tells what is new.
    await sql("delete from reminder where text = 'call the dentist'")
    await morning(store, sql, writer)
    assert len(writer.asked) == 1
    assert await told(sql) == [text]


async def test_due_reminders_are_sent_on_a_quiet_day_without_a_model(store: Store, sql: Sql) -> None:
    await make(store, "[bins](http://x) *out*", next_at=datetime.now(UTC) + timedelta(hours=1))
    await wanted(store)
    writer = Writer("")
    await morning(store, sql, writer)
    [text] = await told(sql)
    assert "Due today" in text
    assert "](" not in text, "people's words must be shown literally"
    assert writer.asked == []


async def test_reminders_that_wait_for_a_person_who_blocked_the_bot_are_in_no_digest(store: Store, sql: Sql) -> None:
    await make(store, "Bins", rule="FREQ=DAILY", next_at=datetime.now(UTC) - timedelta(days=3))
    await wanted(store)
    await morning(store, sql, Writer())
    assert await told(sql) == []


async def test_an_unavailable_model_delays_only_the_text_of_the_day(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "We planted the roses today")
    await wanted(store)
    await morning(store, sql, Writer(""))
    assert await told(sql) == []
    assert await sql("select failures from job where kind = 'digest'") == [(1,)]
    await make(store, "bins", next_at=datetime.now(UTC) + timedelta(hours=1))
    await morning(store, sql, Writer(""))
    assert ["Due today" in one and "Roses" not in one for one in await told(sql)] == [True]
    await morning(store, sql, Writer())
    assert "Roses" in (await told(sql))[-1], "a missed day must be sent the next morning"


async def test_quiet_hours_hold_the_digest_back(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "We planted the roses today")
    await wanted(store)
    await store.quiet(private(ADA), (datetime.now(UTC) + timedelta(hours=3)).isoformat())
    writer = Writer()
    await morning(store, sql, writer)
    assert (await told(sql), writer.asked) == ([], [])
    await store.quiet(private(ADA), None)
    await morning(store, sql, writer)
    assert len(await told(sql)) == 1


async def test_two_processes_send_a_digest_once_and_the_night_leaves_it_out(
    store: Store, sql: Sql, driver: TurnDriver, another: Callable[[], Store]
) -> None:
    await driver.exchange(ADA, "We planted the roses today")
    await wanted(store)
    night = await store.begin_night()
    assert await store.sleepers(night.id, "digest", 0) == []
    await store.end_night(night.id)
    await sql("update job set due_at = now() where kind = 'digest'")
    minds = [BatchModel(one, Gate(Writer(), one), "small") for one in (store, another())]
    runners = [Runner(mind.store, [digest_kind(mind, BOT.id, tuple)], BOT.id) for mind in minds]
    await asyncio.gather(*(runner.run_due("digest") for runner in runners))
    assert len(await told(sql)) == 1


async def test_a_morning_digest_becomes_a_message_that_people_can_answer(
    store: Store, sql: Sql, driver: TurnDriver
) -> None:
    await driver.exchange(ADA, "We planted the roses today")
    await make(store, "water [them]", next_at=datetime.now(UTC) + timedelta(hours=2))
    await wanted(store)
    await morning(store, sql, Writer())
    await send_queued(store, FakeMessenger())
    assert await sql(
        "select m.role, m.started_by, m.tainted, p.telegram_message_id > 0 from posted p"
        " join message m on m.id = p.message_id where m.started_by is not null"
    ) == [("assistant", "digest", False, True)]
    told = await driver.exchange(ADA, "Yes, tell me more")
    last = told.context.recent[-1]
    assert last.role == "assistant"
    assert "· water [them]" in last.text, "words are as people read them"
    assert "Roses were planted." in last.text


@pytest.mark.parametrize("at", [None, time(7, 30)])
async def test_a_groups_digest_ends_when_the_person_who_set_it_is_no_admin_any_more(
    store: Store, sql: Sql, driver: TurnDriver, at: time | None
) -> None:
    """It must not be written either: nobody who may ask for it wants it, and it costs."""
    place = DigestPlace(ADA, GROUP, 0)
    if at is not None:
        place = replace(place, at_time=at, zone="Europe/Berlin", bot_id=BOT.id, next_at=datetime.now(UTC))
    await store.want_digest(group(), place)
    admins = {ADA}
    for word in ("roses", "tulips"):
        await driver.exchange(ADA, f"We planted the {word} today", chat_id=GROUP)
        writer = Writer(TOLD.replace("Roses", word))
        if at is not None:
            await morning(store, sql, writer, lambda: admins)
        else:
            begun = await store.begin_night()
            mind = BatchModel(store, Gate(writer, store), "small")
            await Digests(mind, BOT.id, lambda: admins).run(begun.id)
            await store.end_night(begun.id)
        assert (len(await told(sql)), len(writer.asked)) == (1, len(admins))
        admins.clear()
    assert await store.digest_wanted(group()) is None
    assert await sql("select count(*) from job where kind = 'digest'") == [(0,)]


async def test_a_nightly_digest_becomes_a_message_and_makes_no_space_active(
    store: Store, sql: Sql, driver: TurnDriver
) -> None:
    await driver.exchange(ADA, "We planted the roses today")
    await store.want_digest(private(ADA), DigestPlace(ADA, ADA, 0))
    mind = BatchModel(store, Gate(Writer(), store), "small")
    for awake in (1, 0):
        begun = await store.begin_night()
        spaces = await store.sleepers(begun.id, "consolidate", 0)
        assert len(spaces) == awake
        for space in spaces:
            await store.consolidate(space.space_id, (), None)
        assert (await Digests(mind, BOT.id, tuple).run(begun.id))["sent"] == awake
        await store.end_night(begun.id)
    told = await driver.exchange(ADA, "Yes, tell me more")
    assert "Roses were planted." in told.context.recent[-1].text


async def test_an_unsent_digest_leaves_the_thread_when_the_next_replaces_it(
    store: Store, sql: Sql, driver: TurnDriver
) -> None:
    await store.want_digest(private(ADA), DigestPlace(ADA, ADA, 0))
    await store.quiet(private(ADA), "9999-01-01T00:00:00+00:00")
    for word in ("roses", "tulips"):
        await driver.exchange(ADA, f"We planted the {word} today")
        begun = await store.begin_night()
        writer = Writer(TOLD.replace("Roses", word))
        await Digests(BatchModel(store, Gate(writer, store), "small"), BOT.id, tuple).run(begun.id)
        await store.end_night(begun.id)
    told = await driver.exchange(ADA, "Yes, tell me more")
    assert ["tulips" in one.text for one in told.context.recent if "What the day brought" in one.text] == [True]


async def test_a_digest_teaches_nothing_and_is_in_no_later_digest(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "We planted the roses today")
    await sql("delete from job where kind = 'judging'")
    await wanted(store)
    await morning(store, sql, Writer())
    assert await sql("select teaches from message where started_by = 'digest'") == [(False,)]
    assert await sql("select 1 from job where kind = 'judging'") == []
    assert [one.text for one in (await store.digest_now(private(ADA))).messages] == [
        "We planted the roses today", "Yes.",
    ]  # fmt: skip


@pytest.mark.parametrize("foreign", [True, False])
async def test_a_digest_is_tainted_if_it_rests_on_others_words(
    store: Store, sql: Sql, driver: TurnDriver, foreign: bool
) -> None:
    await driver.exchange(ADA, "We planted the roses today")
    await sql("update message set untrusted = %s where role = 'user'", foreign)
    await wanted(store)
    await morning(store, sql, Writer())
    assert await sql("select tainted from message where started_by = 'digest'") == [(foreign,)]


async def test_a_digest_sent_off_the_record_leaves_no_message(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Hello")
    await make(store, "bins", next_at=datetime.now(UTC) + timedelta(hours=1))
    await wanted(store)
    await sql("update session set private = true")
    await morning(store, sql, Writer())
    assert len(await told(sql)) == 1
    assert await sql("select 1 from message where started_by is not null") == []


@pytest.mark.parametrize("sent", [True, False])
async def test_a_digest_is_erased_with_what_it_was_made_from(
    store: Store, sql: Sql, driver: TurnDriver, sent: bool
) -> None:
    """Even if the digest uses other words."""
    await driver.exchange(ADA, "My parrot is called Zanzibarix, a quetzalcoatlus")
    await wanted(store)
    await morning(store, sql, Writer('[{"topic": "Pets", "points": ["There is a big bird."]}]'))
    if sent:
        await send_queued(store, FakeMessenger())
    await erase(store, private(ADA), {"words": "Zanzibarix"})
    assert await holding(sql, "Zanzibarix", "big bird") == {}


async def test_a_digest_of_something_erased_meanwhile_is_not_sent(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "My parrot is called Zanzibarix, a quetzalcoatlus")
    await wanted(store)

    class Slow(Writer):
        async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
            await erase(store, private(ADA), {"words": "Zanzibarix"})
            return await super().reply(request, on_text)

    await morning(store, sql, Slow('[{"topic": "Pets", "points": ["There is a big bird."]}]'))
    assert await told(sql) == []
    assert await sql("select lease_owner from job where kind = 'digest'") == [(None,)], "it comes again"
