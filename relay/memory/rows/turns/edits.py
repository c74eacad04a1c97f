"""The results of editing, correcting or reacting to messages that were already answered."""

from __future__ import annotations

from relay.core.frozen import frozen
from relay.core.models import Block, Button
from relay.memory.rows.changes import MemoryChange


@frozen
class ShownAnswer:
    """The last text message of an answer, as the chat shows it."""

    turn_id: int
    chat_id: int
    message_id: int
    """The message's id in Telegram."""
    rows: tuple[tuple[Button, ...], ...]
    """Its buttons when it was sent."""
    changes: tuple[MemoryChange, ...]
    """What its turn changed in memory."""
    keeps: bool = False
    """It has a ◆ that proposes to keep it."""


@frozen
class MarkedMessage:
    """An edited message that has markers, or had some."""

    message_id: int
    wording: int
    """How many earlier wordings the message has."""
    blocks: list[Block]


@frozen
class EditResult:
    """The result of an edit."""

    busy: bool = False
    """The unedited message is being answered, so the edit has not been stored yet."""
    offer: ShownAnswer | None = None
    """The answer at which a new answer can be offered; None: nowhere."""
    marked: MarkedMessage | None = None
    """The message as it is now, if its markers are to be read; None: it has none and had none."""


@frozen
class Correction:
    """A turn whose recording got another wording."""

    turn_id: int
    last: bool
    """Nothing was said since."""
    answered: int | None
    """The turn whose answer to it is the current one."""
    marked: MarkedMessage | None = None
    """See `EditResult`."""


@frozen
class RetryState:
    """A turn's state for a person who wants its message answered again."""

    asked: bool
    """The person wrote that message."""
    stands: bool
    """No later turn has answered it."""
    last: bool
    """Nothing was said after it."""
