"""The objects of a Telegram server: users, chats, topics, messages, files, requests."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

TEST_TOKEN = "12345:AAF_stand-in_7nQxW0vTgKe2LrYbZ9mPsD4"


class ApiError(Exception):
    """A refusal in the Bot API's words."""

    def __init__(self, code: int, description: str, **parameters: Any) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters

    def body(self) -> Json:
        """The JSON body of the refusal."""
        body: Json = {"ok": False, "error_code": self.code, "description": self.description}
        if self.parameters:
            body["parameters"] = self.parameters
        return body


def bad_request(reason: str) -> ApiError:
    """A 400 with Telegram's usual prefix."""
    return ApiError(400, f"Bad Request: {reason}")


@dataclass(slots=True)
class User:
    """A person or a bot."""

    id: int
    first_name: str
    username: str | None = None
    last_name: str | None = None
    language_code: str | None = "en"
    is_bot: bool = False
    blocked_bot: bool = False
    refuses_voice: bool = False
    """Their privacy settings refuse voice messages from everybody."""

    def json(self) -> Json:
        """The User object as the API sends it."""
        result: Json = {"id": self.id, "is_bot": self.is_bot, "first_name": self.first_name}
        for name in ("last_name", "username", "language_code"):
            if (value := getattr(self, name)) is not None:
                result[name] = value
        return result


@dataclass(slots=True)
class Topic:
    """A forum topic, or a topic of a private chat."""

    id: int
    name: str
    closed: bool = False
    deleted: bool = False


@dataclass(slots=True)
class Chat:
    """A chat with its members, topics and messages. ``members`` maps user ids to a status."""

    id: int
    type: str
    title: str | None = None
    user: User | None = None
    username: str | None = None
    forum: bool = False
    members: dict[int, str] = field(default_factory=dict)
    topics: dict[int, Topic] = field(default_factory=dict)
    messages: dict[int, StoredMessage] = field(default_factory=dict)
    drafts: dict[tuple[int | None, int], Json] = field(default_factory=dict)
    pinned: list[int] = field(default_factory=list)
    migrated_to: int | None = None
    last_message_id: int = 0
    description: str | None = None
    muted: bool = False
    """Only administrators may write."""
    linked_chat_id: int | None = None
    """The channel of a discussion group. Commenters needn't be members."""
    community: Json | None = None
    """The community of a group. Its members can read the group without joining it."""

    @property
    def private(self) -> bool:
        """Whether this is a one-to-one chat with the bot."""
        return self.type == "private"

    def json(self) -> Json:
        """The Chat object as the API sends it inside messages."""
        result: Json = {"id": self.id, "type": self.type}
        if self.user is not None:
            for name in ("first_name", "last_name", "username"):
                if (value := getattr(self.user, name)) is not None:
                    result[name] = value
            return result
        result["title"] = self.title
        if self.username:
            result["username"] = self.username
        if self.forum:
            result["is_forum"] = True
        return result


@dataclass(slots=True)
class StoredMessage:
    """A message as the chat shows it now. ``raw`` is the API object; an edit replaces it."""

    raw: Json
    chat_id: int
    topic_id: int | None
    user_id: int
    from_bot: bool
    silent: bool = False
    deleted: bool = False
    at: float = field(default_factory=time.monotonic)
    edited_at: float | None = None
    history: list[str] = field(default_factory=list)
    reactions: dict[int, list[Json]] = field(default_factory=dict)

    @property
    def message_id(self) -> int:
        """The id within the chat."""
        return int(self.raw["message_id"])

    @property
    def text(self) -> str:
        """The current text, or the caption of media."""
        return str(self.raw.get("text", self.raw.get("caption", "")))

    @property
    def entities(self) -> list[Json]:
        """The entities of the current text or caption."""
        return list(self.raw.get("entities") or self.raw.get("caption_entities") or [])

    @property
    def reply_markup(self) -> Json | None:
        """The inline keyboard, if any."""
        return self.raw.get("reply_markup")

    @property
    def reply_to(self) -> int | None:
        """The id of the message this one replies to, if any. A message in a forum topic isn't by itself a reply."""
        target = self.raw.get("reply_to_message") or {}
        return None if "forum_topic_created" in target else target.get("message_id")

    @property
    def buttons(self) -> dict[str, str]:
        """Callback data of the inline buttons by label."""
        rows = (self.reply_markup or {}).get("inline_keyboard", [])
        return {button["text"]: button.get("callback_data", "") for row in rows for button in row}

    def json(self) -> Json:
        """A flat description for the control surface."""
        return {
            "message_id": self.message_id,
            "chat_id": self.chat_id,
            "topic_id": self.topic_id,
            "user_id": self.user_id,
            "from_bot": self.from_bot,
            "silent": self.silent,
            "deleted": self.deleted,
            "at": self.at,
            "edited_at": self.edited_at,
            "text": self.text,
            "history": self.history,
            "raw": self.raw,
        }


@dataclass(slots=True)
class Upload:
    """A file to attach. ``size`` overrides the size that Telegram reports (bytes)."""

    data: bytes = b"\x00"
    name: str = "file.bin"
    mime_type: str | None = None
    duration: int = 1
    size: int | None = None
    thumbnail: bytes | None = None
    """The picture from which Telegram makes the file's thumbnail."""


@dataclass(slots=True)
class StoredFile:
    """A file on the server, found by ``id`` and downloaded at ``path``."""

    id: str
    unique_id: str
    path: str
    upload: Upload

    def json(self) -> Json:
        """The fields that all file objects share."""
        size = len(self.upload.data) if self.upload.size is None else self.upload.size
        return {"file_id": self.id, "file_unique_id": self.unique_id, "file_size": size}


@dataclass(slots=True)
class Record:
    """One request. ``outcome`` is ``pending``, ``ok``, a refusal's description, or a fault's kind."""

    number: int
    method: str
    params: Json
    at: float
    outcome: str = "pending"
    code: int = 0
    result: Any = None
    fault: str | None = None
    finished_at: float | None = None

    @property
    def ok(self) -> bool:
        """Whether the method was executed, whatever answer the client got."""
        return self.outcome == "ok"

    def json(self) -> Json:
        """The record for the control surface, without the result."""
        names = ("number", "method", "params", "at", "outcome", "code", "fault", "finished_at")
        return {name: getattr(self, name) for name in names}
