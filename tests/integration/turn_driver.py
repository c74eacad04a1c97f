"""People who talk to a store, through the same calls that the surfaces make."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from relay.clients.offline import OfflineModel
from relay.commands.context import Installation, Services
from relay.core.models import Incoming, ReplyTo, Space, Thread
from relay.core.ports import Messenger
from relay.memory.claims import ClaimedTurn
from relay.memory.people import People
from relay.memory.rows.changes import MemoryChange
from relay.memory.rows.delivery import Announcement
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.turns.answer import Answer
from relay.memory.rows.turns.context import Context
from relay.memory.rows.turns.inbox import InboxRow
from relay.memory.rows.upkeep.erasure import ErasedCounts, ErasureStep
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.memory.writing.summaries import Summariser
from relay.surfaces.telegram.outgoing.delivery import Delivery
from relay.surfaces.telegram.outgoing.sender import Sender
from relay.surfaces.telegram.parsing.updates import Bot
from relay.surfaces.telegram.turns.notices import make_queued_parts
from tests.telegram_objects import sorted_row

BOT = Bot(77, "relay_bot")
ADA, BEN, EVE = 1001, 1002, 1003
GROUP = -1001234567890
NAMES = {ADA: "Ada", BEN: "Ben", EVE: "Eve"}

Json = dict[str, Any]
counter = itertools.count(1)
POSTED = "insert into posted (bot_id, chat_id, telegram_message_id, from_bot) values (%s, %s, %s, true)"
"""Inserts a notice of the bot's that isn't part of an answer."""


def private(user_id: int) -> Space:
    return Space("private", owner_id=user_id)


def group(chat_id: int = GROUP) -> Space:
    return Space("group", chat_id=chat_id)


def dm(user_id: int, topic_id: int = 0) -> Thread:
    return Thread(private(user_id), user_id, topic_id)


def message(user_id: int, text: str, chat_id: int | None = None, topic_id: int = 0, **more: Any) -> Json:
    """Returns an update with one message."""
    number = next(counter)
    chat = chat_id if chat_id is not None else user_id
    body: Json = {
        "message_id": 10_000 + number,
        "date": 1_700_000_000 + number,
        "chat": {"id": chat, "type": "private" if chat > 0 else "supergroup"},
        "from": {"id": user_id, "first_name": NAMES.get(user_id, f"User {user_id}")},
        "text": text,
        **more,
    }
    if topic_id:
        body |= {"message_thread_id": topic_id, "is_topic_message": True}
    return {"update_id": number, "message": body}


def row(update: Json) -> InboxRow:
    """Returns the update as a row of the queue. Everyone is known."""
    return sorted_row(update, BOT, frozenset([update["message"]["from"]["id"]]), True)


FINISHED = ErasureStep(0, True, ErasedCounts(), (), 0)
"""Used in place of a step when there is nothing left to erase."""


def a_house(store: Store) -> Services:
    """Returns the services of an installation on a store, as commands use them."""
    summariser = Summariser(store, Gate(OfflineModel(), store), "small")
    return Services(Installation("1.2.3", "big", "small", "here"), store, People(frozenset()), summariser)


@dataclass(frozen=True)
class Exchange:
    """One message and its answer."""

    turn: ClaimedTurn
    incoming: Incoming
    context: Context
    told: Answer


class TurnDriver:
    """Passes messages through intake, begin, finish and delivery on one store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def say(self, *updates: Json, limit: int = 64) -> list[ClaimedTurn]:
        """Stores updates, and returns the turns that became due."""
        turns, _ = await self.store.intake(BOT.id, [row(update) for update in updates], limit)
        return turns

    async def claim(self, limit: int = 64) -> list[ClaimedTurn]:
        turns, _ = await self.store.claim(BOT.id, limit)
        return turns

    async def turn(self, user_id: int, text: str, chat_id: int | None = None, topic_id: int = 0) -> ClaimedTurn:
        """Sends one message, and returns its turn."""
        update = message(user_id, text, chat_id, topic_id)
        return next(t for t in await self.say(update) if update in t.updates)

    async def exchange(
        self,
        user_id: int,
        text: str,
        answer: str = "Yes.",
        *,
        chat_id: int | None = None,
        topic_id: int = 0,
        space: Space | None = None,
        actions: Sequence[Json] = (),
        tainted: bool = False,
        close: bool = True,
        retry: bool = False,
        retry_turn: int | None = None,
    ) -> Exchange:
        """Runs a whole exchange, up to the delivery of the answer."""
        turn = await self.turn(user_id, text, chat_id, topic_id)
        space = space or (private(user_id) if chat_id is None or chat_id > 0 else group(chat_id))
        incoming = incoming_of(turn, text, space, retry=retry, retry_turn=retry_turn)
        context = await self.store.begin(incoming, "model-1")
        told = await self.store.finish(incoming, reply(answer, actions, tainted))
        if close:
            await self.close(turn)
        return Exchange(turn, incoming, context, told)

    async def look_up(self, space: Space, text: str, limit: int = 10, **more: Any) -> list[FoundEntry]:
        """Returns what the model's search finds in a space, for any user."""
        found = await self.store.look_up(space, {"bot_id": BOT.id}, {"text": text, **more}, limit)
        assert found is not None
        return found

    async def close(self, turn: ClaimedTurn) -> None:
        """Ends a turn without sending anything, and indexes its texts, which otherwise happens soon after."""
        await self.store.deliver(turn, BOT.id, [])
        await self.store.store_sent(turn, [], True)
        await self.store.index_due(50)

    async def teach(self, user_id: int, *facts: str, **more: Any) -> list[MemoryChange]:
        """Teaches facts about a user, and returns the changes."""
        actions = [fact(user_id, text) for text in facts]
        done = await self.exchange(user_id, "Listen.", "I see.", actions=actions, **more)
        return list(done.told.changes)

    async def known(self, space: Space) -> list[str]:
        """Returns what is known in a space, oldest first."""
        page = await self.store.memories(space, 0, 1000)
        return [memory.content for memory in reversed(page.memories)]


def incoming_of(
    turn: ClaimedTurn,
    text: str,
    space: Space,
    *,
    retry: bool = False,
    retry_turn: int | None = None,
    reply_to: int | None = None,
    untrusted: bool = False,
) -> Incoming:
    """Returns the input of a turn."""
    last = turn.updates[-1]["message"]
    return Incoming(
        turn_id=turn.turn_id,
        fence=turn.fence,
        bot_id=BOT.id,
        chat_id=last["chat"]["id"],
        topic_id=last.get("message_thread_id", 0),
        space=space,
        user_id=turn.user_id,
        name=last["from"]["first_name"],
        text=text,
        blocks=[{"type": "text", "text": text}],
        untrusted=untrusted,
        telegram_message_ids=[] if retry else [update["message"]["message_id"] for update in turn.updates],
        at=datetime.now(UTC),
        retry=retry,
        retry_turn=retry_turn,
        reply_to=ReplyTo(reply_to, "", "", True, "you") if reply_to else None,
    )


def reply(text: str = "Yes.", actions: Sequence[Json] = (), tainted: bool = False) -> Json:
    """Returns an answer as `finish` stores it."""
    return {
        "text": text,
        "blocks": [{"role": "assistant", "content": [{"type": "text", "text": text}]}] if text else [],
        "status": "complete",
        "tainted": tainted,
        "model": "model-1",
        "usage": {"input_tokens": 10, "output_tokens": 5},
        "spent": {
            "id": str(uuid.uuid4()),
            "done": True,
            "model": "model-1",
            "usage": {"input_tokens": 10, "output_tokens": 5},
        },
        "prompt": {"soul": 1},
        "actions": list(actions),
        "told": {"text": text, "tools": [], "note": "", "retry": False, "web": False, "failed": []},
    }


def fact(user_id: int, text: str) -> Json:
    return {
        "action": "learn",
        "kind": "fact",
        "content": text,
        "subject_id": user_id,
        "subject": NAMES.get(user_id, f"User {user_id}"),
    }


def forget(words: str) -> Json:
    return {"action": "forget", "content": words}


async def send_queued(store: Store, messenger: Messenger) -> None:
    """Sends the queued messages that are due, as a worker does."""
    delivery = Delivery(Sender(store, messenger, BOT.id))
    while turns := [turn for turn in (await store.claim(BOT.id, 50))[0] if turn.message]:
        for turn in turns:
            assert turn.message
            await delivery.deliver(turn, await make_queued_parts(store, messenger, BOT.id, turn, turn.message))


async def due_announcements(store: Store) -> list[Announcement]:
    """Returns the announcements that are due, and closes their messages without sending them."""
    found = []
    for turn in (await store.claim(BOT.id, 50))[0]:
        if turn.message and turn.message.under_turn_id:
            found.append(await store.announcement(turn.message.under_turn_id))
            await store.deliver(turn, BOT.id, [])
            await store.store_sent(turn, [], True)
    return [one for one in found if one]
