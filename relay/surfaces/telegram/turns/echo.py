"""Echoes the transcripts of recordings before the answer, and takes corrections of them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import replace

from relay.core.errors import MessengerRefused
from relay.core.models import Attachment, Block, Incoming
from relay.core.ports import Messenger
from relay.media.reading import FileContents
from relay.memory.claims import ClaimedTurn
from relay.memory.contexts.markers import markers_in
from relay.memory.rows.delivery import Request
from relay.memory.rows.turns.edits import Correction
from relay.memory.store import Store
from relay.surfaces.telegram.formatting.format import format_heard
from relay.surfaces.telegram.outgoing.delivery import Delivery
from relay.surfaces.telegram.outgoing.redraw import redraw
from relay.surfaces.telegram.outgoing.requests import text_request
from relay.surfaces.telegram.parsing.message_parser import text_of
from relay.surfaces.telegram.parsing.objects import Message
from relay.surfaces.telegram.parsing.place import Place
from relay.surfaces.telegram.parsing.updates import Bot, may_correct

LONG_SECONDS = 30
LONGEST = 100_000
"""Characters of a correction."""


class Echoes:
    """Posts each transcript once, silently, as a reply to its recording."""

    def __init__(self, delivery: Delivery, which: str) -> None:
        """`which`: always, long or off."""
        self._delivery = delivery
        self._which = which

    def of(
        self, turn: ClaimedTurn, incoming: Incoming, place: Place
    ) -> Callable[[Attachment, FileContents], Awaitable[None]]:
        """Returns the callback that posts the transcripts of an input as they are read."""
        # Only one at a time: two with the same words could not be told apart if their responses were lost.
        one_by_one = asyncio.Lock()

        async def on_read(attachment: Attachment, read: FileContents) -> None:
            if not any(self._is_told(block) for block in read.blocks):
                return
            async with one_by_one:
                for message_id in messages_with(incoming, attachment):
                    request = request_of(read.text, replace(place, reply_to=message_id))
                    await self._delivery.echo(turn, message_id, request)

        return on_read

    def _is_told(self, block: Block) -> bool:
        if "heard" not in block or self._which == "off":
            return False
        return self._which == "always" or bool(block["heard"]["seconds"] >= LONG_SECONDS)


def messages_with(incoming: Incoming, attachment: Attachment) -> list[int]:
    """Returns the ids of an input's Telegram messages that contain a file."""
    if not incoming.parts:
        return incoming.telegram_message_ids[:1]
    return [
        message_id
        for message_id, part in zip(incoming.telegram_message_ids, incoming.parts, strict=True)
        if any((block.get("file") or {}).get("unique_id") == attachment.unique_id for block in part.blocks)
    ]


def request_of(text: str, place: Place) -> Request:
    """Returns the message that shows a transcript."""
    return {**text_request(place, format_heard(text)), **place.reply(), "disable_notification": True}


async def correct_transcript(
    turn: ClaimedTurn, message: Message, bot: Bot, messenger: Messenger, store: Store
) -> Correction | None:
    """Takes a reply to an echo as the right transcript, and replaces it in the record and in the chat.

    Returns the recording's turn; None if the message is not such a reply, or not by the speaker.
    """
    if not may_correct(message, bot) or message.reply_to_message is None:
        return None
    chat_id, echo_id = message.chat.id, message.reply_to_message.message_id
    text = text_of(message).strip()[:LONGEST]
    done = await store.correct(turn, chat_id, echo_id, text)
    if done is not None:
        shown = format_heard(text)
        with contextlib.suppress(MessengerRefused):
            edit: Request = {"text": shown.text, "entities": shown.entities}
            await redraw(store, messenger, bot.id, chat_id, echo_id, edit)
        if marked := done.marked:
            await store.read_keepits(marked.message_id, marked.wording, turn.user_id, markers_in(marked.blocks))
    return done
