"""What comes of messages that people edit, correct or react to after they were answered."""

from __future__ import annotations

from dataclasses import dataclass

from relay.core.models import Button
from relay.memory.rows.changes import MemoryChange


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """The last message of text of an answer, as the chat shows it."""

    turn_id: int
    chat_id: int
    message_id: int
    """Telegram's."""
    rows: tuple[tuple[Button, ...], ...]
    """Its buttons when it was sent."""
    changes: tuple[MemoryChange, ...]
    """What its turn changed in memory."""
    keeps: bool = False
    """It has a ◆ that proposes to keep it."""


@dataclass(frozen=True, slots=True)
class EditResult:
    """What came of an edit."""

    busy: bool = False
    """The message is being answered as it was: the edit is not taken yet."""
    offer: ShownAnswer | None = None
    """Where a new answer can be offered; None: nowhere."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A turn whose recording was given another wording."""

    turn_id: int
    last: bool
    """Nothing was said since."""
    answered: int | None
    """The turn whose answer to it stands."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a turn stands to somebody who wants its message answered again."""

    asked: bool
    """They said it."""
    stands: bool
    """No later turn has answered it."""
    last: bool
    """Nothing was said after it."""
