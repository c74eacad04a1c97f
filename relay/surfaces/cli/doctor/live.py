"""Checks keys with the services they belong to."""

from relay.core.settings import Settings
from relay.runtime.clients import open_clients, open_telegram
from relay.runtime.storage import open_storage, prepare_schema
from relay.surfaces.chat.people.bot_rights import BotUser, decode


async def telegram_knows(settings: Settings) -> BotUser:
    """Returns the bot of a token. Raises `MessengerError`."""
    async with open_telegram(settings) as telegram:
        return decode(BotUser, await telegram.call("getMe")) or BotUser()


async def model_answers(settings: Settings, model: str) -> None:
    """Checks that a model can be used with the key, by asking it for one token. Raises `ModelError`."""
    async with open_clients(settings) as clients:
        await clients.claude.check(model)


async def storage_opens(settings: Settings) -> str:
    """Opens the storage that the settings name and brings its schema up to date. Returns what to call it.

    Raises `DatabaseError` or `SettingsError`.
    """
    async with open_storage(settings) as opened:
        await prepare_schema(opened, settings, wait=False)
        return opened.label
