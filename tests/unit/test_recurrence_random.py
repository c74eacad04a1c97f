"""Due times of reminders agree with an independent calculation: day by day, without dateutil, over three years, in
zones with every kind of clock change."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from time import process_time
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.memory.reminders.recurrence import BadRule, last_occurrence, localize, next_occurrence, read_rule
from tests.strategies import examples

ZONES = [
    "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "America/St_Johns", "Africa/Casablanca",
    "Asia/Kolkata", "Pacific/Chatham", "America/Santiago", "Africa/Cairo", "Europe/London", "UTC",
]  # fmt: skip
SPAN = timedelta(days=3 * 365)
DAY = timedelta(days=1)
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
STEPS = {"MINUTELY": timedelta(minutes=1), "HOURLY": timedelta(hours=1)}


@dataclass(frozen=True, slots=True)
class Schedule:
    """The parts of a rule."""

    start: datetime
    freq: str
    interval: int = 1
    weekdays: tuple[tuple[int, int], ...] = ()
    """The ordinal within a month or year (0: each), and the day of the week."""
    month_days: tuple[int, ...] = ()
    months: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()
    count: int | None = None
    until: datetime | None = None

    @property
    def rule(self) -> str:
        named = {
            "FREQ": self.freq,
            "INTERVAL": str(self.interval),
            "BYDAY": ",".join(f"{place or ''}{DAYS[day]}" for place, day in self.weekdays),
            "BYMONTHDAY": ",".join(map(str, self.month_days)),
            "BYMONTH": ",".join(map(str, self.months)),
            "BYSETPOS": ",".join(map(str, self.positions)),
            "COUNT": str(self.count or ""),
            "UNTIL": f"{self.until:%Y%m%dT%H%M%S}" if self.until else "",
        }
        return ";".join(f"{name}={value}" for name, value in named.items() if value)

    def period(self, day: date) -> int:
        """The number of the day, week, month or year that contains a day."""
        return {
            "DAILY": day.toordinal(), "WEEKLY": (day.toordinal() - 1) // 7, "MONTHLY": day.year * 12 + day.month,
            "YEARLY": day.year,
        }[self.freq]  # fmt: skip

    def has(self, day: date) -> bool:
        """Tells whether the rule selects a day."""
        first, months = self.start.date(), self.months
        month_days = self.month_days
        if not self.weekdays and not month_days and self.freq in ("MONTHLY", "YEARLY"):
            month_days = (first.day,)
            months = months or ((first.month,) if self.freq == "YEARLY" else ())
        weekdays = self.weekdays
        if not weekdays and not month_days and self.freq == "WEEKLY":
            weekdays = ((0, first.weekday()),)
        if months and day.month not in months:
            return False
        if month_days and day.day not in month_days and day.day - days_in(day) - 1 not in month_days:
            return False
        return not weekdays or any(self.is_weekday(day, place, one) for place, one in weekdays)

    def is_weekday(self, day: date, place: int, weekday: int) -> bool:
        if day.weekday() != weekday or place == 0:
            return day.weekday() == weekday
        by_year = self.freq == "YEARLY" and not self.months
        at, length = (day.timetuple().tm_yday, 366 if leap(day.year) else 365) if by_year else (day.day, days_in(day))
        return place == (at - 1) // 7 + 1 if place > 0 else -place == (length - at) // 7 + 1


def leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in(day: date) -> int:
    return 29 if day.month == 2 and leap(day.year) else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[day.month - 1]


def days_of(schedule: Schedule, end: date) -> Iterator[date]:
    """The days that a rule selects, from the beginning of the period that contains its start."""
    first = schedule.period(schedule.start.date())
    day = schedule.start.date()
    while schedule.freq != "DAILY" and day.toordinal() > 1 and schedule.period(day - DAY) == first:
        day -= DAY
    found: list[date] = []
    while day <= end:
        now = schedule.period(day)
        if (now - first) % schedule.interval == 0 and schedule.has(day):
            found.append(day)
        day += DAY
        if found and schedule.period(day) != now:
            chosen = {found[at - (at > 0)] for at in schedule.positions if -len(found) <= at - (at > 0) < len(found)}
            yield from sorted(chosen) if schedule.positions else found
            found = []


def expand(schedule: Schedule, begin: datetime, end: datetime) -> list[datetime]:
    """The local times of a schedule up to `end`; for minutes and hours, from `begin` on."""
    if schedule.freq in STEPS:
        step = STEPS[schedule.freq] * schedule.interval
        skipped = 0 if schedule.count else max(0, (begin - schedule.start) // step)
        found, at = [], schedule.start + skipped * step
        while at <= end and (schedule.until is None or at <= schedule.until):
            found += [at] if schedule.has(at.date()) else []
            at += step
        return found[: schedule.count]
    clock = schedule.start.time()
    days = days_of(schedule, end.date() + timedelta(days=370))  # whole periods
    times = (at for day in days if (at := datetime.combine(day, clock)) >= schedule.start)
    counted = [at for _, at in zip(range(schedule.count or 10**6), times, strict=False)]
    return [at for at in counted if at <= end and (schedule.until is None or at <= schedule.until)]


def moment(local: datetime, zone: ZoneInfo) -> datetime:
    """The first moment at which clocks show a local time. If they skip it, it is later by the length of the gap."""
    noons = [(local + shift).replace(tzinfo=UTC) for shift in (-2 * DAY, 2 * DAY)]
    before, after = (one.astimezone(zone).utcoffset() or timedelta() for one in noons)
    shown = [
        at for offset in (before, after)
        if (at := (local - offset).replace(tzinfo=UTC)).astimezone(zone).replace(tzinfo=None) == local
    ]  # fmt: skip
    return min(shown, default=(local - before).replace(tzinfo=UTC))


@functools.cache
def changes(name: str, year: int) -> tuple[datetime, ...]:
    """The moments, to the hour, at which a zone's clocks change in a year and the two years after it."""
    zone, at = ZoneInfo(name), datetime(year, 1, 1, tzinfo=UTC)
    found = []
    while at.year < year + 3:
        if at.astimezone(zone).utcoffset() != (at + DAY).astimezone(zone).utcoffset():
            hours = [at + timedelta(hours=hour) for hour in range(25)]
            found += [b for a, b in itertools.pairwise(hours)
                      if a.astimezone(zone).utcoffset() != b.astimezone(zone).utcoffset()]  # fmt: skip
        at += DAY
    return tuple(found)


def some(values: st.SearchStrategy, most: int) -> st.SearchStrategy:
    return st.lists(values, min_size=1, max_size=most, unique=True).map(lambda found: tuple(sorted(found)))


@st.composite
def schedules(draw: st.DrawFn, year: int) -> Schedule:
    """Any schedule that Relay accepts."""
    freq = draw(st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY", "HOURLY", "MINUTELY"]))
    # Half of them at night, when clocks change.
    clock = time(draw(st.one_of(st.integers(0, 4), st.integers(0, 23))), draw(st.integers(0, 59)))
    start = datetime.combine(date(year, 1, 1) + DAY * draw(st.integers(0, 364)), clock)
    interval = draw(st.integers(5, 200) if freq == "MINUTELY" else st.sampled_from([1, 1, 1, 2, 3, 5]))
    ordinals = st.sampled_from([0, 1, 2, 3, 4, -1]) if freq in ("MONTHLY", "YEARLY") else st.just(0)
    weekdays = draw(st.just(()) | some(st.tuples(ordinals, st.integers(0, 6)), 3))
    # dateutil joins weekdays with and without an ordinal by `or`, other programs don't: one kind at a time.
    weekdays = tuple(one for one in weekdays if bool(one[0]) == bool(weekdays[0][0]))
    month_days = draw(st.just(()) | some(st.integers(1, 31) | st.integers(-3, -1), 3))
    if freq == "WEEKLY" or any(place for place, _ in weekdays):
        month_days = ()
    months = draw(st.just(()) | st.just(()) | some(st.integers(1, 12), 3))
    positions = draw(some(st.sampled_from([1, 2, -1]), 2)) if freq in ("MONTHLY", "YEARLY") and (
        (weekdays or month_days) and draw(st.integers(0, 3)) == 0) else ()  # fmt: skip
    plain = not (weekdays or month_days or months)
    end = draw(st.sampled_from(["", "", "count", "until"]))
    return Schedule(
        start, freq, interval, weekdays, month_days, months, positions,
        count=draw(st.integers(1, 60)) if end == "count" and (plain or freq not in STEPS) else None,
        until=start + DAY * draw(st.integers(0, 1200)) if end == "until" else None,
    )  # fmt: skip


@pytest.mark.parametrize("year", [2024, 2010], ids=["of now", "when Apia skipped a day"])
@examples(150)
@given(data=st.data())
def test_due_times_agree_with_an_independent_calculation(data: st.DataObject, year: int) -> None:
    schedule = data.draw(schedules(year))
    name = data.draw(st.sampled_from(ZONES))
    zone, start = ZoneInfo(name), schedule.start
    try:
        rule = read_rule(schedule.rule, start)
    except BadRule:
        assert len(expand(schedule, start, start + SPAN)) == 0
        return
    random = st.integers(-1000, int((SPAN - 5 * DAY) / timedelta(minutes=1))).map(lambda one: timedelta(minutes=one))
    asked = [start.replace(tzinfo=zone) + data.draw(random)]
    if found := changes(name, year):
        asked.append(data.draw(st.sampled_from(found)) + timedelta(minutes=data.draw(st.integers(-2000, 300))))
    everything = expand(schedule, start, start + SPAN + 40 * DAY) if schedule.freq not in STEPS else None
    for at in asked:
        local = at.astimezone(zone).replace(tzinfo=None)
        if everything is not None:
            near = [one for one in everything if one >= local - 5 * DAY][:40]
        else:
            # A rule in minutes or hours has many times, but the next one may be a month away.
            plain = not (schedule.weekdays or schedule.month_days or schedule.months)
            near = expand(schedule, local - 4 * DAY, local + (2 if plain else 40) * DAY)
        due = sorted(moment(one, zone) for one in near)
        check(due, at, next_occurrence(rule, zone, at), last_occurrence(rule, zone, at))


def check(due: list[datetime], at: datetime, following: datetime | None, last: datetime | None) -> None:
    """Compares the times found around a moment with all due times."""
    expected = next((one for one in due if one > at), None)
    if expected is not None:
        assert same(following, expected)
    elif due and following is not None:
        assert following.timestamp() > due[-1].timestamp()
    before = max((one for one in due if one <= at), default=None)
    if before is not None and at - before <= timedelta(days=3):
        assert same(last, before)
    else:
        assert last is None or same(last, before)


def same(one: datetime | None, other: datetime | None) -> bool:
    """In Python, times in two zones are never equal if one of them is in an hour that comes twice."""
    return one is not None and other is not None and one.timestamp() == other.timestamp()


def local_times(rule: str, start: datetime, zone: str, number: int) -> list[str]:
    found, at = [], start.replace(tzinfo=ZoneInfo(zone)) - timedelta(minutes=1)
    for _ in range(number):
        following = next_occurrence(read_rule(rule, start), ZoneInfo(zone), at)
        assert following is not None
        at = following
        found.append(f"{at:%Y-%m-%d %H:%M %z}")
    return found


def test_clock_changes_of_half_an_hour_are_respected() -> None:
    assert local_times("FREQ=DAILY", datetime(2026, 10, 3, 2, 15), "Australia/Lord_Howe", 3) == [
        "2026-10-03 02:15 +1030", "2026-10-04 02:45 +1100", "2026-10-05 02:15 +1100",
    ]  # fmt: skip
    assert local_times("FREQ=DAILY", datetime(2026, 4, 4, 1, 45), "Australia/Lord_Howe", 3) == [
        "2026-04-04 01:45 +1100", "2026-04-05 01:45 +1100", "2026-04-06 01:45 +1030",
    ]  # fmt: skip


def test_a_date_skipped_by_a_time_zone_is_made_up_for_once() -> None:
    assert local_times("FREQ=DAILY", datetime(2011, 12, 29, 9), "Pacific/Apia", 3) == [
        "2011-12-29 09:00 -1000", "2011-12-31 09:00 +1400", "2012-01-01 09:00 +1400",
    ]  # fmt: skip
    assert localize(datetime(2011, 12, 30, 9), ZoneInfo("Pacific/Apia")).day == 31


def test_29_february_is_due_only_in_leap_years() -> None:
    start = datetime(2028, 2, 29, 9)
    only = [text[:10] for text in local_times("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", start, "Europe/Berlin", 3)]
    assert only == ["2028-02-29", "2032-02-29", "2036-02-29"]
    last = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=28,29;BYSETPOS=-1"
    found = [text[:10] for text in local_times(last, datetime(2027, 2, 28, 9), "Europe/Berlin", 3)]
    assert found == ["2027-02-28", "2028-02-29", "2029-02-28"]


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=MINUTELY;INTERVAL=5;BYSETPOS=3", "FREQ=MINUTELY;INTERVAL=5;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;BYMONTH=13",
        "FREQ=DAILY;INTERVAL=7;BYDAY=WE", "FREQ=WEEKLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=MONTHLY;INTERVAL=2;BYMONTH=2",
        "FREQ=MONTHLY;BYDAY=5MO;BYMONTHDAY=1", "FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=YEARLY;BYDAY=1MO;BYSETPOS=2", "FREQ=MINUTELY;INTERVAL=720;BYHOUR=10",
    ],
)  # fmt: skip
def test_a_rule_that_never_comes_is_refused_at_once(rule: str) -> None:
    began = process_time()
    with pytest.raises(BadRule, match="never comes"):
        read_rule(rule, datetime(2026, 11, 26, 9))
    assert process_time() - began < 0.5


def test_a_weekday_beyond_the_last_of_a_month_is_refused() -> None:
    with pytest.raises(BadRule, match="BYDAY"):
        read_rule("FREQ=YEARLY;BYMONTH=12;BYDAY=1MO,54MO", datetime(2026, 11, 26, 9))


@pytest.mark.parametrize("freq", ["MINUTELY;INTERVAL=7", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"])
def test_a_rule_that_comes_every_few_years_is_allowed(freq: str) -> None:
    rule = read_rule(f"FREQ={freq};BYMONTH=2;BYMONTHDAY=29", datetime(2028, 3, 1, 9))
    found = next_occurrence(rule, UTC, datetime(2028, 3, 1, 9, tzinfo=UTC))
    assert found is not None
    assert found.date() == date(2032, 2, 29)


def test_a_skipped_hour_does_not_hide_earlier_occurrences() -> None:
    # 2:15 becomes 3:15, after 3:00.
    times = local_times("FREQ=MINUTELY;INTERVAL=45", datetime(2026, 3, 29, 1, 30), "Europe/Berlin", 4)
    assert [text[11:16] for text in times] == ["01:30", "03:00", "03:15", "03:45"]


def test_a_rule_that_ends_on_a_day_includes_it() -> None:
    for until in ("20261128", "20261128T235959"):
        rule, last = read_rule(f"FREQ=DAILY;UNTIL={until}", datetime(2026, 11, 26, 9)), datetime(2026, 11, 28, 9)
        assert next_occurrence(rule, UTC, datetime(2026, 11, 27, 12, tzinfo=UTC)) == last.replace(tzinfo=UTC)
        assert next_occurrence(rule, UTC, last.replace(tzinfo=UTC)) is None
