"""Renders the replies of chat handlers as Telegram messages, and redraws messages after a button."""

from __future__ import annotations

import contextlib

from relay.core.errors import MessengerError
from relay.core.ports import Messenger
from relay.memory.rows.delivery import Part, Request
from relay.memory.rows.turns.answer import Answer
from relay.memory.store import Store
from relay.surfaces.chat.changes import memory_line
from relay.surfaces.chat.reply import ButtonReply, CommandReply
from relay.surfaces.telegram.formatting.format import run_formatting
from relay.surfaces.telegram.outgoing.redraw import redraw
from relay.surfaces.telegram.outgoing.render import answer_buttons, message_parts, with_voice
from relay.surfaces.telegram.outgoing.requests import inline_keyboard
from relay.surfaces.telegram.parsing.place import Place

REDRAW_SECONDS = 3.0
"""How long a redrawing is repeated. The press is answered afterwards, which Telegram doesn't wait for much longer."""
NOTHING_TO_SAY = "There's nothing in it that I can say aloud."


async def reply_parts(reply: CommandReply, turn_id: int, place: Place) -> list[Part]:
    """Returns the messages of a reply to a command, which `turn_id` ran."""
    buttons = [*reply.rows, *answer_buttons(Answer("", reply.changes), turn_id)]
    if reply.aloud:
        return with_voice([], reply.aloud, place) or message_parts(NOTHING_TO_SAY, place, silent=True)
    footer = memory_line(reply.changes, reply.failed)
    parts = await run_formatting(
        lambda text: message_parts(text, place, buttons, footer, silent=True, file=reply.file), reply.text
    )
    if reply.asks:
        # selective: only for the person replied to; a button's question replies to nobody.
        selective = place.private or place.reply_to is not None
        asking = {"force_reply": True, "selective": selective, "input_field_placeholder": reply.asks}
        parts[0].request["reply_markup"] = asking  # the part that begins as a question does
    return parts


async def redraw_pressed(
    store: Store, messenger: Messenger, bot_id: int, place: Place, message_id: int, done: ButtonReply
) -> None:
    """Gives the message above a button its new text or buttons. If Telegram doesn't confirm that in time, an erasure
    counts the message as showing both."""
    if not done.text and done.rows is None:
        return
    shown: Request = {"reply_markup": inline_keyboard(done.rows or ())}
    if done.text:
        (part, *_) = await run_formatting(lambda text: message_parts(text, place, silent=True), done.text)
        shown |= {key: part.request[key] for key in ("text", "entities", "link_preview_options")}
    with contextlib.suppress(MessengerError, TimeoutError):
        await redraw(store, messenger, bot_id, place.chat_id, message_id, shown, REDRAW_SECONDS)
