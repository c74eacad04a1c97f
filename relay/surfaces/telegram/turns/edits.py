"""Edited messages: a waiting one is answered in its new wording; an answered one can be answered again."""

from __future__ import annotations

import asyncio
import contextlib

from relay.core.errors import MessengerError
from relay.core.limits import MESSAGE_LENGTH
from relay.core.models import Button
from relay.core.ports import Messenger
from relay.memory.contexts.markers import markers_in
from relay.memory.rows.turns.edits import ShownAnswer
from relay.memory.store import Store
from relay.surfaces.chat.changes import current_rows, other_rows
from relay.surfaces.chat.reply import button
from relay.surfaces.chat.turn_buttons import AnswerAgain
from relay.surfaces.telegram.outgoing.redraw import redraw
from relay.surfaces.telegram.outgoing.requests import inline_keyboard
from relay.surfaces.telegram.parsing.message_parser import blocks_of, find_replied_file, text_of
from relay.surfaces.telegram.parsing.objects import Update
from relay.surfaces.telegram.parsing.updates import Bot, message_of, topic_of
from relay.surfaces.telegram.turns.fair_queue import wait_aside

LOOK_SECONDS, LONGEST_PAUSE = 0.3, 3.0
"""How often to check whether an answer has been delivered; the pause grows."""


async def store_edit(update: Update, user_id: int, bot: Bot, messenger: Messenger, store: Store) -> None:
    """Stores an edit, and offers a new answer under the answer to the old wording.

    Waits while the message is being answered, because that answer is to the old wording.
    """
    message = message_of(update)
    edit = {
        "bot_id": bot.id,
        "chat_id": message.chat.id,
        "topic_id": topic_of(message),
        "telegram_message_id": message.message_id,
        "user_id": user_id,
        "edited_at": message.edit_date or message.date,
        "text": text_of(message).strip()[:MESSAGE_LENGTH],
        "blocks": [*find_replied_file(message, user_id, bot.id), *blocks_of(message, user_id)],
        "message": update.raw["edited_message"],
    }
    pause = LOOK_SECONDS
    while True:
        done = await store.edit(edit)
        if not done.busy:
            break
        wait_aside()
        await asyncio.sleep(pause)
        pause = min(LONGEST_PAUSE, pause * 1.3)
    if offer := done.offer:
        rows = inline_keyboard(with_offer(offer))
        with contextlib.suppress(MessengerError):
            await redraw(store, messenger, bot.id, offer.chat_id, offer.message_id, {"reply_markup": rows})
    if marked := done.marked:  # only now, so that the correction of the line keeps the offer's button
        await store.read_keepits(marked.message_id, marked.wording, user_id, markers_in(marked.blocks))


def with_offer(offer: ShownAnswer) -> list[list[Button]]:
    """Returns the present buttons under an answer, and the one that offers a new answer."""
    rows = current_rows(offer.changes, offer.turn_id, other_rows(offer.rows, AnswerAgain), offer.keeps)
    return [*rows, [button("✎ Answer again", AnswerAgain(offer.turn_id))]]
