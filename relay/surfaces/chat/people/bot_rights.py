"""What the bot may do in a group, as Telegram tells it, and what to change where it may not."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from relay.core.errors import MessengerError
from relay.core.ports import Messenger

ADMINISTRATOR = ("administrator", "creator")
PRESENT = ("creator", "administrator", "member")
Told = TypeVar("Told")


@dataclass(frozen=True, slots=True)
class BotUser:
    """The bot, as `getMe` tells."""

    id: int = 0
    first_name: str = ""
    username: str = ""
    can_read_all_group_messages: bool = False
    has_topics_enabled: bool = False


@dataclass(frozen=True, slots=True)
class MemberUser:
    first_name: str = ""


@dataclass(frozen=True, slots=True)
class ChatMember:
    """Somebody in a chat, as `getChatMember` tells."""

    status: str
    user: MemberUser = MemberUser()
    is_member: bool = False
    can_send_messages: bool = False

    @property
    def present(self) -> bool:
        return self.status in PRESENT or self.is_member


@dataclass(frozen=True, slots=True)
class ChatPermissions:
    can_send_messages: bool = True


@dataclass(frozen=True, slots=True)
class ChatInfo:
    """A chat, as `getChat` tells."""

    title: str = ""
    username: str = ""
    active_usernames: tuple[str, ...] = ()
    linked_chat_id: int = 0
    is_forum: bool = False
    permissions: ChatPermissions = ChatPermissions()

    @property
    def open(self) -> bool:
        """Whether others can find it, or comment in it from outside."""
        return bool(self.username or self.active_usernames or self.linked_chat_id)


@dataclass(frozen=True, slots=True)
class Standing:
    """None: Telegram did not tell."""

    reads: bool | None
    """It gets every message, not only those that are for it."""
    writes: bool | None
    forum: bool
    username: str
    """The bot's own."""
    administrator: bool = False

    @property
    def remedy(self) -> str:
        """What to change so that it gets every message (Markdown)."""
        return (
            "To let me read all of it, either make me an administrator (tap the group's name → Edit → Administrators "
            "→ Add; I need no particular right), or tell @BotFather: /setprivacy → "
            f"@{self.username} → Disable; then remove me from the group and add me again."
        )


async def standing(messenger: Messenger, bot_id: int, chat_id: int) -> Standing:
    """Looks at what the bot may do in a group."""
    me = await ask(BotUser, messenger, "getMe")
    chat = await ask(ChatInfo, messenger, "getChat", chat_id=chat_id)
    member = await ask(ChatMember, messenger, "getChatMember", chat_id=chat_id, user_id=bot_id)
    return Standing(
        reads_all(me, member),
        writes(chat, member),
        chat is not None and chat.is_forum,
        me.username if me else "",
        member is not None and member.status in ADMINISTRATOR,
    )


async def ask(told: type[Told], messenger: Messenger, method: str, **parameters: Any) -> Told | None:
    """Asks Telegram something that changes nothing; None when it does not tell."""
    try:
        return decode(told, await messenger.call(method, **parameters))
    except MessengerError:
        return None


def decode(told: type[Told], result: object) -> Told | None:
    """What a method returned; None for something else, or nothing."""
    try:
        return _adapter(told).validate_python(result) if result else None  # type: ignore[arg-type]
    except ValidationError:
        return None


@functools.cache
def _adapter(told: Any) -> TypeAdapter[Any]:
    return TypeAdapter(told)


async def name_in(messenger: Messenger, chat_id: int, user_id: int) -> str:
    """What a member of a group is called."""
    member = await ask(ChatMember, messenger, "getChatMember", chat_id=chat_id, user_id=user_id)
    return (member.user.first_name if member else "") or "Somebody"


def reads_all(me: BotUser | None, member: ChatMember | None) -> bool | None:
    """Whether the bot gets every message of a group."""
    if (me and me.can_read_all_group_messages) or (member and member.status == "administrator"):
        return True
    return False if me and member else None


def writes(chat: ChatInfo | None, member: ChatMember | None) -> bool | None:
    """Whether the bot may write in a group."""
    match member.status if member else "":
        case "administrator" | "creator":
            return True
        case "restricted":
            return member is not None and member.can_send_messages
        case "member":
            return chat is None or chat.permissions.can_send_messages
    return None
