"""Jobs: what a process has claimed, how one stands, and what a summary is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relay.memory.rows.upkeep.writing import EarlierSummary, SourceMessage


@dataclass(frozen=True, slots=True)
class ClaimedJob:
    """A job that this process holds, with the fencing number that ends it."""

    id: int
    kind: str
    key: str
    """Which of its kind; unique among those that are owed."""
    payload: Mapping[str, Any]
    fence: int
    failures: int
    """How often it has failed so far."""


@dataclass(frozen=True, slots=True)
class OwedJob:
    """A job that is not done yet."""

    failures: int
    last_error: str | None
    parked: bool
    """It failed for good and is not tried again."""


@dataclass(frozen=True, slots=True)
class SummaryWork:
    """What a summary is made of."""

    thread_id: int
    space_id: int
    user_id: int | None
    """Whose budget it takes; None: that of the space's owner."""
    previous: EarlierSummary | None
    messages: tuple[SourceMessage, ...]
    """The messages since, oldest first."""
