"""Sets up the bot's token."""

import asyncio

from relay.surfaces.cli.doctor.live import telegram_knows
from relay.surfaces.cli.setup.ask import can_keep, read_hidden, say, try_answers, use_environment
from relay.surfaces.cli.setup.sheet import TOKEN, Sheet

DOING = "Checking with Telegram"
HOW = (
    "For a new bot, open @BotFather in Telegram (https://t.me/BotFather), send /newbot, "
    "give the bot a name, and copy its token."
)


def check(sheet: Sheet) -> str:
    """Returns the bot's name. Raises the `MessengerError` tree."""
    settings = sheet.settings(TOKEN)
    me = asyncio.run(telegram_knows(settings))
    return f"this is @{me.username} ({me.first_name})"


def ask(sheet: Sheet) -> Sheet:
    """Asks for the token until Telegram accepts it."""
    if sheet.is_fixed(TOKEN):
        return use_environment(sheet, (TOKEN,), DOING, check)
    kept = bool(sheet[TOKEN]) and can_keep(sheet, DOING, check)
    if not kept:
        say(HOW)
    while True:
        token = read_hidden(
            "Press Enter to keep it, or paste another token (hidden): " if kept else "Paste it here (hidden): "
        )
        if token:
            new = try_answers(sheet, {TOKEN: token}, DOING, check)
            if new is not None:
                return new
        elif kept:
            say("Kept.")
            return sheet
        else:
            say("Relay needs a token.")
