"""Rows for calendar subscriptions and open pages."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from relay.core.frozen import frozen
from relay.core.models import Space


@frozen
class CalendarToken:
    """The token in the address of a person's calendar."""

    created_at: datetime
    used_at: datetime | None = None


@frozen
class Marks:
    """A text for each subject of a space, which changes when something of the subject does."""

    space: Space
    memory: str
    version: str
    composition: str
    reminder: str
    preference: str

    def changed_since(self, before: Marks) -> list[str]:
        """Returns the subjects that have changed."""
        was = asdict(before)
        return [subject for subject, mark in asdict(self).items() if mark != was[subject]]
