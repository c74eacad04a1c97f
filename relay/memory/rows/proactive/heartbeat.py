"""The heartbeat, the morning digest, and the gates of every message that is sent unasked."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, tzinfo
from html import unescape
from zoneinfo import ZoneInfo

from relay.core.frozen import frozen
from relay.core.spending.charge import ChargedUse
from relay.memory.rows.proactive.reminders import Reminder
from relay.memory.rows.upkeep.digest import DayMessage, DigestDay, DigestPlace


@frozen
class GateState:
    """What the gates need to know of a person."""

    now: datetime
    said_at: datetime | None
    """When they last wrote."""
    answering: bool
    """An answer is being written to them."""
    quiet_until: datetime | None
    spent: tuple[ChargedUse, ...]
    """Today's use of models by proactive work."""


@frozen(kw_only=True)
class Heartbeat:
    """A check every few hours of what has changed."""

    space_id: int
    user_id: int
    bot_id: int
    chat_id: int
    topic_id: int
    every_hours: int
    from_hour: int
    to_hour: int
    """The hour at which checks end, in local time like `from_hour`."""
    zone: str
    checklist: str
    status: str
    """on or off."""
    next_at: datetime
    looked_at: datetime | None = None
    """Up to when it has read."""
    outcome: str = ""
    """The result of the last check, or why it read nothing."""

    @property
    def tzinfo(self) -> tzinfo:
        return ZoneInfo(self.zone)


@frozen
class HeartbeatWork:
    """What a check reads."""

    heartbeat: Heartbeat
    messages: tuple[DayMessage, ...]
    """What the person said since the last check."""
    learned: tuple[str, ...]
    reminders: tuple[Reminder, ...]
    """New reminders that are due within a day."""
    through_message: int
    through_reminder: int
    tainted: bool
    """It contains others' words."""

    @property
    def changed(self) -> bool:
        """Tells whether there is anything new to check."""
        return bool(self.messages or self.learned or self.reminders)


@frozen
class Looked:
    """The result of a check."""

    outcome: str
    next_at: datetime
    text: str = ""
    """The message to send, in Markdown; empty: none."""
    through_message: int | None = None
    """The last message that was read; None: the new ones were not read."""
    through_reminder: int | None = None
    tainted: bool = False
    """The text rests on others' words."""

    def as_json(self) -> dict[str, object]:
        said = {"text": self.text or None, "plain": unescape(self.text)}
        return {**asdict(self), **said, "next_at": self.next_at.isoformat()}


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
