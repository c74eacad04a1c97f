"""The command menu that Telegram shows."""

from __future__ import annotations

from relay.ports import Messenger
from relay.verbs import VERBS


async def register(messenger: Messenger) -> None:
    """Registers the commands with Telegram: private chats get all that everybody may use."""
    commands = [
        {"command": verb.name, "description": verb.help[:256]}
        for verb in VERBS.values()
        if "chat" in verb.doors and not verb.admin
    ]
    await messenger.call("setMyCommands", commands=commands)


async def register_in_group(messenger: Messenger, chat_id: int, user_id: int) -> None:
    """Registers all commands for somebody who runs the bot, in a group in which they are."""
    commands = [
        {"command": verb.name, "description": verb.help[:256]} for verb in VERBS.values() if "chat" in verb.doors
    ]
    scope = {"type": "chat_member", "chat_id": chat_id, "user_id": user_id}
    await messenger.call("setMyCommands", commands=commands, scope=scope)
