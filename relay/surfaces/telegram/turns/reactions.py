"""Reactions: taken down as signals; nobody is answered for one, and the model that answers is not asked."""

from __future__ import annotations

import contextlib
import time

from relay.core.errors import MessengerError
from relay.core.ports import Messenger
from relay.memory.store import Store
from relay.surfaces.chat.changes import closed_row, other_rows
from relay.surfaces.chat.memory_buttons import KeepAnswer, OpenChanges
from relay.surfaces.telegram.outgoing.requests import inline_keyboard
from relay.surfaces.telegram.parsing.objects import MessageReactionUpdated, ReactionType
from relay.surfaces.telegram.parsing.updates import Bot

KEEP, DISLIKE = "✍", "👎"


async def reacted(reaction: MessageReactionUpdated, user_id: int, bot: Bot, store: Store) -> None:
    """Takes down how somebody's reactions to a message stand now."""
    emojis = [name for one in reaction.new_reaction if (name := emoji_of(one))]
    when = reaction.date or int(time.time())
    await store.react(bot.id, reaction.chat.id, reaction.message_id, user_id, emojis, when)


def keeps(reaction: MessageReactionUpdated) -> bool:
    """Whether somebody just gave a ✍: they want the message kept, where their choices allow that."""
    return KEEP in given_now(reaction)


async def take_keep(
    reaction: MessageReactionUpdated, user_id: int, bot: Bot, messenger: Messenger, store: Store
) -> None:
    """Takes the ◆ from an answer that somebody just gave a 👎: it is not worth keeping."""
    if DISLIKE not in given_now(reaction):
        return
    shown = await store.take_keep(bot.id, reaction.chat.id, reaction.message_id, user_id)
    if shown is None:
        return
    others = other_rows(shown.rows, OpenChanges, KeepAnswer)
    at = {"chat_id": shown.chat_id, "message_id": shown.message_id}
    rows = [*closed_row(shown.changes, shown.turn_id), *others]
    with contextlib.suppress(MessengerError):
        await messenger.call("editMessageReplyMarkup", **at, reply_markup=inline_keyboard(rows))


def given_now(reaction: MessageReactionUpdated) -> set[str]:
    """The emojis that somebody has just added."""
    old, new = (
        {emoji_of(one).rstrip("\ufe0f") for one in given} for given in (reaction.old_reaction, reaction.new_reaction)
    )
    return new - old


def emoji_of(reaction: ReactionType) -> str:
    """A reaction as it is kept: its emoji, `custom:` and the id of a custom one, or `paid`. Empty for kinds unknown."""
    match reaction.type:
        case "emoji":
            return reaction.emoji
        case "custom_emoji":
            return f"custom:{reaction.custom_emoji_id}"
        case "paid":
            return "paid"
    return ""
