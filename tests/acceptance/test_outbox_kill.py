"""kill -9 while unprompted messages are being sent: none is lost, none comes twice, and none too early."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_relay import SharedRelay
from tests.standins.telegram import Chat

pytestmark = pytest.mark.asyncio(loop_scope="module")

LATER = 4.0


def message(chat: Chat, text: str, **more: Any) -> dict[str, Any]:
    """Returns a message in the form that `relay_enqueue` takes."""
    return {"chat_id": chat.id, "user_id": chat.id, "payload": {"text": text}, "key": f"{text} {chat.id}", **more}


def bot_of(shared_relay: SharedRelay) -> int:
    return int(shared_relay.sql("select bot_id from relay.turn order by id desc limit 1")[0][0])


async def test_notices_digests_and_alerts_are_sent_once_despite_a_kill(shared_relay: SharedRelay) -> None:
    learner, owner, later = shared_relay.guest(), shared_relay.tg.chat(OWNER), shared_relay.guest()
    guests = {fault: shared_relay.guest() for fault in ("lost", "late", "timeout")}
    word = await shared_relay.asked(learner)
    await shared_relay.answered(learner, word)
    ((thread, said),) = shared_relay.sql(
        "select thread_id, user_message_id from relay.turn where user_id = %s", learner.id
    )
    orders = [shared_relay.tg.fault("sendMessage", fault, chat_id=chat.id, delay=0.5) for fault, chat in guests.items()]
    orders.append(shared_relay.tg.fault("sendMessage", "lost", chat_id=owner.id))
    orders.append(shared_relay.tg.fault("editMessageText", "lost", chat_id=learner.id))
    digests = [message(chat, f"Digest {number}") for chat in guests.values() for number in (1, 2)]
    alert = message(owner, "⚠️ The disk is full.", payload={"text": "⚠️ The disk is full.", "sound": True})
    ((due_at,),) = shared_relay.sql("select now() + %s * interval '1 second'", LATER)
    reminder = message(later, "Remember the geese.", not_before=due_at.isoformat())
    finding = {"action": "learn", "kind": "fact", "subject_id": learner.id, "subject": "Guest", "pending": False,
               "tainted": False, "evidence": [said], "content": "Keeps three geese."}  # fmt: skip
    shared_relay.sql("select relay.keep_finding(%s, %s)", thread, Jsonb(finding))
    for _ in range(2):  # The keys let each be queued only once.
        shared_relay.sql(
            "select public.relay_enqueue(%s, %s)", bot_of(shared_relay), Jsonb([*digests, alert, reminder])
        )
    await shared_relay.tg.wait_for(lambda: all(order.hits for order in orders))
    await shared_relay.crash()
    waiting = "select not exists (select from relay.outbox where status in (%s, %s, %s))"
    await shared_relay.until(waiting, "queued", "waiting", "sending", timeout=60)
    for chat in guests.values():
        assert shared_relay.said(chat) == ["Digest 1", "Digest 2"]
    assert [text for text in shared_relay.said(owner) if "disk" in text] == ["⚠️ The disk is full."]
    assert shared_relay.said(later) == ["Remember the geese."]
    on_time = "select sent_at >= not_before from relay.outbox where chat_id = %s"
    assert shared_relay.sql(on_time, later.id) == [(True,)]
    (answer,) = shared_relay.said(learner)
    assert answer == f"Answer: {word}\n\n🧠 Learned: Keeps three geese."


async def test_a_learned_line_in_its_own_message_is_sent_once_despite_a_kill(shared_relay: SharedRelay) -> None:
    learner = shared_relay.guest()
    word = await shared_relay.asked(learner)
    await shared_relay.answered(learner, word)
    ((thread, said),) = shared_relay.sql(
        "select thread_id, user_message_id from relay.turn where user_id = %s", learner.id
    )
    shared_relay.tg.delete(learner, shared_relay.replies(learner)[0])
    order = shared_relay.tg.fault("sendMessage", "lost", chat_id=learner.id)
    finding = {"action": "learn", "kind": "fact", "subject_id": learner.id, "subject": "Guest", "pending": False,
               "tainted": False, "evidence": [said], "content": "Keeps four ducks."}  # fmt: skip
    shared_relay.sql("select relay.keep_finding(%s, %s)", thread, Jsonb(finding))
    await shared_relay.struck(order)
    await shared_relay.crash()
    await shared_relay.until(
        "select not exists (select from relay.outbox where status in ('queued', 'waiting', 'sending'))"
    )
    assert shared_relay.said(learner) == ["🧠 Learned: Keeps four ducks."]
