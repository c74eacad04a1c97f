"""The meaning of a phrase, or what it leaves open. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from relay.core.frozen import frozen

FARTHEST = timedelta(days=20 * 366)


@frozen
class Moment:
    """The only time, or the first with its rule."""

    start: datetime
    rule: str = ""


@frozen
class Open:
    """What is left open, as a question to the person."""

    question: str
    lacking: bool = False
    """Only the day or the hour is missing."""


def is_ahead(found: datetime, now: datetime) -> bool:
    """Tests whether a moment is in the future. In one zone, Python compares what clocks show, which may be the same
    twice."""
    return found.astimezone(UTC) > now.astimezone(UTC)


def bound_moment(found: datetime, now: datetime, rule: str = "") -> Moment | Open:
    """Returns a moment, unless it is too far in the future."""
    if found - now > FARTHEST:
        return Open("That is more than 20 years away. Please choose an earlier time.")
    return Moment(found, rule)
