"""What is said when a message cannot be answered as it should be: notices that are no part of an answer."""

from __future__ import annotations

import contextlib

from relay.commands.context import Services
from relay.core.errors import MessengerError
from relay.core.ports import Messenger
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Part
from relay.surfaces.chat.changes import first_rows, memory_line
from relay.surfaces.telegram.outgoing.render import message_parts
from relay.surfaces.telegram.parsing.place import Place
from relay.surfaces.telegram.turns.understand import Understood, lane_of

APOLOGY = "⚠️ Something went wrong with this message and I could not answer it. The people who run me have been told."
UNDELIVERED = "⚠️ Telegram does not take my answer to this, or the rest of it. The people who run me have been told."


async def say_once(messenger: Messenger, place: Place, text: str) -> None:
    """Says something once, without a sound and without promise."""
    request = {**place.address(), **place.reply(), "text": text[:4000], "disable_notification": True}
    with contextlib.suppress(MessengerError):
        await messenger.call("sendMessage", **request)


async def tell_trouble(services: Services, turn: ClaimedTurn, line: str, what: str) -> None:
    """Says `line` to the chat of a turn, and to those who run the bot `what` became of the message."""
    chat, topic_id, message_id = lane_of(turn)
    await say_once(services.messenger, Place(chat.id, topic_id, chat.private, message_id), line)
    where = chat.title or "a private chat"
    await services.people.refresh(services.store)
    for admin in services.people.admins:
        text = f"⚠️ A message in {where} (turn {turn.turn_id}) {what}"
        await say_once(services.messenger, Place(admin, 0, True), text)


def notice_parts(understood: Understood) -> list[Part]:
    """The line that takes an answer's place, with what of memory it is about."""
    changes, turn_id = understood.changes, understood.changed_by
    buttons, footer = first_rows(changes, turn_id), memory_line(changes, [])
    return message_parts(understood.notice or "", understood.place, buttons, footer, silent=True)
