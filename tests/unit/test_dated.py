"""The reminder times offered for a goal or event."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from relay.commands.reminders.dated import proposed
from relay.memory.rows.proactive.reminders import DatedMemory

BERLIN, TOKYO = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Tokyo")
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def test_a_date_offers_its_morning_and_the_evening_before() -> None:
    event = DatedMemory(1, "Trip", datetime(2026, 12, 3, tzinfo=BERLIN))
    goal = DatedMemory(1, "Thesis", datetime(2026, 12, 3, 23, 59, 59, tzinfo=BERLIN))
    for one in (event, goal):
        assert proposed(one, BERLIN, TOKYO, NOW) == {
            "day": datetime(2026, 12, 3, 9, tzinfo=TOKYO), "eve": datetime(2026, 12, 2, 18, tzinfo=TOKYO),
        }  # fmt: skip


def flight(hour: int, zone: ZoneInfo = BERLIN) -> DatedMemory:
    return DatedMemory(1, "Flight", datetime(2026, 12, 3, hour, tzinfo=zone), exact=True)


def test_a_date_with_a_time_also_offers_an_hour_before() -> None:
    found = proposed(flight(14), BERLIN, BERLIN, NOW)
    assert list(found) == ["day", "eve", "hour"]
    assert found["hour"] == datetime(2026, 12, 3, 13, tzinfo=BERLIN)
    assert list(proposed(flight(6), BERLIN, BERLIN, NOW)) == ["eve", "hour"], "nine o'clock would be too late"
    assert proposed(flight(0), BERLIN, BERLIN, NOW)["hour"] == datetime(2026, 12, 2, 23, tzinfo=BERLIN)


def test_times_are_offered_on_the_persons_own_day() -> None:
    """Six in Tokyo is the evening before in Berlin."""
    found = proposed(flight(6, TOKYO), BERLIN, TOKYO, NOW)
    assert found == {
        "eve": datetime(2026, 12, 2, 18, tzinfo=TOKYO), "hour": datetime(2026, 12, 3, 5, tzinfo=TOKYO),
    }  # fmt: skip


def test_a_date_without_a_time_offers_no_hour_in_any_zone() -> None:
    trip = DatedMemory(1, "Trip", datetime(2026, 12, 3, tzinfo=BERLIN))
    assert "hour" not in proposed(trip, TOKYO, TOKYO, NOW)


def test_times_that_have_passed_are_left_out() -> None:
    trip = DatedMemory(1, "Trip", datetime(2026, 12, 3, tzinfo=BERLIN))
    assert list(proposed(trip, BERLIN, BERLIN, datetime(2026, 12, 2, 20, tzinfo=BERLIN))) == ["day"]
    assert proposed(trip, BERLIN, BERLIN, datetime(2026, 12, 3, 10, tzinfo=BERLIN)) == {}
