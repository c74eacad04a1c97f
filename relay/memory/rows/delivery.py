"""Messages on their way to a chat, as the outbox holds them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from relay.core.models import Button, Rows
from relay.memory.rows.changes import MemoryChange
from relay.memory.rows.turns.answer import Answer

Request = dict[str, Any]
"""A Bot API request as it is stored: `chat_id` and the other parameters of its method. That is `sendMessage` where
it has a `text`; files, voice notes and exports name theirs, and are made when they are sent."""


@dataclass(frozen=True, slots=True)
class Part:
    """One Telegram message of a reply, to be stored."""

    seq: int
    """Its place in the reply."""
    chat_id: int
    request: Request


@dataclass(frozen=True, slots=True)
class StoredPart(Part):
    """One that is stored."""

    id: int
    status: str
    """queued, waiting, sending, preview, sent or failed."""
    sending_text: str | None = None
    """The text (or the file's name) that it is sent with, while its response may be lost."""
    floor_message_id: int | None = None
    """It is in the chat under a higher id than this one, if it is."""
    telegram_message_id: int | None = None
    uncertain: bool = False
    """It may be in the chat: a predecessor was sending it."""

    def failed(self, error: str) -> PartResult:
        """That it will not be sent."""
        return PartResult(self.seq, "failed", error=error)


@dataclass(frozen=True, slots=True)
class PartResult:
    """What became of a part, as `relay_sent` takes it."""

    seq: int
    status: str
    telegram_message_id: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Delivered:
    """What became of a reply."""

    more: bool
    """There is more to do."""
    owed: tuple[str, ...]
    """The jobs that have something to do."""
    refused: str = ""
    """Why Telegram does not take a part, though the chat is there. Empty when all is well."""


@dataclass(frozen=True, slots=True)
class KnownIds:
    """Which message ids of a chat are recorded."""

    known: frozenset[int]
    """Those above the floor."""
    highest: int
    near: tuple[int, ...]
    """Unrecorded ones near those of the chat itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Something to say in a chat that no update asked for, to be queued."""

    chat_id: int
    text: str
    """Markdown."""
    user_id: int
    """Whom it is for: it is said while they may use the bot."""
    topic_id: int = 0
    rows: Rows = ()
    """Buttons."""
    sound: bool = False
    reply_to: int | None = None
    """A Telegram message."""
    key: str | None = None
    """It is queued once by this key."""
    not_before: datetime | None = None

    def as_json(self) -> Request:
        """As `relay_enqueue` takes it."""
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


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A queued message whose turn has come."""

    chat_id: int
    topic_id: int
    under_turn_id: int | None = None
    """What was learned from this turn is to be told under its answer; then it has no text of its own."""
    text: str = ""
    rows: tuple[tuple[Button, ...], ...] = ()
    consolidation_id: int | None = None
    """It asks whether what a night found is to be done."""
    sound: bool = False
    reply_to: int | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """The message of an answer under which something is told."""

    seq: int
    message_id: int
    request: Request


@dataclass(frozen=True, slots=True)
class Announcement:
    """What was learned from a turn after its answer was sent."""

    turn_id: int
    tells: tuple[int, ...]
    """The changes that are told."""
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
    """Whose own memory it is; None: a group's."""
    shown: Shown | None
    """None: the answer's message is not there any more."""
    before: Request | None
    """That message as it was first sent."""
