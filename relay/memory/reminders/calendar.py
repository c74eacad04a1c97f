"""Reminders as an iCalendar file (RFC 5545): an event with an alarm each. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from relay.memory.reminders.recurrence import localize, read_rule, within
from relay.memory.rows.proactive.reminders import Reminder

LASTS = timedelta(minutes=15)


def make_calendar(reminders: Sequence[Reminder]) -> bytes:
    """Returns a calendar of future reminders. A snoozed one has the time of its rule."""
    from icalendar import Alarm, Calendar, Event, vRecur

    calendar = Calendar()
    calendar.add("prodid", "-//Relay//Reminders//EN")
    calendar.add("version", "2.0")
    calendar.add("x-wr-calname", "Relay")
    for one in reminders:
        event = Event()
        event.add("uid", f"reminder-{one.id}@relay")
        event.add("summary", one.text)
        event.add("dtstamp", datetime.now(UTC))
        event.add("dtstart", find_start(one))
        event.add("duration", LASTS)
        if one.rule:
            event.add("rrule", vRecur.from_ical(convert_to_utc(one)))
        alarm = Alarm()
        alarm.add("action", "DISPLAY")
        alarm.add("description", one.text)
        alarm.add("trigger", timedelta(0))
        event.add_component(alarm)
        calendar.add_component(event)
    calendar.add_missing_timezones()
    return bytes(calendar.to_ical())


def find_start(one: Reminder) -> datetime:
    """Returns the time of an event, or the first of its rule: calendars count the start, even off the rule's days. The
    hour of a rule is kept, even if the clocks skip it on the first day."""
    if not one.rule:
        return one.next_at.astimezone(one.tzinfo) if one.next_at else localize(one.start_at, one.tzinfo)
    first = next(within(read_rule(one.rule, one.start_at).dates, one.start_at))
    return first.replace(tzinfo=one.tzinfo)


def convert_to_utc(one: Reminder) -> str:
    """Returns a rule with its end in UTC, which the format requires if the start has a zone."""
    parts = dict(part.split("=", 1) for part in one.rule.split(";"))
    if until := parts.get("UNTIL"):
        end = datetime.strptime(until.removesuffix("Z").ljust(15, "0")[:15] if "T" in until else f"{until}T235959",
                                "%Y%m%dT%H%M%S")  # fmt: skip
        parts["UNTIL"] = f"{localize(end, one.tzinfo).astimezone(UTC):%Y%m%dT%H%M%SZ}"
    return ";".join(f"{name}={value}" for name, value in parts.items())
