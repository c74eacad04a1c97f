"""What a chat handler is given: the command's context, and the message that asks."""

from __future__ import annotations

from dataclasses import dataclass

from relay.commands.context import CommandContext
from relay.core.models import Rows
from relay.core.ports import Messenger


@dataclass(frozen=True, slots=True)
class Document:
    """A file in a message, not downloaded yet."""

    file_id: str
    name: str
    mime: str
    size: int


@dataclass(frozen=True, slots=True)
class RepliedMessage:
    """The message that is replied to."""

    message_id: int
    text: str
    """Its text or caption; empty: there is none."""
    author_id: int | None
    sent_at: int
    """Unix time; 0: unknown."""
    document: Document | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """The message that asks, or the one under which the button hangs."""

    message_id: int = 0
    text: str = ""
    """All of it, with the command."""
    sent_at: int = 0
    """Unix time; 0: unknown."""
    document: Document | None = None
    quote: str = ""
    """The part of another message that was selected to reply to."""
    replied: RepliedMessage | None = None
    rows: Rows = ()
    """The rows of buttons under it."""
    forum: bool = False
    """Its chat is a forum."""
    chat_title: str = ""

    @property
    def buttons(self) -> tuple[str, ...]:
        """The data of the buttons under it."""
        return tuple(one.callback_data for row in self.rows for one in row)


NOTHING_SAID = Said()


@dataclass(frozen=True, slots=True)
class ChatContext(CommandContext):
    """A command's context in a chat, in Telegram or at a terminal."""

    text: str
    """What follows the command; of the answer to a question, all of it."""
    messenger: Messenger
    """The chat's server, to be asked about people and files."""
    said: Said = NOTHING_SAID
    """The message that asks, or under which the button hangs."""
