"""The parts of Telegram's objects that Relay reads: see https://core.telegram.org/bots/api. Pure.

Fields that say who wrote where must be well-formed, or the update cannot be read; `contents` is lenient.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, PlainValidator, TypeAdapter

from relay.core.frozen import frozen
from relay.core.models import Button
from relay.surfaces.chat.people.bot_rights import ChatMember
from relay.surfaces.telegram.parsing.contents import (
    Contents,
    Count,
    Flag,
    Lenient,
    Listed,
    Present,
    Text,
    text_in,
)
from relay.surfaces.telegram.parsing.links import Entity
from relay.surfaces.telegram.parsing.rich_messages import replace_rich_text

RawUpdate = Mapping[str, Any]
"""An update as Telegram sends it, and as it is stored."""
NUMBERS = 2**63


def is_number(value: object) -> bool:
    """Tests whether a value is a 64-bit integer."""
    return type(value) is int and -NUMBERS <= value < NUMBERS


def _chat_id(value: object) -> int | None:
    return value if type(value) is int and is_number(value) else None


Number = Annotated[int, Field(strict=True, ge=-NUMBERS, lt=NUMBERS)]
"""An identifier or a date."""
ChatId = Annotated[int | None, PlainValidator(_chat_id)]


@frozen
class User:
    id: Number = 0
    first_name: Text = ""
    last_name: Text = ""
    username: Text = ""
    is_bot: Flag = False


@frozen
class Chat:
    """A chat. Without a type it is unknown."""

    id: Number = 0
    type: Text = ""
    title: Text = ""
    username: Text = ""
    first_name: Text = ""
    last_name: Text = ""
    is_forum: Flag = False
    is_direct_messages: Flag = False
    """It holds the private conversations of a channel with all who write to it."""

    @property
    def private(self) -> bool:
        return self.type == "private"


@frozen
class MessageOrigin:
    sender_user: User | None = None
    sender_chat: Chat | None = None
    chat: Chat | None = None
    sender_user_name: Text = ""


@frozen
class ExternalReply(Contents):
    """A message in another chat that this one replies to."""

    origin: MessageOrigin = MessageOrigin()


@frozen
class TextQuote:
    text: Text = ""
    position: Count = 0
    """Where the text begins in the quoted message, in UTF-16 code units."""
    is_manual: Flag = False


def buttons_in(value: object) -> tuple[tuple[Button, ...], ...]:
    """Returns the buttons of a message's `reply_markup`, row by row."""
    keyboard = value.get("inline_keyboard") if isinstance(value, dict) else None
    rows = [row for row in keyboard if isinstance(row, list)] if isinstance(keyboard, list) else []
    return tuple(
        tuple(
            Button(text_in(one.get("text")), text_in(one.get("callback_data")), text_in(one.get("url")), app_in(one))
            for one in row
            if isinstance(one, dict)
        )
        for row in rows
    )


def app_in(button: Mapping[str, object]) -> str:
    """Returns the URL of the page that a button opens inside Telegram; empty if it opens none."""
    app = button.get("web_app")
    return text_in(app.get("url")) if isinstance(app, dict) else ""


@frozen
class Message(Contents):
    message_id: Number = 0
    date: Number = 0
    """Unix time; 0: the message is no longer accessible."""
    edit_date: Number = 0
    chat: Chat = Chat()
    sender: Annotated[User | None, Field(alias="from")] = None
    sender_chat: Lenient[Chat] = None
    """A chat sent it, such as a channel whose posts are discussed in a group; then `sender` is made up."""
    message_thread_id: Number = 0
    is_topic_message: Flag = False
    text: Text = ""
    entities: Listed[Entity] = ()
    caption: Text = ""
    caption_entities: Listed[Entity] = ()
    media_group_id: Text = ""
    reply_to_message: Message | None = None
    external_reply: ExternalReply | None = None
    quote: TextQuote | None = None
    forward_origin: MessageOrigin | None = None
    forward_date: Count = 0
    is_automatic_forward: Flag = False
    """A channel's post in its discussion group."""
    via_bot: User | None = None
    buttons: Annotated[tuple[tuple[Button, ...], ...], Field(alias="reply_markup"), PlainValidator(buttons_in)] = ()
    """The inline keyboard under it."""

    forum_topic_created: Present = False
    forum_topic_edited: Present = False
    new_chat_members: Listed[User] = ()
    left_chat_member: User | None = None
    migrate_to_chat_id: ChatId = None
    migrate_from_chat_id: ChatId = None

    @property
    def sender_id(self) -> int | None:
        return self.sender.id if self.sender else None


@frozen
class CallbackQuery:
    """A button was pressed."""

    id: str
    sender: Annotated[User | None, Field(alias="from")] = None
    data: Text = ""
    message: Message = Message()
    """The message with the button."""


@frozen
class ReactionType:
    type: Text = ""
    emoji: Text = ""
    custom_emoji_id: Text = ""


@frozen
class MessageReactionUpdated:
    message_id: Number
    chat: Chat = Chat()
    user: User | None = None
    date: Number = 0
    old_reaction: Listed[ReactionType] = ()
    new_reaction: Listed[ReactionType] = ()


@frozen
class ChatMemberUpdated:
    chat: Chat = Chat()
    sender: Annotated[User | None, Field(alias="from")] = None
    old_chat_member: Lenient[ChatMember] = None
    new_chat_member: Lenient[ChatMember] = None


@frozen
class StoppedGeneration:
    """The stop button under a draft was pressed."""

    chat: Chat = Chat()
    message_thread_id: Number = 0
    draft_id: Number | None = None


@frozen
class PersonChange:
    """Written by Relay: a person's access has changed."""

    became: str
    by: int | None = None
    by_name: str | None = None
    invited: bool = False
    for_whom: str | None = None
    group: str | None = None


@frozen
class Update:
    """An update of a kind that Relay handles. At most one of these fields is set, apart from `person`."""

    update_id: Number
    message: Message | None = None
    edited_message: Message | None = None
    message_reaction: MessageReactionUpdated | None = None
    callback_query: CallbackQuery | None = None
    my_chat_member: ChatMemberUpdated | None = None
    stopped_message_generation: StoppedGeneration | None = None
    person: PersonChange | None = None
    raw: Any = None
    """The same as `RawUpdate`."""


_UPDATE = TypeAdapter(Update)


def decode_update(raw: RawUpdate) -> Update:
    """Decodes an update. Raises `ValueError` if it is invalid."""
    raw = {**raw, **{kind: replace_rich_text(raw[kind]) for kind in ("message", "edited_message") if kind in raw}}
    return _UPDATE.validate_python({**raw, "raw": raw})
