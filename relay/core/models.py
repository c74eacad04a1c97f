"""Frozen values that pass between the rooms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any, BinaryIO
from zoneinfo import ZoneInfo

Block = dict[str, Any]
"""A content block in Anthropic's shape. A block of ours may carry `untrusted` (its kind) and `from` (who wrote it)."""


@dataclass(frozen=True, slots=True)
class Space:
    """Whose memory it is: a person's (`owner_id`) or a group's (`chat_id`)."""

    kind: str
    owner_id: int | None = None
    chat_id: int | None = None

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "owner_id": self.owner_id, "chat_id": self.chat_id}


VOICES = ("auto", "always", "never")
"""When answers are also said aloud."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person chose for themselves with /settings."""

    learning: str = "on"
    """on; ask: what would be remembered or forgotten waits for their tap; off: nothing is learned."""
    sound: bool = True
    """Answers make a sound."""
    previews: bool = False
    """Links in answers show what they lead to."""
    tools: bool = True
    """Answers say which tools were used."""
    zone: str = ""
    """An IANA name; empty: the installation's zone."""
    voice: str = "auto"
    """auto: a voice note is answered aloud too; always: everything is; never."""
    diagnostics: bool = False
    """Answers say, collapsed, which memories went into them."""
    reactions: bool = False
    """A ✍ on a message proposes to keep it."""
    keep: bool = True
    """Answers have a ◆ that proposes to keep them."""

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Choices:
        """As they are stored; what is not understood is as if it had not been chosen."""
        usual = cls()
        learning, zone, voice = row.get("learning"), row.get("zone"), row.get("voice")

        def flag(name: str) -> bool:
            chosen = row.get(name)
            return chosen if isinstance(chosen, bool) else bool(getattr(usual, name))

        return cls(
            learning if learning in ("on", "ask", "off") else usual.learning,
            flag("sound"),
            flag("previews"),
            flag("tools"),
            zone if isinstance(zone, str) else usual.zone,
            voice if voice in VOICES else usual.voice,
            flag("diagnostics"),
            flag("reactions"),
            flag("keep"),
        )

    def within(self, capture: str) -> Choices:
        """With no more learning than the installation allows (`RELAY_CAPTURE`): none when it is off, none unasked
        when it asks."""
        if capture == "off" or (capture == "ask" and self.learning == "on"):
            return replace(self, learning=capture)
        return self

    def zone_or(self, services: tzinfo) -> tzinfo:
        """Their own time zone, else the installation's."""
        try:
            return ZoneInfo(self.zone) if self.zone else services
        except (ValueError, LookupError, OSError):
            return services


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
    def from_json(cls, row: dict[str, Any]) -> Attachment:
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
    parts: list[dict[str, Any]] = field(default_factory=list)
    """What each of several Telegram messages says that are one input: see `said.parts_of`."""
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
class Context:
    """What `begin` loaded for a turn."""

    space_id: int
    thread_id: int
    message_id: int | None
    soul: dict[str, Any]
    persona: dict[str, Any] | None
    """What the soul is besides in this chat and topic: `{id, text}`, an empty text for nothing."""
    choices: dict[str, Any]
    """The speaker's own choices."""
    memories: list[dict[str, Any]]
    lent: list[dict[str, Any]]
    """Memories of the speaker's own space, lent to the group."""
    summary: dict[str, Any] | None
    recent: list[dict[str, Any]]
    message: dict[str, Any] | None
    reply_to: dict[str, Any] | None
    memory_counts: dict[str, int] = field(default_factory=dict)
    """How many memories the space could give, loaded or not: facts by kind, learnings by category."""
    faded: int = 0
    """How many of them are learnings that nothing has borne out for half a year: a prompt leaves them out."""
    latest_summary: dict[str, Any] | None = None
    """A newer summary than `summary`, for a prompt that has no room for all of `recent`; None: there is none."""
    spent: list[dict[str, Any]] = field(default_factory=list)
    """What was used today, as `Store.spent` tells it, when that was asked for."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request in Anthropic's shape, with what went into it and whether any of it is untrusted."""

    system: list[Block]
    messages: list[dict[str, Any]]
    tainted: bool
    record: dict[str, Any]


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
    messages: list[dict[str, Any]]
    max_tokens: int
    tools: list[dict[str, Any]] = field(default_factory=list)
    tool_choice: dict[str, Any] | None = None
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

    steps: list[dict[str, Any]]
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


@dataclass(frozen=True, slots=True)
class Answer:
    """What a turn came to, stored: ready to be delivered."""

    text: str
    """Clean text for the chat (Markdown)."""
    changes: Sequence[Any] = ()
    """What memory did: `MemoryChange`."""
    failed: Sequence[Any] = ()
    """What memory was asked and did not do: `Failure`."""
    tools: tuple[str, ...] = ()
    note: str = ""
    retry: bool = False
    """Offer a Retry button."""
    web: bool = False
    """Offer to answer again with the web."""
    choices: Choices = Choices()
    """How the person who asked wants answers to be shown."""
    unlearned: bool = False
    """The model wanted to learn something, and learning is off."""
    withdrawn: Sequence[Any] = ()
    """What the answer in whose place this one is had done to memory, and was taken back with it."""
    model: str = ""
    """Who wrote it, when it is not the usual model."""
    warning: str = ""
    """A sentence about the budget of the person who asked."""
    aloud: bool = False
    """It is also to be said, as a voice note."""
    diagnostic: str = ""
    """What of memory went into it, for a reader who wants to see that."""
    signs: tuple[str, ...] = ()
    """What is to be said about memory and this conversation, as `relay.signs_of` names it."""
