"""Reactions are stored as signals. They get no answer and cost no model call."""

from __future__ import annotations

import contextlib
import time

from relay.core.errors import MessengerError
from relay.core.ports import Messenger
from relay.memory.store import Store
from relay.surfaces.chat.changes import current_rows
from relay.surfaces.telegram.outgoing.requests import inline_keyboard
from relay.surfaces.telegram.parsing.objects import MessageReactionUpdated, ReactionType
from relay.surfaces.telegram.parsing.updates import Bot

KEEP, DISLIKE = "✍", "👎"


async def store_reactions(reaction: MessageReactionUpdated, user_id: int, bot: Bot, store: Store) -> None:
    """Stores a person's present reactions to a message."""
    emojis = [name for one in reaction.new_reaction if (name := emoji_of(one))]
    when = reaction.date or int(time.time())
    await store.react(bot.id, reaction.chat.id, reaction.message_id, user_id, emojis, when)


def keeps(reaction: MessageReactionUpdated) -> bool:
    """Whether a person just added a ✍, which asks to save the message."""
    return KEEP in find_added(reaction)


async def take_keep(
    reaction: MessageReactionUpdated, user_id: int, bot: Bot, messenger: Messenger, store: Store
) -> None:
    """Removes the ◆ button from an answer that just got a 👎."""
    if DISLIKE not in find_added(reaction):
        return
    shown = await store.take_keep(bot.id, reaction.chat.id, reaction.message_id, user_id)
    if shown is None:
        return
    at = {"chat_id": shown.chat_id, "message_id": shown.message_id}
    rows = current_rows(shown.changes, shown.turn_id, shown.rows, keeps=False)
    with contextlib.suppress(MessengerError):
        await messenger.call("editMessageReplyMarkup", **at, reply_markup=inline_keyboard(rows))


def find_added(reaction: MessageReactionUpdated) -> set[str]:
    """Returns the emojis that a person has just added."""
    old, new = (
        {emoji_of(one).rstrip("\ufe0f") for one in given} for given in (reaction.old_reaction, reaction.new_reaction)
    )
    return new - old


def emoji_of(reaction: ReactionType) -> str:
    """Returns a reaction's stored form: its emoji, `custom:<id>`, or `paid`. Empty for unknown kinds."""
    match reaction.type:
        case "emoji":
            return reaction.emoji
        case "custom_emoji":
            return f"custom:{reaction.custom_emoji_id}"
        case "paid":
            return "paid"
    return ""
