"""Tests reminders: they are stored until they are due, sent once each, and moved to their next time."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from relay.clients.offline import OfflineModel
from relay.commands.reminders.quiet import FOREVER
from relay.conversation.tools.reminders import ReminderTools
from relay.core.ports import Model
from relay.core.spending.prices import Prices
from relay.jobs.proactive import reminder_kind
from relay.jobs.runner import Runner
from relay.memory.proactive.looking import Limits, Lookout
from relay.memory.reminders.recurrence import read_rule
from relay.memory.rows.delivery import Message, Part, PartResult
from relay.memory.rows.proactive.reminders import NewReminder, Reminder
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.surfaces.telegram.parsing.objects import decode_update
from relay.surfaces.telegram.parsing.sorting import sort_update
from tests.integration.conftest import Sql
from tests.integration.test_erase_sql import erase
from tests.integration.turn_driver import (
    ADA,
    BEN,
    BOT,
    EVE,
    GROUP,
    TurnDriver,
    group,
    incoming_of,
    private,
    send_queued,
)
from tests.standins.fakes import FakeMessenger

BY_DAY = Path(__file__).parents[2] / "migrations" / "0062_hourly_by_day.sql"
MADE = datetime(2030, 1, 7, 9)
"""A Monday."""


def a_lookout(store: Store, model: Model | None = None) -> Lookout:
    """Returns what checks need. Without a model, none can be asked."""
    limits = Limits(idle_days=7, budget=0.10, prices=Prices())
    return Lookout(store, Gate(model or OfflineModel(), store), "small", "big", limits, lambda: (ADA, BEN))


async def make(store: Store, text: str = "Tea", user: int = ADA, **more: object) -> Reminder:
    given = {"rule": "", "start_at": MADE, "next_at": MADE.replace(tzinfo=UTC)} | more
    given = {"space": private(user), "chat_id": user} | given
    made = await store.make_reminder(
        NewReminder(bot_id=BOT.id, topic_id=0, user_id=user, text=text, zone="UTC", **given)  # type: ignore[arg-type]
    )
    assert made is not None
    return made


async def due(sql: Sql, reminder: Reminder, ago: timedelta = timedelta(seconds=1)) -> None:
    """Makes a reminder due since a while ago."""
    at = datetime.now(UTC) - ago
    await sql("update reminder set next_at = %s, start_at = %s where id = %s", at, at.replace(tzinfo=None), reminder.id)
    await sql("update job set due_at = %s where kind = 'reminder'", at)


async def tell(store: Store) -> int:
    return await Runner(store, [reminder_kind(a_lookout(store), BOT.id)], BOT.id).run_due("reminder")


async def queued(sql: Sql) -> list[str]:
    rows = await sql("select request ->> 'text' from outbox where status = 'queued' and request ? 'text' order by id")
    return [text for (text,) in rows]


async def test_a_reminder_waits_until_it_is_due(store: Store, sql: Sql) -> None:
    made = await make(store)
    assert await tell(store) == 0
    assert await queued(sql) == []
    [(waits,)] = await sql("select due_at from job where kind = 'reminder'")
    assert waits == made.next_at


async def test_a_process_wakes_when_the_next_reminder_is_due(store: Store, sql: Sql) -> None:
    made = await make(store)
    _, news = await store.claim(BOT.id, 1)
    assert news.wait is None
    await due(sql, made, timedelta(seconds=-5))
    _, news = await store.claim(BOT.id, 1)
    assert news.wait is not None
    assert 0 < news.wait < 5
    _, news = await store.claim(BOT.id + 1, 1)
    assert news.wait is None, "it is another bot's"


async def test_a_due_reminder_is_sent_as_soon_as_it_is_queued(store: Store, sql: Sql) -> None:
    await due(sql, await make(store))
    sent: list[str] = []

    async def send() -> None:
        sent.extend(await queued(sql))

    kind = reminder_kind(a_lookout(store), BOT.id, send)
    assert await Runner(store, [kind], BOT.id).run_due("reminder") == 1
    assert sent == ["⏰ Tea"]


async def test_a_reminder_is_sent_once_and_then_ended(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Hello")
    made = await make(store)
    await due(sql, made)
    assert await tell(store) == 1
    assert await tell(store) == 0
    assert await queued(sql) == ["⏰ Tea"]
    opened = await store.reminder(private(ADA), ADA, made.id)
    assert opened is not None
    assert opened.status == "ended"
    assert opened.next_at is None
    assert [one.kind for one in opened.events] == ["fired", "made"]
    assert not opened.events[0].sent


async def test_a_sent_reminder_becomes_a_message_people_can_answer(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Hello")
    await due(sql, await make(store))
    await tell(store)
    await send_queued(store, FakeMessenger())
    [said] = await sql("select role, started_by, teaches from message order by id desc limit 1")
    assert said == ("assistant", "reminder", False)
    [(linked,)] = await sql(
        "select p.message_id = m.id from posted p, message m where m.started_by is not null"
        " and p.turn_id = (select max(turn_id) from outbox)"
    )
    assert linked
    told = await driver.exchange(ADA, "Yes, tell me more")
    assert [row.text for row in told.context.recent][-1] == "⏰ Tea"


async def test_a_reminder_becomes_a_message_where_only_commands_were_used(
    store: Store, sql: Sql, driver: TurnDriver
) -> None:
    await due(sql, await make(store))
    await tell(store)
    told = await driver.exchange(ADA, "Yes, tell me more")
    assert [row.text for row in told.context.recent] == ["⏰ Tea"]


async def test_a_reminder_sent_off_the_record_leaves_no_message(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Hello")
    await due(sql, await make(store))
    await sql("update session set private = true")
    assert await tell(store) == 1
    assert await sql("select 1 from message where started_by is not null") == []


async def test_a_recurring_reminder_is_scheduled_again(store: Store, sql: Sql) -> None:
    made = await make(store, rule="FREQ=DAILY")
    await due(sql, made)
    await tell(store)
    opened = await store.reminder(private(ADA), ADA, made.id)
    assert opened is not None
    assert opened.status == "active"
    assert opened.next_at is not None
    ahead = opened.next_at - datetime.now(UTC)
    assert timedelta(hours=23) < ahead < timedelta(hours=24)


async def test_a_reminder_keeps_the_last_thousand_times_that_it_rang(store: Store, sql: Sql) -> None:
    made, other = await make(store, rule="FREQ=DAILY"), await make(store, "Walk")
    for one, times in ((made, 1_005), (other, 3)):
        await sql(
            "insert into reminder_event (reminder_id, kind, detail)"
            " select %s, 'fired', nr::text from generate_series(1, %s) as nr", one.id, times
        )  # fmt: skip
    await due(sql, made)
    assert await tell(store) == 1
    kept = await sql("select reminder_id, count(*), min(detail::integer) from reminder_event group by 1 order by 1")
    assert kept == [(made.id, 1_000, 7), (other.id, 4, 1)]  # with the one that says that it was made


async def test_a_late_reminder_says_when_it_was_due(store: Store, sql: Sql) -> None:
    await due(sql, await make(store), timedelta(hours=3))
    await tell(store)
    [text] = await queued(sql)
    assert text.startswith("⏰ Tea\n\n(was due ")


async def test_reminders_missed_for_days_are_listed_in_one_message(store: Store, sql: Sql) -> None:
    for text in ("Tea", "Bins"):
        await due(sql, await make(store, text), timedelta(days=3))
    await tell(store)
    [text] = await queued(sql)
    assert text.startswith("⏰ **Missed in the meantime:**\n1. ")
    assert "Tea" in text
    assert "Bins" in text


async def test_a_recurring_reminder_missed_for_days_is_sent_once(store: Store, sql: Sql) -> None:
    made = await make(store, rule="FREQ=DAILY")
    await due(sql, made, timedelta(days=3, hours=1))
    await tell(store)
    [text] = await queued(sql)
    assert text.startswith("⏰ Tea\n\n(was due ")


async def test_more_than_twenty_due_reminders_are_combined(store: Store, sql: Sql) -> None:
    for number in range(30):
        await due(sql, await make(store, f"Number {number}"))
    await tell(store)
    texts = await queued(sql)
    assert len(texts) == 20
    assert texts[-1].startswith("⏰ **Due now:**")
    assert texts[-1].endswith("\n11. Number 29")


async def test_after_twenty_reminders_in_an_hour_others_wait(store: Store, sql: Sql) -> None:
    for number in range(20):
        await due(sql, await make(store, f"Number {number}"))
    await tell(store)
    await due(sql, await make(store, "Late"))
    assert await tell(store) == 0
    [(wait,)] = await sql("select due_at > now() + interval '9 minutes' from job where kind = 'reminder'")
    assert wait


async def test_quiet_holds_reminders_back_until_it_ends(store: Store, sql: Sql) -> None:
    made = await make(store)
    await due(sql, made)
    await store.quiet(private(ADA), "infinity")
    assert await tell(store) == 0
    assert await queued(sql) == []
    await store.quiet(private(ADA), None)
    assert await tell(store) == 1
    assert await queued(sql) == ["⏰ Tea"]


async def test_the_model_reads_which_of_a_groups_reminders_are_somebody_elses(store: Store, driver: TurnDriver) -> None:
    for text, user in (("Hers", ADA), ("His", BEN)):
        await make(store, text, user, chat_id=GROUP, space=group())
    for user, whose in ((ADA, {"His"}), (BEN, {"Hers"})):
        turn = await driver.turn(user, "what is due?", GROUP)
        told, untrusted = await ReminderTools(store, incoming_of(turn, "", group()), UTC).list({})
        others = {one["text"] for one in json.loads(told)["reminders"] if one.get("whose") == "somebody else's"}
        assert (others, untrusted) == (whose, True)
        await driver.close(turn)


async def test_a_quiet_person_holds_back_no_reminder_of_their_group(store: Store, sql: Sql) -> None:
    """Ada was alone in the group when she made hers."""
    hers = await make(store, "Hers", chat_id=GROUP)
    await store.quiet(private(ADA), FOREVER.isoformat())
    await due(sql, hers, timedelta(minutes=1))
    assert await tell(store) == 0
    await make(store, "Theirs", BEN, chat_id=GROUP, space=group(), next_at=datetime.now(UTC))
    assert await tell(store) == 1
    assert await queued(sql) == ["⏰ Theirs"]
    await store.quiet(private(ADA), None)
    assert await tell(store) == 1
    assert await queued(sql) == ["⏰ Theirs", "⏰ Hers"]


async def test_a_question_is_repeated_until_it_is_answered(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Hello")
    made = await make(store, kind="ask", repeat_minutes=10)
    await due(sql, made)
    await tell(store)
    await sql("update reminder set next_at = now()")
    await sql("update job set due_at = now() where kind = 'reminder'")
    await tell(store)
    assert await queued(sql) == ["⏰ Tea", "⏰ Still open: Tea"]
    await driver.exchange(ADA, "Done!")
    await sql("update reminder set next_at = now()")
    await sql("update job set due_at = now() where kind = 'reminder'")
    assert await tell(store) == 0
    opened = await store.reminder(private(ADA), ADA, made.id)
    assert opened is not None
    assert opened.status == "ended"


async def ask_again(store: Store, sql: Sql) -> list[str]:
    """Lets a question be asked again now. Returns all that was said."""
    await sql("update reminder set next_at = now()")
    await sql("update job set due_at = now() where kind = 'reminder'")
    await tell(store)
    return await queued(sql)


STILL_OPEN = ["⏰ Tea", "⏰ Still open: Tea"]


@pytest.mark.parametrize(
    "words",
    [
        "What is the capital of France?",
        "how is the weather",
        "wie spät ist es",
        "Really？",
        "was kostet das",
        "wohin fahren wir morgen",
        "can you tell me the weather",
        "kannst du mir das übersetzen: hallo",
    ],
)
async def test_another_question_is_no_answer(store: Store, sql: Sql, driver: TurnDriver, words: str) -> None:
    await driver.exchange(ADA, "Hello")
    await due(sql, await make(store, kind="ask", repeat_minutes=10))
    await tell(store)
    await driver.exchange(ADA, words)
    assert await ask_again(store, sql) == STILL_OPEN


@pytest.mark.parametrize(("said", "left"), [(["yes, fed her"], "Pill"), (["yes, fed her", "took it"], "")])
async def test_what_is_said_answers_only_the_question_that_was_asked_last(
    store: Store, sql: Sql, driver: TurnDriver, said: list[str], left: str
) -> None:
    await driver.exchange(ADA, "Hello")
    for text in ("Pill", "Cat"):
        await due(sql, await make(store, text, kind="ask", repeat_minutes=10))
        await tell(store)
    for words in said:
        await driver.exchange(ADA, words)
    assert await ask_again(store, sql) == ["⏰ Pill", "⏰ Cat", *([f"⏰ Still open: {left}"] if left else [])]


async def test_an_answered_question_leaves_the_next_words_to_the_one_before(
    store: Store, sql: Sql, driver: TurnDriver
) -> None:
    await driver.exchange(ADA, "Hello")
    for text in ("Pill", "Cat"):
        await due(sql, await make(store, text, kind="ask", repeat_minutes=10))
        await tell(store)
    await sql(
        "insert into posted (bot_id, chat_id, telegram_message_id, message_id, from_bot)"
        " select bot_id, chat_id, 9001, message_id, true from outbox order by id desc limit 1"
    )
    await store.react(BOT.id, ADA, 9001, ADA, ["👍"], int(datetime.now(UTC).timestamp()))
    await driver.exchange(ADA, "took it")
    assert await ask_again(store, sql) == ["⏰ Pill", "⏰ Cat"]


async def asked_in_group(store: Store, sql: Sql, driver: TurnDriver) -> int:
    """Asks in a group for Ada. Returns the question's id in Telegram."""
    await driver.exchange(ADA, "Hello", chat_id=GROUP)
    await driver.exchange(BEN, "Hello", chat_id=GROUP)
    await due(sql, await make(store, space=group(), chat_id=GROUP, kind="ask", repeat_minutes=10))
    await tell(store)
    await sql(
        "insert into posted (bot_id, chat_id, telegram_message_id, message_id, from_bot)"
        " select bot_id, chat_id, 9001, message_id, true from outbox where status = 'queued'"
    )
    return 9001


async def test_anybody_in_a_group_answers_a_question_by_a_reply_to_it(
    store: Store, sql: Sql, driver: TurnDriver
) -> None:
    asked = await asked_in_group(store, sql, driver)
    await driver.exchange(ADA, "It rains.", chat_id=GROUP)
    assert (await ask_again(store, sql))[1:] == ["⏰ Still open: [Ada](tg://user?id=1001): Tea"]
    said = await sql("select text from message where started_by is not null order by id desc limit 1")
    assert said == [("⏰ Still open: Ada: Tea",)]
    await driver.exchange(BEN, "Yes, I fed her", chat_id=GROUP)
    await sql(
        "update turn set prompt = coalesce(prompt, '{}') || jsonb_build_object('reply_to', %s::jsonb)"
        " where id = (select max(id) from turn)", json.dumps({"telegram_message_id": asked}),
    )  # fmt: skip
    assert len(await ask_again(store, sql)) == 2
    assert await sql("select status from reminder") == [("ended",)]


@pytest.mark.parametrize(("user", "emoji", "answered"), [(ADA, "👍", True), (ADA, "👎", False), (BEN, "👍", False)])
async def test_a_thumb_of_the_person_who_asked_answers_a_question(
    store: Store, sql: Sql, driver: TurnDriver, user: int, emoji: str, answered: bool
) -> None:
    asked = await asked_in_group(store, sql, driver)
    await store.react(BOT.id, GROUP, asked, user, [emoji], int(datetime.now(UTC).timestamp()))
    assert len(await ask_again(store, sql)) == (1 if answered else 2)


async def test_a_reminder_that_nobody_confirmed_is_told_once_and_ends(
    store: Store, sql: Sql, driver: TurnDriver
) -> None:
    await driver.exchange(ADA, "Hello")
    made = await make(store, "Take *off* the pasta", rule="FREQ=DAILY", proposed=True)
    await due(sql, made)
    assert await tell(store) == 1
    assert await tell(store) == 0
    assert await queued(sql) == ["⏰ You hadn't confirmed this reminder: Take &#42;off&#42; the pasta"]
    assert await sql("select status, next_at from reminder") == [("ended", None)]
    assert (await store.reminders(private(ADA), ADA, 0, 10)).total == 0
    assert await sql("select tainted from message where started_by = 'reminder'") == [(True,)]


async def test_a_change_made_while_the_reminder_is_sent_wins(store: Store, sql: Sql) -> None:
    made = await make(store)
    await due(sql, made)
    [job] = await store.claim_jobs("reminder", BOT.id, 1)
    work = await store.reminder_work(job)
    assert work is not None
    assert len(work.reminders) == 1
    await store.change_reminder(made.id, "changed", ADA, work.reminders[0].next_at, next_at="2031-01-01T09:00:00Z")
    from relay.memory.reminders.due import tell as put

    assert await store.tell_reminders(job, BOT.id, put(work, {}).messages) == 0
    assert await queued(sql) == []
    [(waits,)] = await sql("select due_at from job where kind = 'reminder'")
    assert waits == datetime(2031, 1, 1, 9, tzinfo=UTC)


async def test_a_change_based_on_an_outdated_time_is_refused(store: Store) -> None:
    made = await make(store)
    assert await store.change_reminder(made.id, "snoozed", ADA, known=datetime(2029, 1, 1, tzinfo=UTC)) is None
    assert await store.change_reminder(made.id, "snoozed", ADA, known=made.next_at, text="Coffee") is not None


async def test_people_see_only_their_own_reminders(store: Store) -> None:
    made = await make(store)
    await make(store, "Secret", BEN)
    page = await store.reminders(private(ADA), ADA, 0, 10)
    assert [one.text for one in page.reminders] == ["Tea"]
    assert page.total == 1
    assert await store.reminder(private(BEN), BEN, made.id) is None
    assert await store.reminder(group(), ADA, made.id) is None


async def test_a_person_has_at_most_two_hundred_reminders(store: Store, sql: Sql) -> None:
    made = await make(store)
    await sql(
        "insert into reminder (space_id, user_id, bot_id, chat_id, text, zone, start_at, next_at, origin)"
        " select space_id, user_id, bot_id, chat_id, 'x' || n, zone, start_at, next_at, origin"
        " from reminder, generate_series(2, 200) n"
    )
    new = NewReminder(
        space=private(ADA), bot_id=BOT.id, chat_id=ADA, topic_id=0, user_id=ADA, text="One more", zone="UTC",
        start_at=MADE, next_at=MADE.replace(tzinfo=UTC),
    )  # fmt: skip
    assert await store.make_reminder(new) == "many"
    await store.change_reminder(made.id, "deleted", ADA, made.next_at, status="deleted", next_at=None)
    assert await store.make_reminder(new) != "many"


async def test_a_command_that_runs_again_makes_no_second_reminder(store: Store, driver: TurnDriver, sql: Sql) -> None:
    turn = await driver.turn(ADA, "/remind in an hour take out the bins")
    made = await make(store, "Bins", turn_id=turn.turn_id)
    later = MADE + timedelta(minutes=5)  # the process was killed, and the next one took the turn over
    again = await make(store, "Bins", turn_id=turn.turn_id, start_at=later, next_at=later.replace(tzinfo=UTC))
    assert again == made
    other = await driver.turn(ADA, "/remind in an hour take out the bins")
    assert (await make(store, "Bins", turn_id=other.turn_id)).id != made.id
    assert await sql("select count(*) from reminder") == [(2,)]


async def test_a_button_that_runs_again_moves_a_reminder_once(store: Store, driver: TurnDriver) -> None:
    made = await make(store)
    first, second = await driver.turn(ADA, "/quiet"), await driver.turn(ADA, "/quiet")
    moved = await store.change_reminder(
        made.id, "snoozed", ADA, made.next_at, next_at="2031-01-01T09:00:00Z", turn_id=first.turn_id
    )
    assert moved is not None
    again = await store.change_reminder(
        made.id, "snoozed", ADA, moved.next_at, next_at="2031-01-01T10:00:00Z", turn_id=first.turn_id
    )
    assert again == moved
    other = await store.change_reminder(
        made.id, "snoozed", ADA, moved.next_at, next_at="2031-01-01T10:00:00Z", turn_id=second.turn_id
    )
    assert other is not None
    assert other.next_at == datetime(2031, 1, 1, 10, tzinfo=UTC)
    opened = await store.reminder(private(ADA), ADA, made.id)
    assert opened is not None
    assert [one.kind for one in opened.events] == ["snoozed", "snoozed", "made"]


async def test_an_erasure_in_a_group_leaves_the_queued_reminders_of_others(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(ADA, "My dentist is Dr. Wolf", "Yes.", chat_id=GROUP)
    for user, text in ((ADA, "Ada: dentist"), (BEN, "Ben: dentist")):
        made = await make(store, text, user, space=group(), chat_id=GROUP)
        await due(sql, made)
    while await tell(store):
        pass
    assert len(await queued(sql)) == 2  # as during /quiet
    await erase(store, group(), {"words": "dentist"}, ADA)
    assert [text for text in await queued(sql) if "Ben: dentist" in text]
    assert not [text for text in await queued(sql) if "Ada: dentist" in text]
    assert await sql("select text from reminder") == [("Ben: dentist",)]


async def lose(store: Store) -> list[int]:
    """Lets Telegram say of each queued reminder that its chat is gone. Returns how many wait, or have ended."""
    lost = []
    for turn in [one for one in (await store.claim(BOT.id, 50))[0] if one.message and one.message.reminders]:
        note = Message(chat_id=EVE, user_id=EVE, text="Gone.", key=f"gone {turn.turn_id}")
        # A crash in between runs it again.
        lost += [await store.end_reminders(turn.turn_id, [note]) for _ in range(2)]
        await store.deliver(turn, BOT.id, [Part(1, ADA, {"chat_id": ADA, "text": "Tea"})])
        await store.store_sent(turn, [PartResult(1, "failed", error="blocked")], True)
    return lost


async def test_a_group_that_is_gone_ends_its_reminders_and_admins_are_told(store: Store, sql: Sql) -> None:
    there = {"space": group(GROUP), "chat_id": GROUP}
    await make(store, "Next year", **there)
    await make(store, "Somebody else's", BEN)
    await due(sql, await make(store, "Bins", rule="FREQ=DAILY", **there))
    await tell(store)
    assert await lose(store) == [2, 0]
    rows = await sql("select text, status from reminder order by id")
    assert rows == [("Next year", "ended"), ("Somebody else's", "active"), ("Bins", "ended")]
    assert await sql("select count(*) from reminder_event where kind = 'failed'") == [(2,)]
    assert await sql("select key from job where kind = 'reminder'") == [(f"{BOT.id}:{BEN}:0",)]
    assert await sql("select count(*) from outbox where chat_id = %s and dedupe_key like 'gone %%'", EVE) == [(1,)]


async def test_reminders_wait_while_the_bot_is_blocked_and_are_told_once_afterwards(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(ADA, "Hello")
    await make(store, "Next year")
    for text, more in (("Tea", {}), ("Bins", {"rule": "FREQ=DAILY"}), ("Rent?", {"kind": "ask", "repeat_minutes": 15})):
        await due(sql, await make(store, text, **more))
    assert await tell(store) == 1
    assert await lose(store) + await lose(store) + await lose(store) == [4, 0] * 3
    assert await sql("select count(*) from outbox where request ->> 'text' = 'Gone.'") == [(1,)], "admins hear it once"
    assert await sql("select distinct status from reminder") == [("active",)]
    for _ in range(3):
        assert await tell(store) == 0
        assert await store.claim_jobs("reminder", BOT.id, 9) == []
    await driver.exchange(BEN, "Hello, I'm somebody else")
    assert await tell(store) == 0
    await sql("update reminder set next_at = next_at - interval '3 days' where text in ('Tea', 'Bins')")
    telegram = FakeMessenger()
    for _ in range(2):
        await driver.exchange(ADA, "I'm back")
        await tell(store)
        await send_queued(store, telegram)
    said = [given["text"] for method, given in telegram.calls if method == "sendMessage" and given["chat_id"] == ADA]
    assert [one.split("\n")[0] for one in said] == ["⏰ Bins", "⏰ Rent?", "⏰ Missed in the meantime:"]
    assert "Tea" in said[2]
    rows = await sql("select text, status, next_at > now() from reminder order by id")
    assert rows == [("Next year", "active", True), ("Tea", "ended", None), ("Bins", "active", True),
                    ("Rent?", "ended", None)], "the second message answers it"  # fmt: skip
    shown = await sql("select text from message where started_by = 'reminder' and status <> 'replaced' order by id")
    lines = ["⏰ Bins", "⏰ Rent?", "⏰ **Missed in the meantime:**"]
    assert [one.split("\n")[0] for (one,) in shown] == lines


async def test_a_reminder_changed_while_the_bot_is_blocked_is_as_it_was_changed(store: Store, sql: Sql) -> None:
    made = await make(store, "Bins", rule="FREQ=DAILY")
    await due(sql, made)
    await tell(store)
    now = await store.reminder(private(ADA), ADA, made.id)
    assert now is not None
    await store.change_reminder(made.id, "paused", ADA, now.next_at, status="paused")
    assert await lose(store) == [0, 0]
    assert await sql("select status, next_at from reminder") == [("paused", now.next_at)]


async def test_the_news_that_a_person_no_longer_blocks_the_bot_wakes_their_reminders(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await due(sql, await make(store))
    await tell(store)
    assert await lose(store) == [1, 0]
    update = {"chat": {"id": ADA, "type": "private"}, "from": {"id": ADA, "first_name": "Ada"}, "date": 1}
    for number, (before, after) in enumerate([("member", "kicked"), ("kicked", "member")]):
        changed = update | {
            "old_chat_member": {"status": before, "user": {"id": BOT.id}},
            "new_chat_member": {"status": after, "user": {"id": BOT.id}},
        }
        news = decode_update({"update_id": 10**9 + number, "my_chat_member": changed})
        for turn in (await store.intake(BOT.id, [sort_update(news, BOT, frozenset([ADA]), False)], 10))[0]:
            await driver.close(turn)
        assert await tell(store) == number


async def test_whoever_set_a_reminder_in_a_group_that_is_gone_is_told(store: Store, sql: Sql) -> None:
    there = {"space": group(GROUP), "chat_id": GROUP}
    await make(store, "Bens", BEN, **there)
    await due(sql, await make(store, "Bins", ADA, **there))
    await tell(store)
    [turn] = [turn for turn in (await store.claim(BOT.id, 50))[0] if turn.message]
    note = Message(chat_id=EVE, user_id=EVE, text="It's gone.", key=f"gone {turn.turn_id} {EVE}")
    assert await store.end_reminders(turn.turn_id, [note]) == 1, "the other one was told"
    rows = await sql("select chat_id, user_id from outbox where request ->> 'text' = 'It''s gone.' order by 1")
    assert rows == [(one, one) for one in sorted([BEN, EVE])]


async def test_an_ordinary_message_to_a_chat_that_is_gone_ends_no_reminder(store: Store, sql: Sql) -> None:
    await make(store)
    await store.enqueue(BOT.id, [Message(chat_id=ADA, user_id=ADA, text="Digest")])
    [turn] = [turn for turn in (await store.claim(BOT.id, 50))[0] if turn.message]
    assert await store.end_reminders(turn.turn_id, []) == 0
    assert await sql("select status from reminder") == [("active",)]


async def test_the_reminders_of_a_group_follow_it_to_its_new_chat(store: Store, sql: Sql) -> None:
    before, now = -4242, -1_000_000_004_242
    made = await store.make_reminder(
        NewReminder(
            space=group(before), bot_id=BOT.id, chat_id=before, topic_id=0, user_id=ADA, text="Bins", zone="UTC",
            start_at=MADE, next_at=MADE.replace(tzinfo=UTC),
        )
    )  # fmt: skip
    assert isinstance(made, Reminder)
    await store.regroup(BOT.id, before, now)
    await due(sql, made)
    assert await tell(store) == 1
    assert await sql("select chat_id from outbox") == [(now,)]
    assert await sql("select kind, key from job where kind = 'reminder'") == []


async def test_an_imported_reminder_is_paused_and_moved_to_the_importers_chat(store: Store, sql: Sql) -> None:
    await make(store, rule="FREQ=DAILY")
    [(row,)] = await sql('select to_jsonb(r) - \'id\' || \'{"chat_id": 666, "zone": "Nowhere"}\' from reminder r')
    [(space,)] = await sql("insert into space (kind, owner_id) values ('private', %s) returning id", BEN)
    [(fitted,)] = await sql("select relay.adopt_reminder(%s::jsonb)", json.dumps(row | {"space_id": space}))
    assert (fitted["chat_id"], fitted["user_id"], fitted["status"]) == (BEN, BEN, "paused")
    assert (fitted["zone"], fitted["rule"]) == ("UTC", "FREQ=DAILY")


@pytest.mark.parametrize(
    ("rule", "moves"),
    [
        ("FREQ=HOURLY", True), ("FREQ=MINUTELY;INTERVAL=60", True), ("FREQ=HOURLY;UNTIL=20321231T235959", True),
        ("FREQ=HOURLY;COUNT=500", True), ("FREQ=HOURLY;INTERVAL=4", False), ("FREQ=HOURLY;COUNT=3", False),
        ("FREQ=HOURLY;UNTIL=20300108T030000", False), ("FREQ=HOURLY;BYHOUR=23", False), ("FREQ=DAILY", False),
    ],
)  # fmt: skip
async def test_an_old_hourly_reminder_no_longer_rings_at_night(store: Store, sql: Sql, rule: str, moves: bool) -> None:
    night = datetime(2030, 1, 7, 22, 30, tzinfo=UTC)
    made = await make(store, rule=rule, start_at=MADE.replace(minute=30), next_at=night)
    await sql("update reminder set zone = 'Europe/Berlin' where id = %s", made.id)  # 23:30 there
    await sql(BY_DAY.read_text())
    [(now, at)] = await sql("select rule, next_at from reminder where id = %s", made.id)
    assert (now != rule, at) == (moves, night + timedelta(hours=9) if moves else night)
    assert read_rule(now, MADE)
