"""Messages of Ada's that were answered, their edits, and turns that answer them again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from relay.core.models import Incoming
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Part, PartResult
from relay.memory.store import Store
from tests.integration.house import ADA, BOT, House, group, incoming_of, message, private, reply

Json = dict[str, Any]


def edit_of(update: Json, text: str, at: int = 1, **more: Any) -> Json:
    """The edit of a message, as the bot hands it to the store."""
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


async def answered(house: House, text: str = "helo", *actions: Json, **more: Any) -> tuple[ClaimedTurn, Incoming, Json]:
    """A message with its answer in the chat as message 900; also the update that brought it."""
    update = message(ADA, text, **more)
    (turn,) = [turn for turn in await house.say(update) if update in turn.updates]
    incoming = incoming_of(turn, text, private(ADA) if "chat_id" not in more else group())
    await house.store.begin(incoming, "m")
    await house.store.finish(incoming, reply("Yes.", actions))
    await posted(house.store, turn, 900)
    return turn, incoming, update


async def posted(store: Store, turn: ClaimedTurn, *message_ids: int, chat_id: int = ADA) -> list[Json]:
    """Delivers an answer in parts, as messages of these ids; returns the rows as they were stored first."""
    markup = {"inline_keyboard": [[{"text": "↻ Retry", "callback_data": f"r:{turn.turn_id}"}]]}
    parts = [
        Part(seq, chat_id, {"chat_id": chat_id, "text": f"part {seq}", "reply_markup": markup})
        for seq in range(1, len(message_ids) + 1)
    ]
    rows = await store.deliver(turn, BOT.id, parts)
    results = [PartResult(seq, "sent", message_id) for seq, message_id in enumerate(message_ids, 1)]
    await store.sent(turn, results, True)
    return rows


async def again(
    house: House, of_turn: ClaimedTurn, answer: str = "Yes!", *actions: Json, replaces: bool = True
) -> Incoming:
    """A turn that answers the message of an earlier one again, up to its answer."""
    turn = await house.turn(ADA, "again")
    incoming = replace(incoming_of(turn, "", private(ADA), retry=True, retry_turn=of_turn.turn_id), replaces=replaces)
    await house.store.begin(incoming, "m")
    await house.store.finish(incoming, reply(answer, actions))
    return incoming


def held(incoming: Incoming) -> ClaimedTurn:
    return ClaimedTurn(incoming.turn_id, incoming.fence, "message", "answered", 0, ADA, (), ())
