"""Messages on their way to a chat, as the outbox holds them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from relay.core.frozen import frozen
from relay.core.models import Button, Rows
from relay.memory.rows.changes import MemoryChange
from relay.memory.rows.contexts.composition import Composition
from relay.memory.rows.contexts.versions import Version
from relay.memory.rows.proactive.reminders import Reminder
from relay.memory.rows.turns.answer import Answer
from relay.memory.rows.turns.preferences import Preference

Request = dict[str, Any]
"""A stored Bot API request: `chat_id` and its method's other parameters. The method is `sendMessage` if it has a
`text`; files, voice notes and exports name theirs and are produced when they are sent."""


@frozen
class Part:
    """One Telegram message of a reply, to be stored."""

    seq: int
    """Its place in the reply."""
    chat_id: int
    request: Request
    second: bool = False
    """It shows the second of two answers."""


@frozen(kw_only=True)
class StoredPart(Part):
    """A stored part."""

    id: int
    status: str
    """queued, waiting, sending, preview, sent or failed."""
    sending_text: str | None = None
    """The text (or file name) being sent, until its response arrives."""
    floor_message_id: int | None = None
    """If it is in the chat, its id is higher than this."""
    telegram_message_id: int | None = None
    uncertain: bool = False
    """It may be in the chat: a previous process was sending it."""

    def make_failed(self, error: str) -> PartResult:
        """Returns the result of a part that can't be sent."""
        return PartResult(self.seq, "failed", error=error)


@frozen
class PartResult:
    """The result of a part, as `relay_sent` takes it."""

    seq: int
    status: str
    telegram_message_id: int | None = None
    error: str | None = None


@frozen
class Delivered:
    """The result of a reply."""

    more: bool
    """There is more to do."""
    owed: tuple[str, ...]
    """The kinds of jobs with due work."""
    refused: str = ""
    """Why Telegram doesn't accept a part although the chat exists; empty if all is well."""


@frozen
class RecordedIds:
    """Which message ids of a chat are recorded."""

    known: frozenset[int]
    """Recorded ids above the floor."""
    highest: int
    near: tuple[int, ...]
    """Unrecorded ids near those of the chat itself."""


@frozen(kw_only=True)
class Message:
    """A message for a chat that answers no update, to be queued."""

    chat_id: int
    text: str
    """The text, in Markdown."""
    user_id: int
    """The recipient. The message is sent only while they may use the bot."""
    topic_id: int = 0
    rows: Rows = ()
    """Buttons."""
    sound: bool = False
    reply_to: int | None = None
    """The id of the Telegram message that it replies to."""
    key: str | None = None
    """A message is queued only once per key."""
    not_before: datetime | None = None

    def as_json(self) -> Request:
        """Returns the JSON that `relay_enqueue` takes."""
        return {
            "chat_id": self.chat_id,
            "topic_id": self.topic_id,
            "user_id": self.user_id,
            "payload": {
                "text": self.text,
                "rows": [[button.as_json() for button in row] for row in self.rows],
                "sound": self.sound,
                "reply_to": self.reply_to,
            },
            "key": self.key,
            "not_before": self.not_before and self.not_before.isoformat(),
        }


@frozen
class QueuedMessage:
    """A queued message that is due."""

    chat_id: int
    topic_id: int
    under_turn_id: int | None = None
    """The turn whose learned memories are announced under its answer; the message then has no text."""
    corrects: bool = False
    """The line under the messages of that turn is corrected instead; nothing is sent."""
    text: str = ""
    rows: tuple[tuple[Button, ...], ...] = ()
    consolidation_id: int | None = None
    """The message asks whether to apply this plan of a night."""
    idea_id: int | None = None
    """The message proposes this change of the soul."""
    reminders: tuple[int, ...] = ()
    """The ids of the reminders that the message delivers."""
    composition: Composition | None = None
    """The message reports on this composition, which somebody waits for."""
    version: Version | None = None
    """The same of a version."""
    names_after: int | None = None
    """The topic is named after this session instead; nothing is sent."""
    topic_name: str | None = None
    """Its name; None: the person has named it, or the title is gone."""
    dropped_version: int | None = None
    """The message says that the night dropped this version, and possibly others."""
    sound: bool = False
    reply_to: int | None = None


@frozen
class AnnouncedAnswer:
    """The message of an answer that gets an announcement."""

    seq: int
    message_id: int
    request: Request


@frozen
class Announcement:
    """What was learned from a turn after its answer was sent."""

    turn_id: int
    tells: tuple[int, ...]
    """The ids of the changes to announce."""
    changes: tuple[MemoryChange, ...]
    """All changes of the turn."""
    told: Answer | None
    """The answer; None after an erasure."""
    keeps: bool
    """The answer has a button that keeps it."""
    chat_id: int
    topic_id: int
    private: bool
    owner_id: int | None
    """The owner of the memory; None: it is a group's."""
    shown: AnnouncedAnswer | None
    """None: the answer's message is gone."""
    before: Request | None
    """The answer's message as first sent."""


@frozen
class ShownMessage:
    """A message in a chat, as it is recorded."""

    chat_id: int
    message_id: int
    request: Request


@frozen(kw_only=True)
class ToldReminder(Reminder):
    """A reminder of which an answer told."""

    said: tuple[str, ...]
    """The texts that it had then and since."""


@frozen
class ShownChanges:
    """What has become of what a turn changed and set, and the messages that tell of it."""

    turn_id: int
    owner_id: int | None
    """The owner of the memory; None: it is a group's."""
    changes: tuple[MemoryChange, ...]
    messages: tuple[ShownMessage, ...]
    reminders: tuple[ToldReminder, ...] = ()
    answered: tuple[int, ...] = ()
    """The ids of the questions that the messages asked and that were answered since."""
    kept: tuple[Decimal, ...] | None = None
    """The weights of the message's markers; None: the answer told of none."""
    preferences: tuple[Preference, ...] | None = None
    """The preferences that the answer told of and that are still in effect; None: it told of none."""
