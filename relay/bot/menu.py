"""The command menus that Telegram shows: what everybody may do, by kind of chat, and in an admin's chat all of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import structlog

from relay.bot.insist import insist
from relay.errors import MessengerError
from relay.ports import Messenger
from relay.verbs import VERBS

log = structlog.get_logger()

MOST_COMMANDS = 100
LONGEST_DESCRIPTION = 256


async def register(messenger: Messenger, admins: Iterable[int]) -> None:
    """Registers the commands with Telegram. What it refuses does not stop the rest."""
    for place in ("private", "group"):
        await _tell(messenger, "setMyCommands", scope={"type": f"all_{place}_chats"}, commands=offered(place, False))
    await _tell(messenger, "deleteMyCommands")  # earlier versions had one list for all chats
    for admin in admins:
        await register_admin(messenger, admin)


async def register_admin(messenger: Messenger, admin: int, group_id: int = 0) -> None:
    """Offers an admin all commands, in their private chat or in a group. Telegram refuses until they have pressed Start
    there, or are in the group."""
    if group_id:
        scope: dict[str, Any] = {"type": "chat_member", "chat_id": group_id, "user_id": admin}
    else:
        scope = {"type": "chat", "chat_id": admin}
    commands = offered("group" if group_id else "private", True)
    await _tell(messenger, "setMyCommands", scope=scope, commands=commands)


def offered(place: str, admin: bool) -> list[dict[str, str]]:
    """The menu of a kind of chat: private or group."""
    verbs = [
        verb for verb in VERBS.values() if "chat" in verb.doors and place in verb.places and (admin or not verb.admin)
    ]
    return [{"command": verb.name, "description": verb.help[:LONGEST_DESCRIPTION]} for verb in verbs[:MOST_COMMANDS]]


async def _tell(messenger: Messenger, method: str, **parameters: Any) -> None:
    try:
        await insist(messenger, method, **parameters)
    except MessengerError as error:
        log.info("a command menu was refused", scope=parameters.get("scope"), error=str(error))
