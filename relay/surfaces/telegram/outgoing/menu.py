"""The command menus that Telegram shows: what everybody may do, by kind of chat, and in an admin's chat all of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from typing import Any

import structlog

from relay.commands.registry import list_commands
from relay.core.errors import MessengerError
from relay.core.ports import Messenger
from relay.memory.rows.delivery import Request
from relay.surfaces.telegram.outgoing.insist import call_until_answered

log = structlog.get_logger()

MOST_COMMANDS = 100
LONGEST_DESCRIPTION = 256
GROUP_SECONDS = 3.0
"""How long a command in a group waits for the menu there."""


async def register(messenger: Messenger, admins: frozenset[int], others: Iterable[int] = ()) -> None:
    """Registers the commands with Telegram. What it refuses does not stop the rest. `others`: who may use the bot and
    does not run it; perhaps they did once."""
    for place in ("private", "group"):
        await _tell(messenger, "setMyCommands", scope={"type": f"all_{place}_chats"}, commands=menu(place, False))
    await _tell(messenger, "deleteMyCommands")  # earlier versions had one list for all chats
    for admin in admins:
        await register_admin(messenger, admin, admin)
    for other in others:
        await unregister(messenger, other, other)


async def register_admin(messenger: Messenger, chat_id: int, user_id: int) -> None:
    """Offers somebody who runs the bot all commands in a chat: in their private one, which Telegram refuses until they
    have pressed Start there, or in a group in which they are."""
    place = "private" if chat_id == user_id else "group"
    await _tell(messenger, "setMyCommands", scope=_scope(chat_id, user_id), commands=menu(place, True))


async def unregister(messenger: Messenger, chat_id: int, user_id: int) -> None:
    """Offers somebody in a chat what everybody may do there, and no more."""
    await _tell(messenger, "deleteMyCommands", scope=_scope(chat_id, user_id))


class GroupMenus:
    """What this process has offered in groups to those who run the bot, and taken from those who do not any more."""

    def __init__(self, messenger: Messenger) -> None:
        self._messenger = messenger
        self._offered: dict[tuple[int, int], bool] = {}

    async def offer(self, chat_id: int, user_id: int, admin: bool) -> None:
        """Sees to it, once, that somebody is offered in a group what they may do there. Soon gives up waiting."""
        if self._offered.get((chat_id, user_id)) is admin:
            return
        if len(self._offered) > 10_000:
            self._offered.clear()
        self._offered[chat_id, user_id] = admin
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GROUP_SECONDS):
                await (register_admin if admin else unregister)(self._messenger, chat_id, user_id)


def menu(place: str, admin: bool) -> list[dict[str, str]]:
    """The commands of a kind of chat: private or group."""
    verbs = [verb for section in list_commands(place, admin).values() for verb in section]
    return [{"command": verb.name, "description": verb.help[:LONGEST_DESCRIPTION]} for verb in verbs[:MOST_COMMANDS]]


def _scope(chat_id: int, user_id: int) -> Request:
    """Somebody's private chat, or they in a group."""
    if chat_id == user_id:
        return {"type": "chat", "chat_id": chat_id}
    return {"type": "chat_member", "chat_id": chat_id, "user_id": user_id}


async def _tell(messenger: Messenger, method: str, **parameters: Any) -> None:
    try:
        await call_until_answered(messenger, method, **parameters)
    except MessengerError as error:
        log.info("a command menu was refused", scope=parameters.get("scope"), error=str(error))
