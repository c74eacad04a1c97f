"""kill -9 while an edited message is answered again: the new answer appears once, in place of the old one."""

from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.shared_relay import WORD, SharedRelay, echo
from tests.standins.anthropic import Recorded, Reply
from tests.standins.telegram import Chat, StoredMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")
AGAIN = "✎ Answer again"
ANSWERED = "select count(*) from relay.turn where status = 'answered' and replaces_turn_id is not null and user_id = %s"


def much(request: Recorded) -> Reply:
    """The echo, in several messages if the question asks for much."""
    filling = "\n\n".join("and so on " * 30 for _ in range(40)) if "much" in request.last_text else ""
    return Reply(f"{echo(request)}\n\n{filling}".strip())


async def offered(shared_relay: SharedRelay, text: str = "") -> tuple[Chat, list[StoredMessage], str]:
    """Makes a chat with an answer to a message that was then edited. Returns its messages and the new question's
    word."""
    chat = shared_relay.guest()
    first, second = shared_relay.word(), shared_relay.word()
    said = await shared_relay.tg.say(chat, None, f"{text} {first}")
    await shared_relay.answered(chat, first)
    await shared_relay.until(
        "select count(*) = 0 from relay.turn where status in ('working', 'answered') and user_id = %s", chat.id
    )
    shared_relay.tg.edit(chat, said, f"only {second}")
    replies = shared_relay.replies(chat)
    await shared_relay.tg.wait_for(lambda: AGAIN in replies[-1].buttons)
    return chat, replies, second


def press(shared_relay: SharedRelay, chat: Chat, reply: StoredMessage) -> None:
    shared_relay.tg.press(chat, None, reply, reply.buttons[AGAIN])


async def replaced(shared_relay: SharedRelay, chat: Chat, word: str) -> None:
    """Asserts that only the new answer is there, and stays."""
    await shared_relay.tg.wait_for(lambda: shared_relay.said(chat) == [f"Answer: {word}"], 40)
    await asyncio.sleep(0.3)
    assert shared_relay.said(chat) == [f"Answer: {word}"]
    assert shared_relay.exchanges(chat) == 1
    assert sum(word in WORD.findall(one.last_text) for one in shared_relay.model.requests) == 1


async def test_a_kill_before_the_new_answer_is_queued(shared_relay: SharedRelay) -> None:
    chat, replies, word = await offered(shared_relay)
    with shared_relay.locked("outbox", "share"):
        press(shared_relay, chat, replies[-1])
        await shared_relay.until(ANSWERED, chat.id)
        await shared_relay.relay.kill()
    await shared_relay.again()
    await replaced(shared_relay, chat, word)


@pytest.mark.parametrize("fault", ["lost", "timeout"])
async def test_a_kill_while_the_old_answer_is_edited(shared_relay: SharedRelay, fault: str) -> None:
    chat, replies, word = await offered(shared_relay)
    order = shared_relay.tg.fault("editMessageText", fault, chat_id=chat.id)
    press(shared_relay, chat, replies[-1])
    await shared_relay.struck(order)
    await shared_relay.crash()
    await replaced(shared_relay, chat, word)
    assert shared_relay.replies(chat)[0].message_id == replies[0].message_id


@pytest.mark.parametrize("fault", ["lost", "timeout"])
async def test_a_kill_while_leftover_parts_are_deleted(shared_relay: SharedRelay, fault: str) -> None:
    shared_relay.model.rule(None, much)
    chat, replies, word = await offered(shared_relay, "much about")
    assert len(replies) >= 3
    order = shared_relay.tg.fault("deleteMessage", fault, chat_id=chat.id)
    press(shared_relay, chat, replies[-1])
    await shared_relay.struck(order)
    await shared_relay.crash()
    await replaced(shared_relay, chat, word)


@pytest.mark.parametrize("fault", ["lost", "timeout"])
async def test_a_kill_while_the_new_answer_is_sent_as_the_old_one_was_deleted(
    shared_relay: SharedRelay, fault: str
) -> None:
    chat, replies, word = await offered(shared_relay)
    data = replies[-1].buttons[AGAIN]
    shared_relay.tg.delete(chat, replies[-1])
    order = shared_relay.tg.fault("sendMessage", fault, chat_id=chat.id)
    shared_relay.tg.press(chat, None, replies[-1], data)
    await shared_relay.struck(order)
    await shared_relay.crash()
    await replaced(shared_relay, chat, word)


async def test_a_kill_while_an_edit_waits_for_the_answer(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    first, second = shared_relay.word(), shared_relay.word()
    shared_relay.model.rule(first, lambda request: Reply(echo(request), first_delay=3), times=1)
    said = await shared_relay.tg.say(chat, None, first)
    await shared_relay.model.wait_requests(1)
    shared_relay.tg.edit(chat, said, second)
    await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)
    await shared_relay.until("select count(*) from relay.turn where kind = 'control' and user_id = %s", chat.id)
    await shared_relay.crash()
    await shared_relay.answered(chat, first)
    (reply,) = shared_relay.replies(chat)
    await shared_relay.tg.wait_for(lambda: AGAIN in reply.buttons)
    press(shared_relay, chat, reply)
    await shared_relay.tg.wait_for(lambda: shared_relay.said(chat) == [f"Answer: {second}"])
