"""What models were used for."""

from __future__ import annotations

from relay.core.frozen import frozen
from relay.core.models import Space
from relay.core.spending.prices import ModelUse


@frozen
class DailyUse(ModelUse):
    """What one kind of work used of one model on one day."""

    day: int
    """The number of the day, from 1, the first that was requested; 0: all days."""
    what: str
    """The kind of work: answer, summary, title …"""
    times: int
    """How many results it produced."""


@frozen
class SaidAnswer:
    """An answer, and the space in which it was given."""

    text: str
    space: Space


@frozen
class ToolCall:
    """A tool call of an answer, with its input and result."""

    turn_id: int
    space: Space
    nr: int
    """The number of the call, from 1."""
    total: int
    """How many tools the answer called."""
    name: str | None
    input: str | None
    """The beginning of the input as JSON, at most 600 characters."""
    result: str | None
    """The beginning of the result, at most 2,000 characters."""
    length: int
    """The length of the whole result in characters."""
    failed: bool
