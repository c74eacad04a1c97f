"""Frozen values that pass between modules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO

Block = dict[str, Any]
"""A content block in Anthropic's shape. One that is stored may carry `untrusted` (its kind) and `from` (its author)."""
ModelMessage = dict[str, Any]
"""`{role, content: [Block]}`, as the Messages API takes it."""
ToolDefinition = dict[str, Any]
"""A tool as the Messages API takes it: `{name, description, input_schema}`, or a server tool's type and settings."""


@dataclass(frozen=True, slots=True)
class Space:
    """Whose memory it is: a person's (`owner_id`) or a group's (`chat_id`)."""

    kind: str
    owner_id: int | None = None
    chat_id: int | None = None

    def as_json(self) -> dict[str, object]:
        return {"kind": self.kind, "owner_id": self.owner_id, "chat_id": self.chat_id}


@dataclass(frozen=True, slots=True)
class Button:
    """A button under a message, under the names of the Bot API: it sends `callback_data` when it is pressed, or opens
    `url`."""

    text: str
    callback_data: str = ""
    url: str = ""

    def as_json(self) -> dict[str, str]:
        """As the Bot API takes it."""
        does = {"url": self.url} if self.url else {"callback_data": self.callback_data}
        return {"text": self.text, **does}


Rows = Sequence[Sequence[Button]]
"""Rows of buttons."""


@dataclass(frozen=True, slots=True)
class ReplyTo:
    """What a message is a reply to: as Telegram shows it, and the part that was quoted."""

    telegram_message_id: int
    text: str
    quote: str
    own: bool
    """Written by the same person or by the assistant."""
    by: str


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that somebody sent, as Telegram tells of it. Only the ids are to be relied on."""

    kind: str
    """voice, audio, video_note, video, photo, animation, sticker or document."""
    file_id: str
    unique_id: str
    """Stays the same for the same file, whoever sent it when; nothing can be downloaded by it."""
    name: str = ""
    mime: str = ""
    size: int = 0
    """Bytes; 0: not told."""
    seconds: int = 0
    width: int = 0
    height: int = 0
    preview: str = ""
    """The `file_id` of a small still picture that Telegram made of it; empty: there is none."""
    kept: bool = True
    """Whether a copy of it may be kept: not of what was sent off the record."""

    @classmethod
    def from_json(cls, row: Block) -> Attachment:
        return cls(**{key: row[key] for key in cls.__dataclass_fields__ if key in row})


@dataclass(frozen=True, slots=True)
class Heard:
    """What was said in a recording."""

    text: str
    language: str
    """ISO 639-1, as it was detected or set."""
    engine: str
    """The engine and its model."""
    seconds: float = 0.0
    """How long the recording is."""
    cut: bool = False
    """Only its first minutes were heard."""


@dataclass(frozen=True, slots=True)
class Sound:
    """Speech that was made: an MP3 file, or an OGG/Opus one that Telegram shows as a voice note."""

    content: bytes
    mime: str
    seconds: int = 0


@dataclass(frozen=True, slots=True)
class InputPart:
    """What one of several Telegram messages says that are one input."""

    text: str
    blocks: list[Block]
    sequel: bool
    """It only goes on with the part before."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """One user input, whatever it came as."""

    turn_id: int
    fence: int
    bot_id: int
    chat_id: int
    topic_id: int
    space: Space
    user_id: int
    name: str
    text: str
    blocks: list[Block]
    untrusted: bool
    telegram_message_ids: list[int]
    at: datetime
    reply_to: ReplyTo | None = None
    lent: Space | None = None
    """The speaker's own space, when they lent its memory to the group they speak in."""
    retry: bool = False
    """Answer an earlier message again: that of `retry_turn`, else the thread's last."""
    retry_turn: int | None = None
    web: bool = False
    """A tap allowed web tools for this turn though it is tainted."""
    replaces: bool = False
    """The new answer takes the old one's place in the chat, and what that taught is taken back."""
    brings_back: bool = False
    """No new answer is wanted, but the one whose place the present one took."""
    critique: str = ""
    """What was found wrong with the answer that is to be given again; empty: nothing was looked for."""
    parts: list[InputPart] = field(default_factory=list)
    """What each of several Telegram messages says that are one input."""
    model: str | None = None
    """The model that is to answer; None: the usual one."""
    documents: list[dict[str, Any]] = field(default_factory=list)
    """Texts of its files that are kept in parts: `{unique_id, name, mime, parts: [text]}`."""
    notices: tuple[str, ...] = ()
    """What of it could not be used, in sentences for the person who sent it."""
    spoken: bool = False
    """It came as a voice note or a video note of the speaker's own."""
    operator: bool = False
    """Somebody who runs Relay says it in private: they are told the cause of an error."""


@dataclass(frozen=True, slots=True)
class File:
    """Something to send that is no text: a document, or a picture (PNG)."""

    name: str
    content: bytes | BinaryIO
    """A file that is open is read from its beginning, a piece at a time."""
    picture: bool = False

    def whole(self) -> bytes:
        """All that it holds."""
        if isinstance(self.content, bytes):
            return self.content
        self.content.seek(0)
        return self.content.read()


@dataclass(frozen=True, slots=True)
class Export:
    """All that a space holds, to be sent as one file, which is packed when its turn has come."""

    name: str
    space: Space
    title: str
    zone: str
    """In whose days and hours it is written."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call of a model."""

    model: str
    system: list[Block]
    messages: list[ModelMessage]
    max_tokens: int
    tools: list[ToolDefinition] = field(default_factory=list)
    tool_choice: dict[str, object] | None = None
    """What it must do with them, in Anthropic's shape; None: as it likes. A server may not heed it."""
    used: dict[str, int] = field(default_factory=dict, compare=False)
    """Tokens and searches by kind, filled in as the model's server tells them; they stand also when it is cut off, and
    then what came out is at least about what was heard."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a model returned: content blocks in order, why it stopped, tokens by kind, and which model it was."""

    blocks: list[Block]
    stop_reason: str
    usage: dict[str, int]
    model: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's side of a turn, all steps of it."""

    steps: list[ModelMessage]
    """`{role, content}` messages in order: what the assistant said and called, and what tools returned."""
    text: str
    """All its text, tags included, as the model wrote it."""
    status: str
    """complete, stopped (by the user) or cut (by a limit)."""
    usage: dict[str, int]
    model: str
    tainted: bool
    tools: tuple[str, ...] = ()
    note: str = ""
    """A sentence for the user about how the answer ended."""
