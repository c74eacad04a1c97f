"""The command menus that Telegram shows: what everybody may do, by kind of chat, and in an admin's chat all of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import structlog

from relay.bot.insist import insist
from relay.errors import MessengerError
from relay.ports import Messenger
from relay.verbs.registry import offered

log = structlog.get_logger()

MOST_COMMANDS = 100
LONGEST_DESCRIPTION = 256


async def register(messenger: Messenger, admins: frozenset[int], others: Iterable[int] = ()) -> None:
    """Registers the commands with Telegram. What it refuses does not stop the rest. `others`: who may use the bot and
    does not run it; perhaps they did once."""
    for place in ("private", "group"):
        await _tell(messenger, "setMyCommands", scope={"type": f"all_{place}_chats"}, commands=menu(place, False))
    await _tell(messenger, "deleteMyCommands")  # earlier versions had one list for all chats
    for admin in admins:
        await register_admin(messenger, admin, admin)
    for other in others:
        await unregister(messenger, other)


async def register_admin(messenger: Messenger, chat_id: int, user_id: int) -> None:
    """Offers somebody who runs the bot all commands in a chat: in their private one, which Telegram refuses until they
    have pressed Start there, or in a group in which they are."""
    if chat_id == user_id:
        place, scope = "private", {"type": "chat", "chat_id": chat_id}
    else:
        place, scope = "group", {"type": "chat_member", "chat_id": chat_id, "user_id": user_id}
    await _tell(messenger, "setMyCommands", scope=scope, commands=menu(place, True))


async def unregister(messenger: Messenger, user_id: int) -> None:
    """Offers somebody in their private chat what everybody may do, and no more."""
    await _tell(messenger, "deleteMyCommands", scope={"type": "chat", "chat_id": user_id})


def menu(place: str, admin: bool) -> list[dict[str, str]]:
    """The commands of a kind of chat: private or group."""
    verbs = [verb for section in offered(place, admin).values() for verb in section]
    return [{"command": verb.name, "description": verb.help[:LONGEST_DESCRIPTION]} for verb in verbs[:MOST_COMMANDS]]


async def _tell(messenger: Messenger, method: str, **parameters: Any) -> None:
    try:
        await insist(messenger, method, **parameters)
    except MessengerError as error:
        log.info("a command menu was refused", scope=parameters.get("scope"), error=str(error))
