"""Telegram: the token, how messages arrive, whether another program reads them, and what the bot sees of groups.

A poll ends the poll of a running bot, which gets 409 from Telegram. So doctor polls only if no Relay runs on this data
directory or database. Its poll acknowledges nothing, so no message is lost.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from relay.core.errors import MessengerError, MessengerThrottled, PollConflict, TokenRefused
from relay.core.frozen import frozen
from relay.core.ports import Messenger
from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.runtime.clients import open_telegram
from relay.surfaces.chat.people.bot_rights import BotUser, decode
from relay.surfaces.cli.doctor.finding import Finding, failed, of_error, ok, skip_until, skipped, warning

NAMES = ("telegram", "messages", "one bot", "groups")
NEEDS = ("TELEGRAM_BOT_TOKEN", "TELEGRAM_API_URL", "RELAY_WEBHOOK_URL")
SECONDS = 120.0
LISTEN_SECONDS = 6
"""How long doctor's poll lasts. Another program that loses its poll to it tries again within seconds and ends it."""
RECENT_SECONDS = 3600
MANY = 50
"""More waiting messages than this mean that they are not being fetched."""
FIX_NETWORK = "Check the network, HTTPS_PROXY, TELEGRAM_API_URL, and this machine's clock."
FIX_OTHER = (
    "Stop it, or use another bot here (@BotFather, /newbot). If you can't find it, revoke the token (@BotFather, "
    "/revoke) and set the new one here."
)


@frozen
class WebhookInfo:
    """The result of `getWebhookInfo`."""

    url: str = ""
    pending_update_count: int = 0
    last_error_date: int = 0
    last_error_message: str = ""


@frozen
class Running:
    """Where a Relay is running: on this data directory (None: unknown), or elsewhere on this database."""

    here: bool | None
    elsewhere: bool
    rivalled: frozenset[str] = frozenset()
    """The ids of bots whose messages another program reads too, as a running Relay noticed."""


async def telegram(settings: Settings, running: Callable[[], Awaitable[Running]]) -> list[Finding]:
    """Checks Telegram without disturbing a running bot."""
    if not settings.telegram_bot_token:
        return [skipped(name, "not checked: set TELEGRAM_BOT_TOKEN first") for name in NAMES]
    async with open_telegram(settings) as client:
        try:
            me = decode(BotUser, await client.call("getMe")) or BotUser()
            info = decode(WebhookInfo, await client.call("getWebhookInfo")) or WebhookInfo()
        except MessengerError as error:
            return [_explain_error(settings, error), *skip_until("telegram", NAMES[1:])]
        known = await running()
        return [
            ok("telegram", f"@{me.username}, private topics {'on' if me.has_topics_enabled else 'off'}"),
            messages(settings, info, bool(known.here)),
            await one_bot(client, me, info, known),
            groups(me),
        ]


def _explain_error(settings: Settings, error: MessengerError) -> Finding:
    if isinstance(error, TokenRefused):
        return of_error("telegram", error)
    if isinstance(error, MessengerThrottled):
        return of_error("telegram", error, "There is nothing to do unless this lasts.", "warning")
    return failed("telegram", f"Relay can't reach {urlsplit(settings.telegram_api_url).hostname}", FIX_NETWORK)


def messages(settings: Settings, info: WebhookInfo, here: bool) -> Finding:
    """Checks how messages arrive: by polling or webhook. Shows only the webhook's host; the rest may be secret."""
    at, wanted, waiting = info.url, settings.webhook_url, info.pending_update_count
    host = urlsplit(at).hostname
    if at and not wanted:
        said = f"a webhook is set, at {host}, so polling gets no messages"
        fix = f"`{RELAY} run` removes it. If it comes back, another program uses this token: @BotFather, /revoke."
        return failed("messages", said, fix)
    if wanted and not at.startswith(wanted):
        said = f"Telegram delivers to {host}, not to RELAY_WEBHOOK_URL" if at else "the webhook is not set"
        if here:
            return failed("messages", said, "Restart Relay. Its log says why Telegram rejects RELAY_WEBHOOK_URL.")
        return skipped("messages", f"{said}; `{RELAY} run` sets it")
    recent = time.time() - info.last_error_date < RECENT_SECONDS
    if at and recent:
        said = f"Telegram could not deliver to {host}: {info.last_error_message}"
        return warning("messages", said, "Check the proxy in front of RELAY_WEBHOOK_PORT and its certificate.")
    way = f"delivered to {host}" if at else "polled"
    if here and waiting > MANY:
        return warning("messages", f"{waiting} are waiting at Telegram", "Relay's log says why it doesn't fetch them.")
    return ok("messages", f"{way}, {waiting} waiting")


async def one_bot(client: Messenger, me: BotUser, info: WebhookInfo, running: Running) -> Finding:
    """Checks whether another program reads this bot's messages."""
    if running.here is None:
        return skipped("one bot", "not checked: fix the data directory first")
    if (running.here or running.elsewhere) and str(me.id) in running.rivalled:
        return failed("one bot", "another program reads this bot's messages too, or did minutes ago", FIX_OTHER)
    if running.here:
        return ok("one bot", "Relay runs here")
    if running.elsewhere:
        return ok("one bot", "Relay runs elsewhere on this database")
    if info.url:
        return skipped("one bot", "not checked: a webhook is set, so nobody can poll")
    try:
        await client.call("getUpdates", timeout=LISTEN_SECONDS, limit=1)
    except PollConflict:
        return failed("one bot", "another program reads this bot's messages", FIX_OTHER)
    except MessengerError as error:
        return of_error("one bot", error, FIX_NETWORK)
    return ok("one bot", "Relay is not running, and no other program reads the bot's messages")


def groups(me: BotUser) -> Finding:
    """Checks what the bot sees of groups."""
    if me.can_read_all_group_messages:
        return ok("groups", "the bot sees all messages in groups")
    fix = (
        "To use the bot in groups: @BotFather, /mybots, your bot, Bot Settings, Group Privacy, Turn off. Then remove "
        "the bot from the group and add it again."
    )
    return warning("groups", "privacy mode is on: in groups, the bot sees only commands and replies to it", fix)
