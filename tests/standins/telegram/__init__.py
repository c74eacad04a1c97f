"""A Telegram Bot API on loopback: real enough for an unmodified python-telegram-bot.

``TelegramStandIn`` runs it inside the test's process; ``python -m tests.standins.telegram`` and
``RemoteTelegram`` run it in a process of its own.
"""

from tests.standins.telegram.remote import RemoteTelegram
from tests.standins.telegram.server import TelegramStandIn
from tests.standins.telegram.values import ApiError, Chat, Record, StoredMessage, Upload, User

__all__ = [
    "ApiError",
    "Chat",
    "Record",
    "RemoteTelegram",
    "StoredMessage",
    "TelegramStandIn",
    "Upload",
    "User",
]
