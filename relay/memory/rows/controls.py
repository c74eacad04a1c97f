"""Memory switches."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Controls:
    """The switches of a space's memory and of one thread."""

    memory: str
    """on or off."""
    remembers: bool
    """It is on and not paused."""
    recalls: bool
    """The thread uses it."""
    teaches: bool
    """The thread adds to it."""
    private: bool
    """The thread's conversation is off the record."""
    memories: int
    pending: int
    """Changes that wait for a tap."""
    paused_until: datetime | None = None
    space_id: int | None = None
    """None: nothing was ever said in that space."""


@dataclass(frozen=True, slots=True)
class DecidedWaiting:
    """The result of deciding all pending changes."""

    decided: int
    pending: int
    """How many still wait."""


@dataclass(frozen=True, slots=True)
class OffRecord:
    """Whether a thread's conversation is off the record."""

    private: bool
    was: bool = False
    """Whether it was before."""
    refused: bool = False
    """This person may not begin or end it."""
