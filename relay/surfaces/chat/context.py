"""The input of a chat handler: the command's context and the message."""

from __future__ import annotations

from relay.commands.context import CommandContext
from relay.core.frozen import frozen
from relay.core.models import Rows
from relay.core.ports import Messenger


@frozen
class Document:
    """A file in a message, not downloaded yet."""

    file_id: str
    name: str
    mime: str
    size: int


@frozen
class RepliedMessage:
    """The message that this one replies to."""

    message_id: int
    text: str
    """Its text or caption."""
    author_id: int | None
    sent_at: int
    """Unix time; 0: unknown."""
    document: Document | None = None


@frozen
class CommandMessage:
    """The message with the command, or the one above the button."""

    message_id: int = 0
    text: str = ""
    """The whole text, command included."""
    sent_at: int = 0
    """Unix time; 0: unknown."""
    document: Document | None = None
    quote: str = ""
    """The selected part of the message that this one replies to."""
    replied: RepliedMessage | None = None
    rows: Rows = ()
    """The rows of buttons under it."""
    forum: bool = False
    """Whether its chat is a forum."""
    chat_title: str = ""

    @property
    def buttons(self) -> tuple[str, ...]:
        """The data of the buttons under it."""
        return tuple(one.callback_data for row in self.rows for one in row)


NOTHING_SAID = CommandMessage()


@frozen
class ChatContext(CommandContext):
    """A command's context in a chat, in Telegram or at a terminal."""

    text: str
    """The text after the command; in the reply to a question, the whole text."""
    messenger: Messenger
    """The chat's server, which knows about people and files."""
    said: CommandMessage = NOTHING_SAID
    """The message with the command, or the one above the button."""

    @property
    def replied_id(self) -> int:
        """The id of the message that this one replies to; 0: none."""
        return self.said.replied.message_id if self.said.replied else 0
