"""What the bot may do in a group, as Telegram tells it, and what to change where it may not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relay.core.errors import MessengerError
from relay.core.ports import Messenger

Json = dict[str, Any]
ADMINISTRATOR = ("administrator", "creator")
PRESENT = ("creator", "administrator", "member")


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
    me = await told(messenger, "getMe")
    chat = await told(messenger, "getChat", chat_id=chat_id)
    member = await told(messenger, "getChatMember", chat_id=chat_id, user_id=bot_id)
    return Standing(
        reads_all(me, member),
        writes(chat, member),
        bool(chat.get("is_forum")),
        str(me.get("username") or ""),
        member.get("status") in ADMINISTRATOR,
    )


async def told(messenger: Messenger, method: str, **parameters: Any) -> Json:
    """What Telegram tells; nothing when it does not."""
    try:
        found = await messenger.call(method, **parameters)
    except MessengerError:
        return {}
    return found if isinstance(found, dict) else {}


async def name_in(messenger: Messenger, chat_id: int, user_id: int) -> str:
    """What a member of a group is called."""
    user = (await told(messenger, "getChatMember", chat_id=chat_id, user_id=user_id)).get("user") or {}
    return str(user.get("first_name") or "Somebody")


def is_present(member: Json) -> bool:
    """Whether a ChatMember is in the chat."""
    return member.get("status") in PRESENT or bool(member.get("is_member"))


def reads_all(me: Json, member: Json) -> bool | None:
    """Whether a bot gets every message of a group, by getMe and its ChatMember there."""
    if me.get("can_read_all_group_messages") or member.get("status") == "administrator":
        return True
    return False if me and member else None


def writes(chat: Json, member: Json) -> bool | None:
    """Whether it may write there, by getChat and its ChatMember."""
    match member.get("status"):
        case "administrator" | "creator":
            return True
        case "restricted":
            return bool(member.get("can_send_messages"))
        case "member":
            return bool((chat.get("permissions") or {}).get("can_send_messages", True))
    return None
