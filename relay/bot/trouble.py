"""What is said when a message cannot be answered as it should be: notices that are no part of an answer."""

from __future__ import annotations

import contextlib

from relay.bot.place import Place
from relay.bot.understand import lane_of
from relay.claims import Claimed
from relay.errors import MessengerError
from relay.ports import Messenger
from relay.verbs.registry import House

APOLOGY = "⚠️ Something went wrong with this message and I could not answer it. The people who run me have been told."
UNDELIVERED = "⚠️ Telegram does not take my answer to this, or the rest of it. The people who run me have been told."


async def say_once(messenger: Messenger, place: Place, text: str) -> None:
    """Says something once, without a sound and without promise."""
    request = {**place.address(), **place.reply(), "text": text[:4000], "disable_notification": True}
    with contextlib.suppress(MessengerError):
        await messenger.call("sendMessage", **request)


async def tell_trouble(house: House, turn: Claimed, line: str, what: str) -> None:
    """Says `line` to the chat of a turn, and to those who run the bot `what` became of the message."""
    chat, topic_id, message_id = lane_of(turn.updates)
    await say_once(house.messenger, Place(chat["id"], topic_id, chat.get("type") == "private", message_id), line)
    where = chat.get("title") or "a private chat"
    await house.people.refresh(house.store)
    for admin in house.people.admins:
        text = f"⚠️ A message in {where} (turn {turn.turn_id}) {what}"
        await say_once(house.messenger, Place(admin, 0, True), text)
