"""The job that writes titles of sessions and names topics after them."""

from __future__ import annotations

from functools import partial

from relay.jobs.kinds import JobKind, Retry
from relay.memory.writing.titles import Titler, name_session


def title_kind(titler: Titler) -> JobKind:
    """Returns the kind for titles."""
    return JobKind(
        "title", partial(name_session, titler), timeout=120, retry=Retry(most=6), at_once=4, gate=titler.gate
    )
