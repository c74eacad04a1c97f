"""What the bot may do in a group, as Telegram reports it, and how to change that."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import ValidationError

from relay.core.errors import MessengerError
from relay.core.frozen import adapter_of, frozen
from relay.core.ports import Messenger

ADMINISTRATOR = ("administrator", "creator")
PRESENT = ("creator", "administrator", "member")
Told = TypeVar("Told")


@frozen
class BotUser:
    """The result of `getMe`."""

    id: int = 0
    first_name: str = ""
    username: str = ""
    can_read_all_group_messages: bool = False
    has_main_web_app: bool = False
    """@BotFather has a web app for the bot; links with startapp open it."""
    has_topics_enabled: bool = False


@frozen
class MemberUser:
    first_name: str = ""


@frozen
class ChatMember:
    """The result of `getChatMember`."""

    status: str
    user: MemberUser = MemberUser()
    is_member: bool = False
    can_send_messages: bool = False

    @property
    def present(self) -> bool:
        return self.status in PRESENT or self.is_member


@frozen
class ChatPermissions:
    can_send_messages: bool = True


@frozen
class ChatInfo:
    """The result of `getChat`."""

    title: str = ""
    username: str = ""
    active_usernames: tuple[str, ...] = ()
    linked_chat_id: int = 0
    community: Any = None
    """The community that the group belongs to."""
    is_forum: bool = False
    permissions: ChatPermissions = ChatPermissions()

    @property
    def open(self) -> bool:
        """Whether others can find the chat, or read it or comment in it from outside."""
        return bool(self.username or self.active_usernames or self.linked_chat_id) or self.community is not None


@frozen
class BotRights:
    """What the bot may do in a group; None means that Telegram did not say."""

    reads: bool | None
    """Whether it gets every message, not only those addressed to it."""
    writes: bool | None
    forum: bool
    username: str
    """The bot's own username."""
    administrator: bool = False

    @property
    def remedy(self) -> str:
        """What to change so that it gets every message (Markdown)."""
        return (
            "To let me read every message, either make me an administrator (tap the group's name → Edit → "
            "Administrators → Add; I don't need any particular right), or send @BotFather /setprivacy → "
            f"@{self.username} → Disable, then remove me from the group and add me again."
        )


async def find_standing(messenger: Messenger, bot_id: int, chat_id: int) -> BotRights:
    """Asks Telegram what the bot may do in a group."""
    me = await ask(BotUser, messenger, "getMe")
    chat = await ask(ChatInfo, messenger, "getChat", chat_id=chat_id)
    member = await ask(ChatMember, messenger, "getChatMember", chat_id=chat_id, user_id=bot_id)
    return BotRights(
        reads_all(me, member),
        writes(chat, member),
        chat is not None and chat.is_forum,
        me.username if me else "",
        member is not None and member.status in ADMINISTRATOR,
    )


async def ask(told: type[Told], messenger: Messenger, method: str, **parameters: Any) -> Told | None:
    """Calls a read-only method of the Bot API; None if Telegram does not answer."""
    try:
        return decode(told, await messenger.call(method, **parameters))
    except MessengerError:
        return None


def decode(told: type[Told], result: object) -> Told | None:
    """Decodes the result of a method; None if it is missing or has another shape."""
    try:
        return adapter_of(told).validate_python(result) if result else None  # type: ignore[arg-type]
    except ValidationError:
        return None


async def name_in(messenger: Messenger, chat_id: int, user_id: int) -> str:
    """Returns the first name of a member of a group."""
    member = await ask(ChatMember, messenger, "getChatMember", chat_id=chat_id, user_id=user_id)
    return (member.user.first_name if member else "") or "Someone"


async def administers(messenger: Messenger, chat_id: int, user_id: int) -> bool:
    """Whether a person is an administrator of a group; false if Telegram does not say."""
    member = await ask(ChatMember, messenger, "getChatMember", chat_id=chat_id, user_id=user_id)
    return member is not None and member.status in ADMINISTRATOR


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
