"""Frozen values that pass between modules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, BinaryIO

from relay.core.frozen import frozen

Block = dict[str, Any]
"""A content block in Anthropic's shape. Stored blocks may also have `untrusted` (its kind) and `from` (its author)."""
ModelMessage = dict[str, Any]
"""`{role, content: [Block]}`, as the Messages API takes it."""
ToolDefinition = dict[str, Any]
"""A tool for the Messages API: `{name, description, input_schema}`, or a server tool's type and settings."""


def make_tool(name: str, description: str, properties: dict[str, Any], required: Sequence[str] = ()) -> ToolDefinition:
    """Returns a tool whose input is an object with these properties."""
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    schema |= {"required": list(required)} if required else {}
    return {"name": name, "description": description, "input_schema": schema}


def list_tool(
    name: str, description: str, items: str, properties: dict[str, Any], required: Sequence[str], most: int = 0
) -> ToolDefinition:
    """Returns a tool that takes a list of objects under the name `items`. `most`: how many; 0: any number."""
    item = {"type": "object", "properties": properties, "required": list(required)}
    listed = {"type": "array", "items": item} | ({"maxItems": most} if most else {})
    return make_tool(name, description, {items: listed}, (items,))


@frozen
class Space:
    """Whose memory it is: a person's (`owner_id`) or a group's (`chat_id`)."""

    kind: str
    owner_id: int | None = None
    chat_id: int | None = None

    def as_json(self) -> dict[str, object]:
        return {"kind": self.kind, "owner_id": self.owner_id, "chat_id": self.chat_id}


@frozen
class Thread:
    """One line of conversation: whose memory it uses, its chat, and its topic (0: none)."""

    space: Space
    chat_id: int
    topic_id: int


@frozen
class Button:
    """A button under a message, with the Bot API's field names. It sends `callback_data`, or opens `url`,
    or `web_app`: a page inside of Telegram, in private chats only."""

    text: str
    callback_data: str = ""
    url: str = ""
    web_app: str = ""

    def as_json(self) -> dict[str, Any]:
        """Returns the button as the Bot API takes it."""
        if self.web_app:
            return {"text": self.text, "web_app": {"url": self.web_app}}
        does = {"url": self.url} if self.url else {"callback_data": self.callback_data}
        return {"text": self.text, **does}


Rows = Sequence[Sequence[Button]]
"""Rows of buttons."""


@frozen
class ReplyTo:
    """The message that a message replies to, as Telegram shows it, with the quoted part."""

    telegram_message_id: int
    text: str
    quote: str
    own: bool
    """The same person or the assistant wrote it."""
    by: str


@frozen
class Attachment:
    """A file that someone sent, as Telegram describes it. Only the ids are reliable."""

    kind: str
    """voice, audio, video_note, video, photo, animation, sticker or document."""
    file_id: str
    unique_id: str
    """Identifies the file regardless of sender and time; can't be used for a download."""
    name: str = ""
    mime: str = ""
    size: int = 0
    """Bytes; 0: unknown."""
    seconds: int = 0
    width: int = 0
    height: int = 0
    preview: str = ""
    """The `file_id` of the small still picture that Telegram made; empty: none."""
    kept: bool = True
    """Whether a copy may be stored; False off the record."""

    @classmethod
    def from_json(cls, row: Block) -> Attachment:
        return cls(**{key: row[key] for key in cls.__dataclass_fields__ if key in row})


@frozen
class Transcript:
    """The transcript of a recording."""

    text: str
    language: str
    """An ISO 639-1 code, detected or set."""
    engine: str
    """The name of the engine and its model."""
    seconds: float = 0.0
    """The length of the recording in seconds."""
    cut: bool = False
    """Only the first minutes were transcribed."""


@frozen
class Sound:
    """Generated speech: MP3, or OGG/Opus that Telegram shows as a voice note."""

    content: bytes
    mime: str
    seconds: int = 0


@frozen
class InputPart:
    """One of several Telegram messages that form one input."""

    text: str
    blocks: list[Block]
    sequel: bool
    """It continues the part before."""


@frozen
class Incoming:
    """One user input of any kind."""

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
    """The speaker's own space, if they lent its memory to this group."""
    retry: bool = False
    """The request is to answer an earlier message again: that of `retry_turn`, or else the thread's last."""
    retry_turn: int | None = None
    web: bool = False
    """A tap allowed web tools in this tainted turn."""
    replaces: bool = False
    """The new answer replaces the old one in the chat, and what the old one taught is taken back."""
    brings_back: bool = False
    """The request is to bring back the answer that the present one replaced, not to write a new one."""
    prefers_first: bool = False
    """The person was asked, and the answer that is brought back is the better one."""
    two: bool = False
    """Two answers are wanted, so that the person can choose."""
    first: str = ""
    """The first of two answers, when the second is requested."""
    critique: str = ""
    """What was found wrong with the answer that is given again; empty: nothing was looked for."""
    parts: list[InputPart] = field(default_factory=list)
    """The Telegram messages of the input, if there are several."""
    model: str | None = None
    """The model to use; None: the usual one."""
    documents: list[dict[str, Any]] = field(default_factory=list)
    """Texts of files stored in parts: `{unique_id, name, mime, parts: [text], replied}`. `replied`: the message only
    replies to the file."""
    keepits: list[dict[str, Any]] = field(default_factory=list)
    """The passages that the sender marks in it, in order: `{weight, content, block, start, end, context}`."""
    notices: tuple[str, ...] = ()
    """Sentences for the sender about what couldn't be used."""
    spoken: bool = False
    """It is the speaker's own voice note or video note."""
    operator: bool = False
    """An operator sent it in private, so errors include their cause."""
    people: Mapping[int, str] = field(default_factory=dict)
    """What the people of a group are called where some have the same name, by id; elsewhere empty."""


@frozen
class File:
    """A file to send: a document, or a picture (PNG)."""

    name: str
    content: bytes | BinaryIO
    """The content, or an open file, which is read in pieces from its beginning."""
    picture: bool = False

    def whole(self) -> bytes:
        """Returns the whole content."""
        if isinstance(self.content, bytes):
            return self.content
        self.content.seek(0)
        return self.content.read()


@frozen
class Export:
    """A space's export, sent as one file. It is packed when it is sent."""

    name: str
    space: Space
    title: str
    zone: str
    """The time zone for its dates."""
    reader: int
    """The person who gets it."""


@frozen
class ModelRequest:
    """One call of a model."""

    model: str
    system: list[Block]
    messages: list[ModelMessage]
    max_tokens: int
    tools: list[ToolDefinition] = field(default_factory=list)
    tool_choice: dict[str, object] | None = None
    """How the model must use the tools, in Anthropic's shape; None: freely. Some servers ignore it."""
    form: bool = False
    """The request is for an answer in a given form, such as a JSON list."""
    used: dict[str, int] = field(default_factory=dict, compare=False)
    """Tokens and searches by kind, updated as the server reports them, also if the call is cut off. The output count
    is then an estimate from the text received."""


@frozen
class Step:
    """The result of a model call: content blocks in order, stop reason, tokens by kind, and the model."""

    blocks: list[Block]
    stop_reason: str
    usage: dict[str, int]
    model: str


@frozen
class Reply:
    """The model's part of a turn, across all steps."""

    steps: list[ModelMessage]
    """`{role, content}` messages in order: the assistant's text and tool calls, and tool results."""
    text: str
    """All of its text as the model wrote it, including tags."""
    status: str
    """complete, stopped (by the user) or cut (by a limit)."""
    usage: dict[str, int]
    model: str
    tainted: bool
    tools: tuple[str, ...] = ()
    note: str = ""
    """A sentence for the user about how the answer ended."""
