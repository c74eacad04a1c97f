"""A Telegram Bot API on loopback that works with an unmodified python-telegram-bot.

``TelegramStandIn`` runs it in the test's process. ``python -m tests.standins.telegram`` and ``RemoteTelegram`` run it
in its own process.
"""

from tests.standins.telegram.remote import RemoteTelegram
from tests.standins.telegram.server import TelegramStandIn
from tests.standins.telegram.values import ApiError, Chat, Record, StoredMessage, Upload, User

__all__ = ["ApiError", "Chat", "Record", "RemoteTelegram", "StoredMessage", "TelegramStandIn", "Upload", "User"]
