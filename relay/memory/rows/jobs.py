"""Jobs: claimed ones, their state, and a summary's input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.core.frozen import frozen
from relay.memory.rows.upkeep.writing import SummarySource


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


@frozen(kw_only=True)
class SummaryWork(SummarySource):
    """The input of a summary that is due."""

    user_id: int | None
    """The person whose budget pays; None: the space owner's."""
