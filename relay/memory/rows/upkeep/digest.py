"""Digests: where they are sent, and what a day's digest is made from."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, time
from typing import Literal

from relay.core.frozen import frozen
from relay.memory.rows.contexts.library import OriginalMessage
from relay.memory.rows.upkeep.night import Note


@frozen
class DigestPlace:
    """Where a space's digests are sent, who wants them, and when."""

    user_id: int
    chat_id: int
    topic_id: int
    at_time: time | None = None
    """The time in the morning, local in `zone`; None: it is sent at the end of the night."""
    zone: str = ""
    bot_id: int = 0
    next_at: datetime | None = None

    def as_json(self) -> dict[str, object]:
        """Returns the JSON that `relay_want_digest` takes."""
        return {name: str(value) for name, value in asdict(self).items() if value is not None}


@frozen(kw_only=True)
class DayMessage(OriginalMessage):
    """A message of the day, or its first 1,000 characters."""

    title: str | None
    """The title of its conversation."""
    mark: str | None = None
    """What tells its author apart from namesakes."""


@frozen
class PutAway:
    """A preference that was archived because nothing had confirmed it for long."""

    pattern: str
    polarity: Literal[-1, 1]
    messages: tuple[int, ...]
    """The answers that taught it."""


@frozen
class Decayed:
    """What a night did to a space's compressed versions."""

    made: int
    dropped: int
    undo: int | None = None
    """The id of one dropped version; undoing it brings all of them back."""


@frozen
class DigestDay:
    """What a digest is made from."""

    space_id: int | None
    """None: nothing was ever said there."""
    messages: tuple[DayMessage, ...] = ()
    learned: tuple[Note, ...] = ()
    put_away: tuple[PutAway, ...] = ()
    """Archived preferences that no digest has reported yet."""
    decay: Decayed | None = None
