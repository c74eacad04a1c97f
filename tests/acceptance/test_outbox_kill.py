"""kill -9 while messages that nobody asked for are on their way: none is lost, none comes twice, and none too soon."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.acceptance.harness import OWNER
from tests.acceptance.house import House
from tests.standins.telegram import Chat

pytestmark = pytest.mark.asyncio(loop_scope="module")

LATER = 4.0


def message(chat: Chat, text: str, **more: Any) -> dict[str, Any]:
    """A message as `relay_enqueue` takes it."""
    return {"chat_id": chat.id, "user_id": chat.id, "payload": {"text": text}, "key": f"{text} {chat.id}", **more}


def bot_of(house: House) -> int:
    return int(house.sql("select bot_id from relay.turn order by id desc limit 1")[0][0])


async def test_notices_digests_alerts_and_announcements(house: House) -> None:
    learner, owner, later = house.guest(), house.tg.chat(OWNER), house.guest()
    guests = {fault: house.guest() for fault in ("lost", "late", "timeout")}
    word = await house.asked(learner)
    await house.answered(learner, word)
    ((thread, said),) = house.sql("select thread_id, user_message_id from relay.turn where user_id = %s", learner.id)
    orders = [house.tg.fault("sendMessage", fault, chat_id=chat.id, delay=0.5) for fault, chat in guests.items()]
    orders.append(house.tg.fault("sendMessage", "lost", chat_id=owner.id))
    orders.append(house.tg.fault("editMessageText", "lost", chat_id=learner.id))
    digests = [message(chat, f"Digest {number}") for chat in guests.values() for number in (1, 2)]
    alert = message(owner, "⚠️ The disk is full.", payload={"text": "⚠️ The disk is full.", "sound": True})
    ((due_at,),) = house.sql("select now() + %s * interval '1 second'", LATER)
    reminder = message(later, "Remember the geese.", not_before=due_at.isoformat())
    finding = {"action": "learn", "kind": "fact", "subject_id": learner.id, "subject": "Guest", "pending": False,
               "tainted": False, "evidence": [said], "content": "Keeps three geese."}  # fmt: skip
    house.sql("select relay.keep_finding(%s, %s)", thread, Jsonb(finding))
    for _ in range(2):  # by their keys each is queued once
        house.sql("select public.relay_enqueue(%s, %s)", bot_of(house), Jsonb([*digests, alert, reminder]))
    await house.tg.wait_for(lambda: all(order.hits for order in orders))
    await house.crash()
    waiting = "select not exists (select from relay.outbox where status in (%s, %s, %s))"
    await house.until(waiting, "queued", "waiting", "sending", timeout=60)
    for chat in guests.values():
        assert house.said(chat) == ["Digest 1", "Digest 2"]
    assert [text for text in house.said(owner) if "disk" in text] == ["⚠️ The disk is full."]
    assert house.said(later) == ["Remember the geese."]
    on_time = "select sent_at >= not_before from relay.outbox where chat_id = %s"
    assert house.sql(on_time, later.id) == [(True,)]
    (answer,) = house.said(learner)
    assert answer == f"Answer: {word}\n\n🧠 Learned: Keeps three geese."


async def test_a_line_that_needs_a_message_of_its_own(house: House) -> None:
    learner = house.guest()
    word = await house.asked(learner)
    await house.answered(learner, word)
    ((thread, said),) = house.sql("select thread_id, user_message_id from relay.turn where user_id = %s", learner.id)
    house.tg.delete(learner, house.replies(learner)[0])
    order = house.tg.fault("sendMessage", "lost", chat_id=learner.id)
    finding = {"action": "learn", "kind": "fact", "subject_id": learner.id, "subject": "Guest", "pending": False,
               "tainted": False, "evidence": [said], "content": "Keeps four ducks."}  # fmt: skip
    house.sql("select relay.keep_finding(%s, %s)", thread, Jsonb(finding))
    await house.struck(order)
    await house.crash()
    await house.until("select not exists (select from relay.outbox where status in ('queued', 'waiting', 'sending'))")
    assert house.said(learner) == ["🧠 Learned: Keeps four ducks."]
