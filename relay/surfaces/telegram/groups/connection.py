"""The connection of one bot to Telegram."""

from __future__ import annotations

from relay.core.frozen import frozen
from relay.core.ports import Messenger
from relay.surfaces.telegram.groups.groups import Groups
from relay.surfaces.telegram.parsing.updates import Bot


@frozen
class Connection:
    """A bot, its messenger, and what it knows about its groups."""

    messenger: Messenger
    bot: Bot
    groups: Groups


def make_connection(messenger: Messenger, bot: Bot) -> Connection:
    """Makes a connection that knows no groups yet."""
    return Connection(messenger, bot, Groups(messenger, bot.id))
