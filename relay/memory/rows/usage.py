"""What models were used for."""

from __future__ import annotations

from dataclasses import dataclass

from relay.core.models import Space
from relay.core.prices import ModelUse


@dataclass(frozen=True, slots=True)
class DailyUse(ModelUse):
    """What one kind of work used of one model on one day."""

    day: int
    """1 is the first day that was asked for; 0: all days."""
    what: str
    """The kind of work: answer, summary, title …"""
    times: int
    """How many results came of it."""


@dataclass(frozen=True, slots=True)
class SaidAnswer:
    """An answer, and in which space it was given."""

    text: str
    space: Space


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool that an answer called, with what it was given and what it returned."""

    turn_id: int
    space: Space
    nr: int
    """Starts at 1."""
    total: int
    """How many tools the answer called."""
    name: str | None
    input: str | None
    """JSON, at most 600 characters of it."""
    result: str | None
    """At most 2,000 characters."""
    length: int
    """Characters of the whole result."""
    failed: bool
