"""When a reminder is due: once, or repeatedly by a rule over local time. Pure.

Rules are RRULEs (RFC 5545, 3.3.10) with the parts FREQ, INTERVAL, BYHOUR, BYDAY, BYMONTHDAY, BYMONTH, BYSETPOS, COUNT
and UNTIL, computed by `dateutil.rrule` over local time without a zone. The zone is attached to each occurrence, so 9:00
stays 9:00 across daylight saving. A time that the clocks skip moves forward by the length of the gap; if a time occurs
twice, the first counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import islice, takewhile

from dateutil.rrule import rrule, rrulestr

from relay.core.frozen import frozen
from relay.memory.reminders.rule_days import STEPS, comes
from relay.memory.rows.proactive.reminders import ReminderKind

PARTS = frozenset(("FREQ", "INTERVAL", "BYHOUR", "BYDAY", "BYMONTHDAY", "BYMONTH", "BYSETPOS", "COUNT", "UNTIL"))
FREQUENCIES = frozenset(("MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"))
RULE_LENGTH = 200
LEAST_GAP = timedelta(minutes=5)
"""The shortest time between two occurrences."""
MODEL_GAP = timedelta(hours=1)
"""The same for reminders that ask a model."""
CHECKED = 40
"""How many occurrences are checked for their gap."""
LONGEST_WAIT = timedelta(days=20 * 366)
"""A rule without an occurrence in this time has none."""
NEAR = timedelta(hours=25)
"""The farthest that a time moved by a clock change can be from its time by the rule, with a day to spare."""

DAY_HOURS = (8, 21)
"""Reminders that name no hours are limited to these hours of the day; the last is excluded."""
ROUND_THE_CLOCK = timedelta(hours=6)
"""Rules with steps this long include the night: a medicine every 8 hours."""

OFTEN = timedelta(minutes=61)
"""A stored rule with steps this long is not limited to the day when it is resumed: it may be a medicine."""

OWN_HOURS = frozenset(("BYHOUR", "BYSETPOS"))
"""Rules with one of these parts are not limited to the day: their hours are named, or they take none."""
SOON = timedelta(days=1)
"""Rules that end this soon after their start include the night: every hour until 23:00, 3 times."""

NEVER = "That day never comes. For the last day of each month, write: every month on the 31st 9:00."


class BadRule(ValueError):
    """A rule that is not understood, or not allowed. Its text is a sentence."""


@frozen
class Rule:
    """A rule with its start, over local time."""

    dates: rrule
    start: datetime
    step: timedelta | None = None
    """The grid of a rule of minutes or hours, unless it ends by count."""

    def near(self, local: datetime) -> rrule:
        """Returns the rule from a time on. dateutil counts from the start, so a rule of minutes starts later, on its
        grid."""
        if self.step is None or local <= self.start:
            return self.dates
        return self.dates.replace(dtstart=self.start + (local - self.start) // self.step * self.step)


def localize(local: datetime, zone: tzinfo) -> datetime:
    """Attaches a zone to a local time. A time that the clocks skip moves forward; of a time that occurs twice, the
    first counts."""
    found = local.replace(tzinfo=zone, fold=0)
    # A time in a gap does not survive the conversion to UTC and back.
    return found.astimezone(UTC).astimezone(zone)


def localize_ahead(local: datetime, zone: tzinfo, now: datetime) -> datetime:
    """Attaches a zone like `localize`, but of a time that occurs twice, the second counts if the first has passed."""
    first, second = localize(local, zone), local.replace(tzinfo=zone, fold=1)
    twice = second.astimezone(UTC) > first.astimezone(UTC)
    return second if twice and first.astimezone(UTC) <= now.astimezone(UTC) else first


def next_clock(clock: time, zone: tzinfo, after: datetime) -> datetime:
    """Returns the next moment with a local time of day after a moment (with a zone)."""
    today = after.astimezone(zone).date()
    first = localize(datetime.combine(today, clock), zone)
    return first if first > after else localize(datetime.combine(today + timedelta(days=1), clock), zone)


def least_gap(kind: ReminderKind) -> timedelta:
    """Returns the shortest allowed time between a reminder's occurrences."""
    return MODEL_GAP if kind == "check" else LEAST_GAP


def read_rule(text: str, start: datetime, least: timedelta = LEAST_GAP) -> Rule:
    """Reads an RRULE that starts at a local time (without a zone). Raises `BadRule`."""
    text = text.strip().upper().removeprefix("RRULE:")
    if len(text) > RULE_LENGTH:
        raise BadRule(f"A rule can have at most {RULE_LENGTH} characters.")
    pairs = [part.partition("=") for part in text.split(";") if part]
    parts = {name: value for name, _, value in pairs}
    if set(parts) - PARTS or len(parts) != len(pairs) or parts.get("FREQ") not in FREQUENCIES:
        raise BadRule("A rule looks like this: FREQ=WEEKLY;INTERVAL=2;BYDAY=MO.")
    interval = parts.get("INTERVAL", "1")
    if not interval.isdecimal() or not 1 <= int(interval) <= 1000:
        raise BadRule("INTERVAL is a number from 1 to 1000.")
    if any(not (hour.isdecimal() and int(hour) < 24) for hour in parts.get("BYHOUR", "0").split(",")):
        raise BadRule("BYHOUR lists hours from 0 to 23.")
    if until := parts.get("UNTIL"):  # local, and a day counts as a whole
        text = text.replace(f"UNTIL={until}", f"UNTIL={until.removesuffix('Z')}{'' if 'T' in until else 'T235959'}")
    try:
        dates = rrulestr(text, dtstart=start)
        possible = comes(parts, start, LONGEST_WAIT)
    except (ValueError, TypeError, KeyError) as error:
        raise BadRule(f"I can't read that rule: {error}.") from None
    if not isinstance(dates, rrule):
        raise BadRule("Please give one rule at a time.")
    if not possible:
        raise BadRule(NEVER)
    if {"BYHOUR", "BYSETPOS"} <= set(parts):
        raise BadRule("BYHOUR and BYSETPOS can't be combined.")
    check_gap(dates, start, least)
    step = STEPS.get(parts["FREQ"]) if "COUNT" not in parts else None
    return Rule(dates, start, step and step * int(interval))


def keep_to_day(rule: str, start: datetime, within: timedelta = ROUND_THE_CLOCK) -> str:
    """Returns a rule that comes several times a day, limited to its hours by day, unless it names hours, it ends within
    a day of its local start, or its steps aren't `within` this time. Other rules stay."""
    parts = dict(one.partition("=")[::2] for one in rule.split(";"))
    step, interval = STEPS.get(parts["FREQ"]) if "FREQ" in parts else None, parts.get("INTERVAL", "1")
    if step is None or OWN_HOURS & set(parts) or not interval.isdecimal() or step * int(interval) >= within:
        return rule
    if ends_soon(parts, start, step * int(interval)):
        return rule
    return f"{rule};BYHOUR={','.join(str(hour) for hour in range(*DAY_HOURS))}"


def ends_soon(parts: Mapping[str, str], start: datetime, step: timedelta) -> bool:
    """Tests whether a rule of minutes or hours ends within a day."""
    count, until = parts.get("COUNT", ""), parts.get("UNTIL", "").removesuffix("Z")
    try:
        ends = datetime.strptime(until if "T" in until else f"{until}T235959", "%Y%m%dT%H%M%S")
    except ValueError:  # it has no end, or none that can be read
        return count.isdecimal() and step * int(count) <= SOON
    return ends - start <= SOON


def by_day(at: datetime, zone: tzinfo) -> datetime:
    """Returns a moment (with a zone), moved to the next morning if it is at night."""
    begin, end = DAY_HOURS
    return at if begin <= at.astimezone(zone).hour < end else next_clock(time(begin), zone, at)


def check_gap(dates: rrule, start: datetime, least: timedelta) -> None:
    """Raises `BadRule` if a rule has no occurrence, or two that are closer than `least`."""
    before = None
    try:
        found = list(islice(within(dates, start), CHECKED))
    except ValueError:  # its steps never reach its hours
        raise BadRule(NEVER) from None
    for one in found:
        if before is not None and one - before < least:
            raise BadRule(f"That's too often. There must be at least {in_words(least)} between two reminders.")
        before = one
    if before is None:
        raise BadRule(NEVER)


def within(dates: rrule, start: datetime) -> Iterator[datetime]:
    """Yields a rule's local times from a time on, up to the longest wait."""
    return takewhile(lambda one: one <= start + LONGEST_WAIT, dates.xafter(start, inc=True))


def in_words(gap: timedelta) -> str:
    """Returns a gap in words: 5 minutes, an hour."""
    minutes = int(gap.total_seconds() // 60)
    return "an hour" if minutes == 60 else f"{minutes} minutes"


def next_occurrence(rule: Rule, zone: tzinfo, after: datetime) -> datetime | None:
    """Returns the first occurrence after a moment (with a zone); None if there is none."""
    found = next_times(rule, zone, after)
    return found and found[0]


def next_times(rule: Rule, zone: tzinfo, after: datetime) -> tuple[datetime, datetime] | None:
    """Returns the first occurrence after a moment, and its local time by the rule, which the clocks may skip."""
    local = after.astimezone(zone).replace(tzinfo=None) - NEAR
    after = after.astimezone(UTC)  # in one zone, Python compares what clocks show
    found: tuple[datetime, datetime] | None = None
    for one in within(rule.near(local), local):
        # A time that the clocks skip moves after later times of the rule.
        if found is not None and one > found[0].replace(tzinfo=None):
            break
        at = localize(one, zone)
        if at > after and (found is None or at < found[0]):
            found = at, one
    return found


def last_occurrence(rule: Rule, zone: tzinfo, until: datetime) -> datetime | None:
    """Returns the last occurrence of the three days up to a moment (with a zone); None if there is none."""
    local = until.astimezone(zone).replace(tzinfo=None) + NEAR
    until = until.astimezone(UTC)
    begin = local - timedelta(days=5)
    passed = [at for one in rule.near(begin).between(begin, local, inc=True) if (at := localize(one, zone)) <= until]
    return max(passed, default=None)
