"""A claimed turn's updates as an `Incoming`, whoever and wherever they come from."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from relay.bot.groups import Groups
from relay.bot.place import Place
from relay.bot.said import joined_blocks, media_of, name_of, reply_of, said_at, text_of
from relay.bot.updates import Bot, addressed, body_of, chat_of, command_of, may_answer, topic_of
from relay.errors import MessengerError
from relay.memory.store import Store
from relay.models import Claimed, Incoming, Space
from relay.ports import Messenger
from relay.verbs.changes import changes_keyboard

LONGEST = 400_000
"""Characters of one input; Telegram's merged pastes stay far below."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Understood:
    """What a turn's updates mean: an input to answer, a verb to run in its lane, or a line to say."""

    place: Place
    incoming: Incoming | None = None
    verb: str | None = None
    notice: str | None = None


def lane_of(updates: Sequence[Json]) -> tuple[Json, int, int | None]:
    """The chat, the topic and the last message of a turn's updates."""
    last = updates[-1]
    chat, body = chat_of(last) or {"id": 0, "type": "private"}, body_of(last)
    if "stopped_message_generation" in last:
        return chat, body.get("message_thread_id") or 0, None
    return chat, topic_of(body), body.get("message_id")


async def understand(turn: Claimed, bot: Bot, groups: Groups, messenger: Messenger, store: Store) -> Understood:
    """Reads a turn's updates. Group messages that turn out not to be for the bot come to nothing."""
    if "callback_query" in turn.updates[0]:
        return await again(turn, bot, groups, messenger, store)
    chat, topic_id, _ = lane_of(turn.updates)
    private = chat.get("type") == "private"
    messages = [update["message"] for update in turn.updates]
    space, everything = await groups.space_of(chat, turn.user_id)
    if turn.answers == "addressed" or not (everything or turn.answers == "all"):
        messages = [message for message in messages if addressed(message, bot)]
    reply_to = messages[-1]["message_id"] if messages and (not private or len(messages) > 1) else None
    place = Place(chat["id"], topic_id, private, reply_to)
    if not messages:
        return Understood(place)
    command = command_of(messages[0], bot)
    if command is not None and command.name == "new":
        return Understood(place, verb="new")
    if await asked(messages[0], bot, store):
        return Understood(place, verb="reply")
    blocks = joined_blocks(messages, turn.user_id)
    text = "\n".join(text_of(message) for message in messages).strip()[:LONGEST]
    if not text and command is None:
        return Understood(place, notice=cannot_open(messages))
    incoming = replace(
        unsaid(turn, bot, place, space, messages[-1].get("from") or {}),
        text=text,
        blocks=blocks,
        untrusted=any(block.get("untrusted") for block in blocks),
        telegram_message_ids=[message["message_id"] for message in messages],
        at=said_at(messages[-1]),
        reply_to=next((found for message in messages if (found := reply_of(message, bot.id, turn.user_id))), None),
        retry=command is not None and command.name == "retry",
    )
    return Understood(place, incoming)


def silenced(turn: Claimed, bot: Bot, admin: bool) -> bool:
    """Whether nothing comes of a turn because nothing is answered where it was said: all that people say there, but
    for what an admin commands. Buttons, and what Telegram tells of the group, go on."""
    update = turn.updates[0]
    if turn.answers != "off" or not update.keys() & {"message", "edited_message"}:
        return False
    body = body_of(update)
    return bool(text_of(body) or media_of(body)) and not (admin and command_of(body, bot))


async def asked(message: Json, bot: Bot, store: Store) -> str:
    """The question of ours that a message answers: it replies to one that is stored as such, however it looks."""
    if not may_answer(message, bot):
        return ""
    return await store.asked(bot.id, message["chat"]["id"], message["reply_to_message"]["message_id"])


async def topic_pressed(query: Json, bot: Bot, store: Store) -> int:
    """The topic in which a button was pressed. Telegram does not tell it of an old message, whose date is 0."""
    message = query["message"]
    if message.get("date") != 0:
        return topic_of(message)
    return await store.topic_of(bot.id, message["chat"]["id"], message["message_id"])


async def again(turn: Claimed, bot: Bot, groups: Groups, messenger: Messenger, store: Store) -> Understood:
    """A tap on Retry (`r:`) or on answering with the web (`w:`): the same message once more.

    These buttons go, since the new answer brings its own; those that decide about memory stay.
    """
    query = turn.updates[0]["callback_query"]
    chat, _, message_id = lane_of(turn.updates)
    place = Place(chat["id"], await topic_pressed(query, bot, store), chat.get("type") == "private")
    kind, _, number = query["data"].partition(":")
    of_turn = int(number) if number.isdecimal() and len(number) < 19 else 0
    asked = (query["message"].get("reply_to_message") or {}).get("from") or query["from"]
    ours = place.private or asked.get("id") == turn.user_id
    changes = await store.changes(of_turn, turn.user_id, False) if ours else None
    refusal = "This is for whoever asked." if changes is None else None
    if turn.answers == "off":
        changes, refusal = None, "I am switched off here."
    with contextlib.suppress(MessengerError):
        await messenger.call("answerCallbackQuery", callback_query_id=query["id"], text=refusal)
    if changes is None:
        return Understood(place)
    keyboard = {"inline_keyboard": changes_keyboard(changes, of_turn, opened=False)}
    with contextlib.suppress(MessengerError):
        await messenger.call(
            "editMessageReplyMarkup", chat_id=place.chat_id, message_id=message_id, reply_markup=keyboard
        )
    space, _ = await groups.space_of(chat, turn.user_id)
    nothing = unsaid(turn, bot, place, space, query.get("from") or {})
    return Understood(place, replace(nothing, retry=True, retry_turn=of_turn, web=kind == "w"))


def unsaid(turn: Claimed, bot: Bot, place: Place, space: Space, sender: Json) -> Incoming:
    """A turn's input before anything is said in it."""
    return Incoming(
        turn_id=turn.turn_id,
        fence=turn.fence,
        bot_id=bot.id,
        chat_id=place.chat_id,
        topic_id=place.topic_id,
        space=space,
        lent=Space("private", owner_id=turn.user_id)
        if space.kind == "group" and turn.linked_to == turn.user_id
        else None,
        user_id=turn.user_id,
        name=name_of(sender),
        text="",
        blocks=[],
        untrusted=False,
        telegram_message_ids=[],
        at=datetime.now(UTC),
    )


def cannot_open(messages: Sequence[Json]) -> str:
    """The honest line about what cannot be opened yet."""
    kinds = list(dict.fromkeys(media_of(message) for message in messages if media_of(message)))
    return f"I cannot open {' or '.join(kinds) or 'this'} yet. Please tell me in words." if kinds else ""
