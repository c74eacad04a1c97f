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
