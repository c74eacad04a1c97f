"""Asking those whom the keys are for whether they are good."""

from __future__ import annotations

from relay.core.settings import Settings
from relay.runtime.storage import open_storage, prepare_schema
from relay.surfaces.chat.people.bot_rights import BotUser, decode


async def telegram_knows(token: str, api_url: str) -> BotUser:
    """Who the bot of a token is. Raises the `MessengerError` tree."""
    from relay.clients.telegram.client import Telegram

    telegram = Telegram(token, api_url)
    try:
        await telegram.open()
        return decode(BotUser, await telegram.call("getMe")) or BotUser()
    finally:
        await telegram.close_pools()


async def model_answers(key: str, base_url: str, model: str) -> None:
    """Whether a model can be used with a key: asks it for one token. Raises the `ModelError` tree."""
    from relay.clients.anthropic.client import CHECK_SECONDS, Claude

    claude = Claude(key, base_url, timeout=CHECK_SECONDS)
    try:
        await claude.check(model)
    finally:
        await claude.close()


async def storage_opens(settings: Settings) -> str:
    """Opens the storage that the settings name and brings its schema up to date. Returns what to call it.

    Raises `DatabaseError` or `SettingsError`.
    """
    async with open_storage(settings) as opened:
        await prepare_schema(opened, settings, wait=False)
        return opened.label
