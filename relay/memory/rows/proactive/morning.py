"""The digest in the morning, with what is due."""

from __future__ import annotations

from datetime import datetime

from relay.core.frozen import frozen
from relay.memory.rows.proactive.reminders import Reminder
from relay.memory.rows.upkeep.digest import DigestDay, DigestPlace


@frozen
class MorningWork:
    """What a morning digest is made from."""

    now: datetime
    quiet: bool
    """No message may be sent now."""
    digest: DigestPlace
    day: DigestDay
    reminders: tuple[Reminder, ...]
    """Reminders that are due within a day."""
    through_message: int
