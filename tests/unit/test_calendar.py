"""An independent parser reads reminders from the calendar file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import icalendar
import pytest

from relay.memory.reminders.calendar import make_calendar
from relay.memory.rows.proactive.reminders import Reminder

BERLIN = ZoneInfo("Europe/Berlin")


def reminder(text: str, rule: str = "", start: datetime = datetime(2026, 3, 2, 9)) -> Reminder:
    return Reminder(
        id=7, kind="say", text=text, zone="Europe/Berlin", start_at=start, rule=rule,
        next_at=start.replace(tzinfo=BERLIN), status="active", user_id=1, chat_id=1, topic_id=0, space_id=1,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )  # fmt: skip


def events(*reminders: Reminder) -> list[icalendar.Event]:
    found = icalendar.Calendar.from_ical(make_calendar(reminders)).walk("VEVENT")
    return list(found)


def test_an_event_has_its_text_time_and_alarm() -> None:
    [event] = events(reminder("Tea; with, \\ and\nlemon ☕ " + "x" * 200))
    assert str(event["SUMMARY"]) == "Tea; with, \\ and\nlemon ☕ " + "x" * 200
    assert event["DTSTART"].dt.astimezone(UTC) == datetime(2026, 3, 2, 8, tzinfo=UTC)
    [alarm] = event.walk("VALARM")
    assert alarm["TRIGGER"].dt == timedelta(0)


def test_a_repeating_event_keeps_its_hour_across_daylight_saving() -> None:
    [event] = events(reminder("Bins", "FREQ=WEEKLY;BYDAY=MO"))
    assert event["RRULE"] == {"FREQ": ["WEEKLY"], "BYDAY": ["MO"]}
    assert str(event["DTSTART"].dt.tzinfo) == "Europe/Berlin"


@pytest.mark.parametrize("until", ["20260330T235959", "20260330", "20260330T235959Z"])
def test_the_end_of_a_repeating_event_is_in_utc(until: str) -> None:
    [event] = events(reminder("Bins", f"FREQ=DAILY;UNTIL={until}"))
    assert event["RRULE"]["UNTIL"] == [datetime(2026, 3, 30, 21, 59, 59, tzinfo=UTC)]


def test_calendar_lines_are_folded_at_75_bytes() -> None:
    text = make_calendar([reminder("ä" * 500)]).decode()
    assert "\r\n" in text
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))


def test_a_repeating_event_starts_on_a_day_of_its_rule() -> None:
    wednesday = datetime(2026, 3, 4, 9)
    [event] = events(reminder("Bins", "FREQ=WEEKLY;BYDAY=SA", wednesday))
    assert event["DTSTART"].dt.replace(tzinfo=None) == datetime(2026, 3, 7, 9)


def test_a_repeating_event_keeps_an_hour_that_the_clocks_skip_on_its_first_day() -> None:
    [event] = events(reminder("Night watch", "FREQ=DAILY", datetime(2026, 3, 29, 2, 30)))
    assert event["DTSTART"].dt.replace(tzinfo=None) == datetime(2026, 3, 29, 2, 30)
