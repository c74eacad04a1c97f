"""Telegram: the token, how messages come, who else asks for them, and what the bot sees of groups.

A poll of ours ends the poll of a running bot (Telegram answers that one with 409). So it is made only when no Relay
runs on this data directory or this database, which would tell by itself; it acknowledges nothing, so no message is
lost by it.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from relay.core.errors import MessengerError, MessengerThrottled, PollConflict, TokenRefused
from relay.core.ports import Messenger
from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.runtime.clients import open_telegram
from relay.surfaces.chat.people.bot_rights import BotUser, decode
from relay.surfaces.cli.doctor.finding import Finding, failed, of_error, ok, skipped, warning

NAMES = ("telegram", "messages", "one bot", "groups")
NEEDS = ("TELEGRAM_BOT_TOKEN", "TELEGRAM_API_URL", "RELAY_WEBHOOK_URL")
SECONDS = 120.0
LISTEN_SECONDS = 6
"""How long to listen for another program: whoever loses its poll to ours asks again within a few seconds, which ends
ours."""
RECENT_SECONDS = 3600
MANY = 50
"""More waiting messages than this mean that they are not being fetched."""
FIX_NETWORK = "Check the network, a proxy, TELEGRAM_API_URL, and this machine's clock."
FIX_OTHER = (
    "Stop it, or give this one a bot of its own (@BotFather, /newbot). Where you cannot find it: @BotFather, /revoke, "
    "and the new token here."
)


@dataclass(frozen=True, slots=True)
class WebhookInfo:
    """The result of `getWebhookInfo`."""

    url: str = ""
    pending_update_count: int = 0
    last_error_date: int = 0
    last_error_message: str = ""


@dataclass(frozen=True, slots=True)
class Running:
    """Where a Relay is running: on this data directory (None: unknown), or elsewhere on this database."""

    here: bool | None
    elsewhere: bool
    rivalled: frozenset[str] = frozenset()
    """The ids of bots whose messages another program reads too, as a Relay that runs has seen."""


async def telegram(settings: Settings, running: Callable[[], Awaitable[Running]]) -> list[Finding]:
    """Checks Telegram without disturbing a running bot."""
    if not settings.telegram_bot_token:
        return [skipped(name, "not looked at: TELEGRAM_BOT_TOKEN comes first") for name in NAMES]
    async with open_telegram(settings) as client:
        try:
            me = decode(BotUser, await client.call("getMe")) or BotUser()
            info = decode(WebhookInfo, await client.call("getWebhookInfo")) or WebhookInfo()
        except MessengerError as error:
            return [
                _away(settings, error),
                *(skipped(name, "not looked at: telegram comes first") for name in NAMES[1:]),
            ]
        known = await running()
        return [
            ok("telegram", f"@{me.username}, private topics {'on' if me.has_topics_enabled else 'off'}"),
            messages(settings, info, bool(known.here)),
            await one_bot(client, me, info, known),
            groups(me),
        ]


def _away(settings: Settings, error: MessengerError) -> Finding:
    if isinstance(error, TokenRefused):
        return of_error("telegram", error)
    if isinstance(error, MessengerThrottled):
        return of_error("telegram", error, "Nothing to do, if it passes.", "warning")
    return failed("telegram", f"{urlsplit(settings.telegram_api_url).hostname} cannot be reached", FIX_NETWORK)


def messages(settings: Settings, info: WebhookInfo, here: bool) -> Finding:
    """Checks how messages arrive: by polling or webhook. Shows only the webhook's host; the rest may be secret."""
    at, wanted, waiting = info.url, settings.webhook_url, info.pending_update_count
    host = urlsplit(at).hostname
    if at and not wanted:
        said = f"a webhook is set, at {host}, so nothing comes to those who ask"
        fix = f"`{RELAY} run` takes it away. If it comes back, another program uses this token: @BotFather, /revoke."
        return failed("messages", said, fix)
    if wanted and not at.startswith(wanted):
        said = f"Telegram delivers to {host}, not to RELAY_WEBHOOK_URL" if at else "the webhook is not set"
        if here:
            return failed(
                "messages", said, "Restart Relay; its log tells why Telegram does not take RELAY_WEBHOOK_URL."
            )
        return skipped("messages", f"{said}; `{RELAY} run` sets it")
    recent = time.time() - info.last_error_date < RECENT_SECONDS
    if at and recent:
        said = f"Telegram could not deliver to {host}: {info.last_error_message}"
        return warning(
            "messages", said, "What stands before RELAY_WEBHOOK_PORT must pass it on, with a good certificate."
        )
    way = f"delivered to {host}" if at else "asked for"
    if here and waiting > MANY:
        return warning("messages", f"{waiting} wait at Telegram", "Relay's log tells why it does not take them.")
    return ok("messages", f"{way}, {waiting} waiting")


async def one_bot(client: Messenger, me: BotUser, info: WebhookInfo, running: Running) -> Finding:
    """Checks whether another program reads this bot's messages."""
    if running.here is None:
        return skipped("one bot", "not looked at: the data directory comes first")
    if (running.here or running.elsewhere) and str(me.id) in running.rivalled:
        return failed("one bot", "another program reads this bot's messages too, or did minutes ago", FIX_OTHER)
    if running.here:
        return ok("one bot", "Relay runs here")
    if running.elsewhere:
        return ok("one bot", "Relay runs elsewhere on this database")
    if info.url:
        return skipped("one bot", "not looked at: a webhook is set, so nobody can ask for messages")
    try:
        await client.call("getUpdates", timeout=LISTEN_SECONDS, limit=1)
    except PollConflict:
        return failed("one bot", "another program reads this bot's messages", FIX_OTHER)
    except MessengerError as error:
        return of_error("one bot", error, FIX_NETWORK)
    return ok("one bot", "Relay does not run, and nobody else reads its messages")


def groups(me: BotUser) -> Finding:
    """What the bot sees of groups."""
    if me.can_read_all_group_messages:
        return ok("groups", "it sees all messages in groups")
    fix = (
        "Only if you want it in groups: @BotFather, /mybots, your bot, Bot Settings, Group Privacy, Turn off. Then "
        "take it out of the group and add it again."
    )
    return warning("groups", "privacy mode is on: in groups it sees only commands and replies to it", fix)
