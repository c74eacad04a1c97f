"""Durations and end dates as people write them."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.surfaces.chat.memory.spans import parse_until

NOW = datetime(2026, 11, 22, 17, 30, tzinfo=ZoneInfo("Europe/Berlin"))


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2h", "2026-11-22 19:30"),
        ("30m", "2026-11-22 18:00"),
        ("for 3 days", "2026-11-25 17:30"),
        ("1w", "2026-11-29 17:30"),
        ("until 2026-12-24", "2026-12-24 00:00"),
        ("2026-12-24 18:15", "2026-12-24 18:15"),
        ("until tomorrow", "2026-11-23 00:00"),
        ("tomorrow 9:05", "2026-11-23 09:05"),
        ("until 18:00", "2026-11-22 18:00"),
        ("until 9:00", "2026-11-23 09:00"),
    ],
)
def test_durations_and_dates_are_parsed(text: str, at: str) -> None:
    assert parse_until(text, NOW) == datetime.fromisoformat(at).replace(tzinfo=NOW.tzinfo)


@pytest.mark.parametrize(
    "text", ["", "0h", "until", "soon", "2026-13-01", "2020-01-01", "today", "25:00", "2h 3h", "-1h"]
)
def test_text_without_a_future_time_is_refused(text: str) -> None:
    assert parse_until(text, NOW) is None


@given(st.text(max_size=30))
@example("1H")
def test_any_text_gives_a_future_time_or_none(text: str) -> None:
    found = parse_until(text, NOW)
    assert found is None or found > NOW


@pytest.mark.parametrize(
    ("now", "text", "at"),
    [
        ("2027-03-28T00:30:00+00:00", "2h", "2027-03-28T02:30:00+00:00"),
        ("2027-10-31T00:30:00+00:00", "1h", "2027-10-31T01:30:00+00:00"),
        ("2027-10-31T01:06:00+00:00", "30m", "2027-10-31T01:36:00+00:00"),
        ("2027-10-31T01:06:00+00:00", "until 2:30", "2027-10-31T01:30:00+00:00"),
        ("2027-10-31T00:06:00+00:00", "until 2:30", "2027-10-31T00:30:00+00:00"),
        ("2027-10-30T10:00:00+00:00", "1d", "2027-10-31T11:00:00+00:00"),
    ],
)
def test_a_pause_lasts_as_long_as_said_when_the_clocks_change(now: str, text: str, at: str) -> None:
    found = parse_until(text, datetime.fromisoformat(now).astimezone(ZoneInfo("Europe/Berlin")))
    assert found is not None
    assert found.astimezone(UTC) == datetime.fromisoformat(at)
