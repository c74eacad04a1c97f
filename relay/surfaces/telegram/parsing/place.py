"""Where a message belongs: the chat, the topic, and the message that it replies to."""

from __future__ import annotations

from relay.core.frozen import frozen
from relay.memory.rows.delivery import Request


@frozen
class Place:
    """A chat and topic (0: none), and the Telegram message to reply to, if any."""

    chat_id: int
    topic_id: int
    private: bool
    reply_to: int | None = None
    comment: bool = False
    """Whether the message to reply to is a comment on a channel's post. Only replies appear among the comments."""

    def address(self) -> Request:
        """Returns `chat_id` and, in a topic, `message_thread_id` for the Bot API. General has no thread id."""
        general = 0 if self.private else 1
        if self.topic_id > general:
            return {"chat_id": self.chat_id, "message_thread_id": self.topic_id}
        return {"chat_id": self.chat_id}

    def reply(self, part: int = 1) -> Request:
        """Returns the reply parameters of a part of an answer. Only the first part replies; to a comment, each does.
        Empty if there is no message to reply to. It may have been deleted."""
        # 0: a message of a group that has become another chat
        if not self.reply_to or (part > 1 and not self.comment):
            return {}
        return {"reply_parameters": {"message_id": self.reply_to, "allow_sending_without_reply": True}}
