"""Reminders: in lists, opened, and as a job delivers them."""

from __future__ import annotations

import re
from dataclasses import field
from datetime import datetime, tzinfo
from html import unescape
from typing import Literal
from zoneinfo import ZoneInfo

from relay.core.frozen import as_json, frozen
from relay.core.models import Space
from relay.memory.rows.proactive.rule_words import say_rule

ReminderKind = Literal["say", "ask", "check"]
MENTION = re.compile(r"\[([^\]]*)\]\(tg://user\?id=\d+\)")
"""A link that mentions a person."""


@frozen(kw_only=True)
class Reminder:
    """A reminder."""

    id: int
    kind: ReminderKind
    """say: sends its text. ask: sends its text, again until it's answered. check: lets the model look first."""
    text: str
    zone: str
    """An IANA name. Times of the rule are local to it."""
    start_at: datetime
    """The only time, or the first; local, without a zone."""
    rule: str
    """An RRULE; empty: it happens once."""
    next_at: datetime | None
    """When it is due next; None: it is over."""
    status: Literal["proposed", "active", "paused", "ended", "deleted"]
    """proposed: it waits for a tap."""
    user_id: int
    chat_id: int
    topic_id: int
    space_id: int
    created_at: datetime
    occurrence: datetime | None = None
    """The occurrence that a repeated question is about, or the time to which one was postponed; None: there
    is neither."""
    repeat_minutes: int | None = None
    """After how many minutes an `ask` is repeated."""
    asked: int = 0
    repeats: str = field(init=False, compare=False)
    """The rule in words; empty: it happens once."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "repeats", say_rule(self.rule, self.start_at))

    @property
    def tzinfo(self) -> tzinfo:
        return ZoneInfo(self.zone)


@frozen
class ReminderPage:
    """A page of the open reminders, the nearest first, with their total."""

    total: int
    reminders: tuple[Reminder, ...]
    quiet_until: datetime | None = None
    """No message is sent unasked before this time; year 9999: until the person ends it."""


@frozen
class Unasked:
    """What an unasked message came from."""

    by: str
    """reminder, heartbeat, digest or growth."""
    reminders: tuple[Reminder, ...]


@frozen
class ReminderEvent:
    """Something that happened to a reminder."""

    kind: Literal[
        "made", "changed", "fired", "snoozed", "done", "missed", "failed", "looked", "paused", "resumed", "deleted",
        "restored",
    ]  # fmt: skip
    at: datetime
    occurrence: datetime | None = None
    sent: bool = False
    """Telegram has accepted its message and returned an id."""
    failed: bool = False
    """Telegram refused its message."""
    detail: str | None = None
    """Why a check sent nothing."""


@frozen(kw_only=True)
class OpenedReminder(Reminder):
    """A reminder with what happened to it, latest first."""

    events: tuple[ReminderEvent, ...] = ()


@frozen(kw_only=True)
class DueReminder(Reminder):
    """A reminder that a job delivers."""

    space: Space
    answered: bool = False
    """The question was answered since it was first asked."""
    tainted: bool = False
    """Its text rests on others' words."""
    name: str = ""
    """In a group, the name of the person who asked for it."""


@frozen
class Checked:
    """The result of a check."""

    text: str
    """The message to send; empty: none."""
    why: str = ""
    """Why nothing is sent."""
    again: datetime | None = None
    """When to check again, because the model couldn't be asked."""
    tainted: bool = False
    """What it read contained others' words."""


@frozen
class ReminderWork:
    """The reminders that are due in a chat."""

    now: datetime
    told: int
    """How many messages with reminders were sent here in the last hour."""
    reminders: tuple[DueReminder, ...]


@frozen
class MovedOn:
    """A reminder's next state."""

    id: int
    due_at: datetime
    """When it was due, as the job read it."""
    event: str
    next_at: datetime | None
    occurrence: datetime | None = None
    asked: int = 0
    status: str = "active"
    detail: str | None = None
    """Why nothing was sent."""
    proposed: bool = False
    """It was still waiting for a tap."""


@frozen
class ReminderMessage:
    """A message that delivers reminders; without a text, they only move on to their next time."""

    text: str
    """The text, in Markdown."""
    moved: tuple[MovedOn, ...]
    tainted: bool = False
    """The text rests on others' words."""

    def as_json(self) -> dict[str, object]:
        ids = [one.id for one in self.moved]
        payload = {"text": self.text, "plain": unescape(MENTION.sub(r"\1", self.text)), "sound": True, "reminders": ids}
        return {
            "payload": payload if self.text else None,
            "tainted": self.tainted,
            "key": f"reminder {ids[0]} {self.moved[0].due_at.isoformat()}",
            "reminders": as_json(self.moved),
        }


@frozen(kw_only=True)
class NewReminder:
    """A reminder to make."""

    space: Space
    bot_id: int
    chat_id: int
    topic_id: int
    user_id: int
    text: str
    zone: str
    start_at: datetime
    """The first time; local, without a zone."""
    next_at: datetime
    rule: str = ""
    kind: ReminderKind = "say"
    repeat_minutes: int | None = None
    origin: str = "command"
    turn_id: int | None = None
    memory_id: int | None = None
    """The goal or event that the reminder is for."""
    proposed: bool = False
    """It waits for a tap."""


@frozen
class ShownIntent:
    """A standing intent that applies now: what a person asked to be reminded of when they mention something."""

    id: int
    about: str
    text: str
    last: bool = False
    """It ends now: it was shown as often as it may be."""


@frozen
class Intent:
    """A standing intent: what a person asked to be reminded of when they mention something."""

    id: int
    about: str
    """The words that must be mentioned."""
    text: str
    status: Literal["proposed", "active", "ended", "deleted"]
    used: int
    most: int
    """It ends after it was shown this often."""
    cooldown_hours: int
    """How long it rests after it was shown."""
    expires_at: datetime
    user_id: int


@frozen
class FormerDate:
    """The former date of a goal or event, with the reminder that was set for it."""

    reminder_id: int
    user_id: int
    next_at: datetime
    at: datetime | None
    exact: bool = False


@frozen
class DatedMemory:
    """A future goal or event."""

    id: int
    content: str
    at: datetime
    """See `MemoryChange.happens_at`."""
    exact: bool = False
    """Its time of day is known."""
    was: FormerDate | None = None
