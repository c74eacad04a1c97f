"""A claimed turn's updates as an `Incoming`, whoever and wherever they come from."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from relay.bot.groups import Groups
from relay.bot.place import Place
from relay.bot.updates import (
    Bot,
    addressed,
    chat_of,
    command_of,
    joined_blocks,
    media_of,
    name_of,
    reply_of,
    said_at,
    text_of,
    topic_of,
)
from relay.errors import MessengerError
from relay.models import Claimed, Incoming
from relay.ports import Messenger

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
    chat = chat_of(last) or {"id": 0, "type": "private"}
    if "stopped_message_generation" in last:
        return chat, last["stopped_message_generation"].get("message_thread_id") or 0, None
    message = last.get("message") or (last.get("callback_query") or {}).get("message") or {}
    return chat, topic_of(message), message.get("message_id")


async def understand(turn: Claimed, bot: Bot, groups: Groups, messenger: Messenger) -> Understood:
    """Reads a turn's updates. Group messages that turn out not to be for the bot come to nothing."""
    first = turn.updates[0]
    if "callback_query" in first:
        return await again(turn, bot, groups, messenger)
    chat, topic_id, _ = lane_of(turn.updates)
    private = chat.get("type") == "private"
    messages = [update["message"] for update in turn.updates]
    space, everything = await groups.space_of(chat, turn.user_id)
    if not everything:
        messages = [message for message in messages if addressed(message, bot)]
    reply_to = messages[-1]["message_id"] if messages and (not private or len(messages) > 1) else None
    place = Place(chat["id"], topic_id, private, reply_to)
    if not messages:
        return Understood(place)
    command = command_of(messages[0], bot)
    if command is not None and command.name == "new":
        return Understood(place, verb="new")
    blocks = joined_blocks(messages, turn.user_id)
    text = "\n".join(text_of(message) for message in messages).strip()[:LONGEST]
    if not text and command is None:
        return Understood(place, notice=cannot_open(messages))
    incoming = Incoming(
        turn_id=turn.turn_id,
        fence=turn.fence,
        bot_id=bot.id,
        chat_id=chat["id"],
        topic_id=topic_id,
        space=space,
        user_id=turn.user_id,
        name=name_of(messages[-1].get("from") or {}),
        text=text,
        blocks=blocks,
        untrusted=any(block.get("untrusted") for block in blocks),
        telegram_message_ids=[message["message_id"] for message in messages],
        at=said_at(messages[-1]),
        reply_to=next((found for message in messages if (found := reply_of(message, bot, turn.user_id))), None),
        retry=command is not None and command.name == "retry",
    )
    return Understood(place, incoming)


async def again(turn: Claimed, bot: Bot, groups: Groups, messenger: Messenger) -> Understood:
    """A tap on Retry (`r:`) or on answering with the web (`w:`): the same message once more."""
    query = turn.updates[0]["callback_query"]
    chat, topic_id, message_id = lane_of(turn.updates)
    asked = (query["message"].get("reply_to_message") or {}).get("from") or query["from"]
    ours = chat.get("type") == "private" or asked.get("id") == turn.user_id
    refusal = None if ours else "This is for whoever asked."
    with contextlib.suppress(MessengerError):
        await messenger.call("answerCallbackQuery", callback_query_id=query["id"], text=refusal)
    if refusal:
        return Understood(Place(chat["id"], topic_id, False))
    space, _ = await groups.space_of(chat, turn.user_id)
    kind, _, number = query["data"].partition(":")
    with contextlib.suppress(MessengerError):
        await messenger.call("editMessageReplyMarkup", chat_id=chat["id"], message_id=message_id)
    place = Place(chat["id"], topic_id, chat.get("type") == "private")
    incoming = Incoming(
        turn_id=turn.turn_id,
        fence=turn.fence,
        bot_id=bot.id,
        chat_id=chat["id"],
        topic_id=topic_id,
        space=space,
        user_id=turn.user_id,
        name=name_of(query.get("from") or {}),
        text="",
        blocks=[],
        untrusted=False,
        telegram_message_ids=[],
        at=said_at({}),
        retry=True,
        retry_turn=int(number) if number.isdecimal() and len(number) < 19 else None,
        web=kind == "w",
    )
    return Understood(place, incoming)


def cannot_open(messages: Sequence[Json]) -> str:
    """The honest line about what cannot be opened yet."""
    kinds = list(dict.fromkeys(media_of(message) for message in messages if media_of(message)))
    return f"I cannot open {' or '.join(kinds) or 'this'} yet. Please tell me in words." if kinds else ""
