"""Answered messages of Ada's, their edits, and turns that answer them again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from relay.core.models import Incoming
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Part, PartResult
from relay.memory.store import Store
from tests.integration.turn_driver import ADA, BOT, TurnDriver, group, incoming_of, message, private, reply

Json = dict[str, Any]


def edit_of(update: Json, text: str, at: int = 1, **more: Any) -> Json:
    """Returns the edit of a message as the bot passes it to the store."""
    raw = update["message"] | {"text": text, "edit_date": update["message"]["date"] + at} | more
    return {
        "bot_id": BOT.id,
        "chat_id": raw["chat"]["id"],
        "topic_id": raw.get("message_thread_id", 0),
        "telegram_message_id": raw["message_id"],
        "user_id": raw["from"]["id"],
        "edited_at": raw["edit_date"],
        "text": text,
        "blocks": [{"type": "text", "text": text}],
        "message": raw,
    }


async def answered(
    driver: TurnDriver, text: str = "helo", *actions: Json, **more: Any
) -> tuple[ClaimedTurn, Incoming, Json]:
    """Stores a message and its answer, which is message 900 in the chat. Also returns the update of the message."""
    update = message(ADA, text, **more)
    (turn,) = [turn for turn in await driver.say(update) if update in turn.updates]
    incoming = incoming_of(turn, text, private(ADA) if "chat_id" not in more else group())
    await driver.store.begin(incoming, "m")
    await driver.store.finish(incoming, reply("Yes.", actions))
    await posted(driver.store, turn, 900)
    return turn, incoming, update


async def posted(store: Store, turn: ClaimedTurn, *message_ids: int, chat_id: int = ADA) -> list[Json]:
    """Delivers an answer in parts, as messages with these ids. Returns the rows as they were first stored."""
    markup = {"inline_keyboard": [[{"text": "↻ Retry", "callback_data": f"r:{turn.turn_id}"}]]}
    parts = [
        Part(seq, chat_id, {"chat_id": chat_id, "text": f"part {seq}", "reply_markup": markup})
        for seq in range(1, len(message_ids) + 1)
    ]
    rows = await store.deliver(turn, BOT.id, parts)
    results = [PartResult(seq, "sent", message_id) for seq, message_id in enumerate(message_ids, 1)]
    await store.store_sent(turn, results, True)
    return rows


async def again(
    driver: TurnDriver, of_turn: ClaimedTurn, answer: str = "Yes!", *actions: Json, replaces: bool = True
) -> Incoming:
    """Answers the message of an earlier turn again, without delivering the answer."""
    turn = await driver.turn(ADA, "again")
    incoming = replace(incoming_of(turn, "", private(ADA), retry=True, retry_turn=of_turn.turn_id), replaces=replaces)
    await driver.store.begin(incoming, "m")
    await driver.store.finish(incoming, reply(answer, actions))
    return incoming


def held(incoming: Incoming) -> ClaimedTurn:
    return ClaimedTurn(incoming.turn_id, incoming.fence, "message", "answered", 0, ADA, (), ())
