"""Messages on their way to a chat, as the outbox holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
