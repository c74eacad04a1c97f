"""What is said of due reminders, and when each comes next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from relay.commands.reminders.zones import moved_time
from relay.core.models import Space
from relay.memory.reminders.due import AGAIN_MINUTES, tell
from relay.memory.reminders.recurrence import BadRule, keep_to_day, next_occurrence, read_rule
from relay.memory.rows.proactive.reminders import DueReminder, ReminderMessage, ReminderWork

NOW = datetime(2030, 1, 8, 9, tzinfo=UTC)
YESTERDAY = NOW - timedelta(hours=25)


def due(**more: object) -> DueReminder:
    """Returns a reminder that is due now."""
    given: dict[str, object] = {
        "id": 1, "kind": "say", "text": "Tea", "zone": "UTC", "start_at": YESTERDAY.replace(tzinfo=None), "rule": "",
        "next_at": NOW, "status": "active", "user_id": 1, "chat_id": 1, "topic_id": 0, "space_id": 1,
        "created_at": YESTERDAY, "space": Space("private", owner_id=1),
    }  # fmt: skip
    return DueReminder(**given | more)  # type: ignore[arg-type]


def told(reminder: DueReminder) -> ReminderMessage:
    """Returns the message for one reminder."""
    [message] = tell(ReminderWork(NOW, 0, (reminder,)), {}).messages
    return message


@pytest.mark.parametrize("asked", [1, 2])
def test_a_question_repeated_after_more_than_a_day_is_asked_not_missed(asked: int) -> None:
    message = told(due(kind="ask", repeat_minutes=1500, asked=asked, occurrence=YESTERDAY))
    assert message.text == "⏰ Still open: Tea"


@pytest.mark.parametrize("status", ["active", "proposed"])
def test_a_late_reminder_says_when_it_was_due(status: str) -> None:
    morning = NOW.replace(hour=8, minute=5)
    assert told(due(status=status, next_at=morning)).text.endswith("Tea\n\n(was due at 8:05)")


def test_a_question_repeated_while_relay_was_off_for_days_is_missed() -> None:
    message = told(due(kind="ask", repeat_minutes=60, asked=1, occurrence=YESTERDAY, next_at=YESTERDAY))
    assert "Missed" in message.text


def test_a_repeated_question_does_not_take_the_place_of_the_rules_next_one() -> None:
    hourly = due(kind="ask", repeat_minutes=60, rule="FREQ=HOURLY")
    [moved] = told(hourly).moved
    assert (moved.next_at, moved.occurrence, moved.asked) == (NOW + timedelta(hours=1), None, 0)
    [moved] = told(due(kind="ask", repeat_minutes=30, rule="FREQ=HOURLY")).moved
    assert (moved.next_at, moved.occurrence, moved.asked) == (NOW + timedelta(minutes=30), NOW, 1)


@pytest.mark.parametrize(
    ("rule", "hour", "zone", "hours"),
    [
        ("FREQ=DAILY", 32, "America/New_York", 37),  # tomorrow at 8 there
        ("FREQ=DAILY", 32, "Asia/Tokyo", 23),
        ("FREQ=DAILY", 10, "Asia/Tokyo", 1),  # passed there: sent at once, with the time when it was due
        ("FREQ=HOURLY", 10, "America/New_York", 10),
        ("", 10, "America/New_York", 10),
    ],
)
def test_a_rule_keeps_its_day_and_hour_in_another_zone(rule: str, hour: int, zone: str, hours: int) -> None:
    midnight = NOW.replace(hour=0)
    one = due(rule=rule, next_at=midnight + timedelta(hours=hour))
    assert moved_time(one, ZoneInfo(zone), NOW) == midnight + timedelta(hours=hours)


def test_a_question_asked_in_the_evening_is_repeated_in_the_morning_unless_the_person_says_how_soon() -> None:
    evening = NOW.replace(hour=20, minute=30)
    for minutes, again in (
        (AGAIN_MINUTES, NOW.replace(hour=8) + timedelta(days=1)),
        (45, NOW.replace(hour=21, minute=15)),
    ):
        asked = due(kind="ask", repeat_minutes=minutes, next_at=evening)
        [message] = tell(ReminderWork(evening, 0, (asked,)), {}).messages
        assert message.moved[0].next_at == again


@pytest.mark.parametrize("part", ["UNTIL=20300107T233000", "COUNT=3", "BYSETPOS=1", "BYHOUR=23"])
def test_what_ends_or_names_its_hours_is_not_put_off_to_the_day(part: str) -> None:
    rule = f"FREQ=MINUTELY;INTERVAL=10;{part}"
    assert keep_to_day(rule, datetime(2030, 1, 7, 8)) == rule


@pytest.mark.parametrize("part", ["UNTIL=20330101T235959", "UNTIL=20300109", "COUNT=500"])
def test_what_ends_after_many_nights_keeps_to_the_day(part: str) -> None:
    assert "BYHOUR=8,9" in keep_to_day(f"FREQ=HOURLY;{part}", datetime(2030, 1, 7, 8))


@pytest.mark.parametrize("hours", ["24", "8,25", "-1", "x", ""])
def test_an_hour_that_does_not_exist_is_refused(hours: str) -> None:
    with pytest.raises(BadRule, match="hours from 0 to 23"):
        read_rule(f"FREQ=HOURLY;BYHOUR={hours}", datetime(2030, 1, 7, 8))


@pytest.mark.parametrize(
    ("rule", "hours"),
    [
        ("FREQ=HOURLY;INTERVAL=2", [9, 11, 13, 15, 17, 19]),
        ("FREQ=HOURLY;INTERVAL=2;BYHOUR=9,10,11,22,23", [9, 11, 23]),
        ("FREQ=HOURLY;INTERVAL=8", [7, 15, 23]),
        ("FREQ=DAILY;BYHOUR=8,20", [8, 20]),
        ("FREQ=DAILY", [23]),
    ],
)
def test_what_comes_several_times_a_day_keeps_to_the_day_unless_hours_are_named(rule: str, hours: list[int]) -> None:
    read = read_rule(keep_to_day(rule, datetime(2030, 1, 7, 23, 10)), datetime(2030, 1, 7, 23, 10))
    at, found = NOW.replace(hour=0), []
    while (following := next_occurrence(read, UTC, at)) and following < NOW.replace(hour=0) + timedelta(days=1):
        at = following
        found.append((at.hour, at.minute))
    assert found == [(hour, 10) for hour in hours]
