"""Reads what the model gives to the reminder tools. Pure. Raises `ValueError` for what is not valid."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from relay.conversation.model_loop import ToolInput
from relay.core.limits import REMINDER_LENGTH
from relay.memory.reminders.recurrence import keep_to_day, least_gap, localize_ahead, next_occurrence, read_rule
from relay.memory.rows.proactive.reminders import ReminderKind

LEAST_AGAIN, MOST_AGAIN = 5, 7 * 24 * 60
MENTION_LIMITS = {"mention_hours": (0, 720), "mention_times": (1, 100), "mention_days": (1, 3650)}
"""The limits of a standing intent that a person may say, from and to."""


def zone_of(given: ToolInput) -> tzinfo | None:
    """Returns the time zone that the model gave; None: none. Raises `ValueError` if there is no such zone."""
    try:
        return ZoneInfo(str(given["zone"])) if given.get("zone") else None
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("zone is an IANA name such as Europe/Berlin") from None


def words_of(given: ToolInput) -> str:
    """Returns the words of a mention."""
    return " ".join(str(given["mention"]).split())


def limits_of(given: ToolInput) -> dict[str, int]:
    """Returns the limits of a standing intent that were said. Raises `ValueError` if one is not valid."""
    said = {name: int(given[name]) for name in MENTION_LIMITS if given.get(name) is not None}
    for name, number in said.items():
        least, most = MENTION_LIMITS[name]
        if not least <= number <= most:
            raise ValueError(f"{name} is from {least} to {most}")
    return said


def again_of(given: ToolInput) -> int | None:
    """Returns after how many minutes to ask again; None: not said. Raises `ValueError` if that is not valid."""
    if not given.get("again_minutes"):
        return None
    minutes = int(given["again_minutes"])
    if not LEAST_AGAIN <= minutes <= MOST_AGAIN:
        raise ValueError(f"again_minutes is from {LEAST_AGAIN} to {MOST_AGAIN}")
    return minutes


def text_of(given: ToolInput) -> str:
    """Returns the text of a reminder. Raises `ValueError` if it is not valid."""
    text = str(given.get("text") or "").strip()
    if not text or len(text) > REMINDER_LENGTH:
        raise ValueError(f"text must have 1 to {REMINDER_LENGTH} characters")
    return text


def moment_of(
    given: ToolInput, zone: tzinfo, kind: ReminderKind, now: datetime | None = None
) -> tuple[datetime, str, datetime]:
    """Returns the local start, the rule, and the first time. Raises `ValueError` if they are not valid."""
    if not given.get("at"):
        raise ValueError("`at` or `mention` is missing")
    if len(str(given["at"]).strip()) <= len("2026-12-24"):
        raise ValueError("`at` needs a time of day: 2026-12-24T18:00. Ask the person if you don't know it")
    at = datetime.fromisoformat(str(given["at"]))
    start = at.astimezone(zone).replace(tzinfo=None, fold=0) if at.tzinfo else at
    rule = str(given.get("rrule") or "").strip().upper().removeprefix("RRULE:")
    now = now or datetime.now(UTC)
    if rule:
        rule = keep_to_day(rule, start)
        first = next_occurrence(read_rule(rule, start, least_gap(kind)), zone, now)
        if first is None:
            raise ValueError("that rule has no future time")
        return start, rule, first
    found = at.astimezone(zone) if at.tzinfo else localize_ahead(start, zone, now)
    if found <= now:
        raise ValueError(f"that is in the past; it is {now.astimezone(zone):%Y-%m-%d %H:%M} there now")
    return start, "", found
