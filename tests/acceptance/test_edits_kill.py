"""kill -9 while an edited message is answered again: the new answer stands once where the old one was."""

from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.house import WORD, House, echo
from tests.standins.anthropic import Recorded, Reply
from tests.standins.telegram import Chat, StoredMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")
AGAIN = "✎ Answer again"
ANSWERED = "select count(*) from relay.turn where status = 'answered' and replaces_turn_id is not null and user_id = %s"


def much(request: Recorded) -> Reply:
    """The echo, in several messages where much is asked for."""
    filling = "\n\n".join("and so on " * 30 for _ in range(40)) if "much" in request.last_text else ""
    return Reply(f"{echo(request)}\n\n{filling}".strip())


async def offered(house: House, text: str = "") -> tuple[Chat, list[StoredMessage], str]:
    """A chat with an answer to a wording that was edited: its messages, and the new question's word."""
    chat = house.guest()
    first, second = house.word(), house.word()
    said = await house.tg.say(chat, None, f"{text} {first}")
    await house.answered(chat, first)
    await house.until("select count(*) = 0 from relay.turn where status in ('working', 'answered') and user_id = %s",
                      chat.id)  # fmt: skip
    house.tg.edit(chat, said, f"only {second}")
    replies = house.replies(chat)
    await house.tg.wait_for(lambda: AGAIN in replies[-1].buttons)
    return chat, replies, second


def press(house: House, chat: Chat, reply: StoredMessage) -> None:
    house.tg.press(chat, None, reply, reply.buttons[AGAIN])


async def replaced(house: House, chat: Chat, word: str) -> None:
    """The new answer is all there is, and it stays so."""
    await house.tg.wait_for(lambda: house.said(chat) == [f"Answer: {word}"], 40)
    await asyncio.sleep(0.3)
    assert house.said(chat) == [f"Answer: {word}"]
    assert house.exchanges(chat) == 1
    assert sum(word in WORD.findall(one.last_text) for one in house.model.requests) == 1


async def test_before_the_new_answer_is_stored_for_the_chat(house: House) -> None:
    chat, replies, word = await offered(house)
    with house.locked("outbox", "share"):
        press(house, chat, replies[-1])
        await house.until(ANSWERED, chat.id)
        await house.relay.kill()
    await house.again()
    await replaced(house, chat, word)


@pytest.mark.parametrize("fault", ["lost", "timeout"])
async def test_while_the_old_answer_is_edited(house: House, fault: str) -> None:
    chat, replies, word = await offered(house)
    order = house.tg.fault("editMessageText", fault, chat_id=chat.id)
    press(house, chat, replies[-1])
    await house.struck(order)
    await house.crash()
    await replaced(house, chat, word)
    assert house.replies(chat)[0].message_id == replies[0].message_id


@pytest.mark.parametrize("fault", ["lost", "timeout"])
async def test_while_what_is_left_over_is_deleted(house: House, fault: str) -> None:
    house.model.rule(None, much)
    chat, replies, word = await offered(house, "much about")
    assert len(replies) >= 3
    order = house.tg.fault("deleteMessage", fault, chat_id=chat.id)
    press(house, chat, replies[-1])
    await house.struck(order)
    await house.crash()
    await replaced(house, chat, word)


@pytest.mark.parametrize("fault", ["lost", "timeout"])
async def test_while_it_is_sent_because_the_old_one_is_gone(house: House, fault: str) -> None:
    chat, replies, word = await offered(house)
    data = replies[-1].buttons[AGAIN]
    house.tg.delete(chat, replies[-1])
    order = house.tg.fault("sendMessage", fault, chat_id=chat.id)
    house.tg.press(chat, None, replies[-1], data)
    await house.struck(order)
    await house.crash()
    await replaced(house, chat, word)


async def test_while_an_edit_waits_for_the_answer(house: House) -> None:
    chat = house.guest()
    first, second = house.word(), house.word()
    house.model.rule(first, lambda request: Reply(echo(request), first_delay=3), times=1)
    said = await house.tg.say(chat, None, first)
    await house.model.wait_requests(1)
    house.tg.edit(chat, said, second)
    await house.tg.wait_for(lambda: not house.tg.pending_updates)
    await house.until("select count(*) from relay.turn where kind = 'control' and user_id = %s", chat.id)
    await house.crash()
    await house.answered(chat, first)
    (reply,) = house.replies(chat)
    await house.tg.wait_for(lambda: AGAIN in reply.buttons)
    press(house, chat, reply)
    await house.tg.wait_for(lambda: house.said(chat) == [f"Answer: {second}"])
