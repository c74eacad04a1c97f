"""Telegram's command menus: for everyone, by kind of chat, and for admins."""

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
APP_LABEL = "Memory"
GROUP_SECONDS = 3.0
"""How long a command in a group waits for the menu there."""


async def register(messenger: Messenger, admins: frozenset[int], others: Iterable[int] = (), web_url: str = "") -> None:
    """Registers the commands with Telegram, and for each person the web app at `web_url`; a refusal does not stop the
    rest. `others`: users who may have been admins earlier."""
    for place in ("private", "group"):
        await _tell(messenger, "setMyCommands", scope={"type": f"all_{place}_chats"}, commands=menu(place, False))
    for admin in admins:
        await register_admin(messenger, admin, admin)
        await set_menu_button(messenger, admin, web_url)
    for other in others:
        await unregister(messenger, other, other)
        await set_menu_button(messenger, other, web_url)


async def register_admin(messenger: Messenger, chat_id: int, user_id: int) -> None:
    """Offers an admin all commands in a group or in their private chat. Telegram refuses the latter until they have
    pressed Start there."""
    place = "private" if chat_id == user_id else "group"
    await _tell(messenger, "setMyCommands", scope=_scope(chat_id, user_id), commands=menu(place, True))


async def unregister(messenger: Messenger, chat_id: int, user_id: int) -> None:
    """Offers a person only the commands for everyone."""
    await _tell(messenger, "deleteMyCommands", scope=_scope(chat_id, user_id))


async def set_menu_button(messenger: Messenger, user_id: int, web_url: str) -> None:
    """Sets the button beside the message field of a private chat: it opens the web app, or without an address lists
    the commands. Telegram refuses until the person has pressed Start there."""
    app = {"type": "web_app", "text": APP_LABEL, "web_app": {"url": f"{web_url}/"}}
    await _tell(messenger, "setChatMenuButton", chat_id=user_id, menu_button=app if web_url else {"type": "default"})


class GroupMenus:
    """The menus in groups that this process has set for admins, or removed from former admins."""

    def __init__(self, messenger: Messenger) -> None:
        self._messenger = messenger
        self._offered: dict[tuple[int, int], bool] = {}

    async def offer(self, chat_id: int, user_id: int, admin: bool) -> None:
        """Sets a person's menu in a group, once. Does not wait for it for long."""
        if self._offered.get((chat_id, user_id)) is admin:
            return
        if len(self._offered) > 10_000:
            self._offered.clear()
        self._offered[chat_id, user_id] = admin
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GROUP_SECONDS):
                await (register_admin if admin else unregister)(self._messenger, chat_id, user_id)


def menu(place: str, admin: bool) -> list[dict[str, str]]:
    """Returns the commands of a kind of chat: private or group."""
    found = [command for section in list_commands(place, admin).values() for command in section]
    return [{"command": one.name, "description": one.help[:LONGEST_DESCRIPTION]} for one in found[:MOST_COMMANDS]]


def _scope(chat_id: int, user_id: int) -> Request:
    """Returns the scope of a person's private chat, or of a person in a group."""
    if chat_id == user_id:
        return {"type": "chat", "chat_id": chat_id}
    return {"type": "chat_member", "chat_id": chat_id, "user_id": user_id}


async def _tell(messenger: Messenger, method: str, **parameters: Any) -> None:
    try:
        await call_until_answered(messenger, method, **parameters)
    except MessengerError as error:
        where = parameters.get("scope") or parameters.get("chat_id")
        log.info("a command menu was refused", scope=where, error=str(error))
