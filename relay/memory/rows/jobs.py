"""Jobs: claimed ones, their state, and a summary's input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.core.frozen import frozen
from relay.memory.rows.upkeep.writing import MarkedPassage, ShownSummary, SourceMessage


@frozen
class ClaimedJob:
    """A claimed job, with the fence that ends it."""

    id: int
    kind: str
    key: str
    """Identifies the job among owed jobs of its kind."""
    payload: Mapping[str, Any]
    fence: int
    failures: int
    """How often it has failed so far."""


@frozen
class OwedJob:
    """An unfinished job."""

    failures: int
    last_error: str | None
    parked: bool
    """It failed for good and is not retried."""


@frozen
class SummaryWork:
    """The input of a summary."""

    thread_id: int
    space_id: int
    user_id: int | None
    """The person whose budget pays; None: the space owner's."""
    previous: ShownSummary | None
    messages: tuple[SourceMessage, ...]
    """The messages since the previous summary, oldest first."""
    markers: tuple[MarkedPassage, ...] = ()
    """The marked passages that survive in the summary, the most important first."""
