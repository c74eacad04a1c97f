"""Memory switches."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from relay.core.frozen import frozen


@frozen
class Controls:
    """The switches of a space's memory and of one thread."""

    memory: Literal["on", "off"]
    remembers: bool
    """The space's memory is on and not paused."""
    recalls: bool
    """The thread's answers use memory."""
    teaches: bool
    """The thread adds to memory."""
    private: bool
    """The thread's conversation is off the record."""
    memories: int
    pending: int
    """How many changes wait for a tap."""
    paused_until: datetime | None = None
    space_id: int | None = None
    """None: nothing was ever said in that space."""
    preferences_on: bool = True
    """Answers follow preferences, unless these are paused."""
    preferences_paused_until: datetime | None = None


@frozen
class DecidedWaiting:
    """The result of deciding all pending changes."""

    decided: int
    pending: int
    """How many changes still wait."""


@frozen
class OffRecord:
    """Whether a thread's conversation is off the record."""

    private: bool
    was: bool = False
    """Whether it was off the record before."""
    refused: bool = False
    """This person may not start or end it."""
