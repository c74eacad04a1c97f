"""Which bot it is: the token."""

from __future__ import annotations

import asyncio

from relay.surfaces.cli.doctor.live import telegram_knows
from relay.surfaces.cli.setup.ask import from_environment, hidden, keepable, say, tried
from relay.surfaces.cli.setup.sheet import TOKEN, Sheet

DOING = "Asking Telegram"
HOW = (
    "For a new bot, open @BotFather in Telegram (https://t.me/BotFather), send /newbot, "
    "give the bot a name, and copy the token that you get."
)


def check(sheet: Sheet) -> str:
    """The bot's name. Raises the `MessengerError` tree."""
    settings = sheet.settings(TOKEN)
    me = asyncio.run(telegram_knows(settings))
    return f"this is @{me.username} ({me.first_name})"


def ask(sheet: Sheet) -> Sheet:
    """Asks for the token until Telegram knows it."""
    if sheet.fixed(TOKEN):
        return from_environment(sheet, (TOKEN,), DOING, check)
    kept = bool(sheet[TOKEN]) and keepable(sheet, DOING, check)
    if not kept:
        say(HOW)
    while True:
        token = hidden("Enter keeps it; or paste another token (hidden): " if kept else "Paste it here (hidden): ")
        if token:
            new = tried(sheet, {TOKEN: token}, DOING, check)
            if new is not None:
                return new
        elif kept:
            say("Kept.")
            return sheet
        else:
            say("Without a token there is no bot.")
