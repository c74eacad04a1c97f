"""kill -9 at each stage of a turn: after a restart everybody is answered, and nobody twice."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.acceptance.house import House, echo
from tests.standins.anthropic import Recorded, Reply
from tests.standins.telegram import Chat

pytestmark = pytest.mark.asyncio(loop_scope="module")

LINES = 130


async def once(house: House, chat: Chat, *words: str, timeout: float = 40) -> None:
    """Each word is answered exactly once, in the order asked."""
    await house.answered(chat, *words, timeout=timeout)
    await asyncio.sleep(0.2)
    assert [(word, house.times(chat, word)) for word in words] == [(word, 1) for word in words]
    text = "\n".join(house.said(chat))
    assert [text.index(word) for word in words] == sorted(text.index(word) for word in words)


async def test_before_the_update_is_stored(house: House) -> None:
    chat = house.guest()
    with house.locked("inbox"):
        word = await house.asked(chat)
        await house.tg.wait_for(lambda: not house.tg.queue.polling)
        await asyncio.sleep(0.1)
        await house.relay.kill()
        assert house.tg.pending_updates
    await house.again()
    await once(house, chat, word)


async def test_after_intake_before_the_model(house: House) -> None:
    chat = house.guest()
    with house.locked("soul"):
        word = await house.asked(chat)
        await house.tg.wait_for(lambda: not house.tg.pending_updates)
        await house.relay.kill()
    await house.again()
    await once(house, chat, word)
    assert house.exchanges(chat) == 1


async def test_during_the_model_call_with_more_waiting(house: House) -> None:
    chat, other = house.guest(), house.guest()
    house.model.fault("hang", times=1)
    first = await house.asked(chat)
    await house.model.wait_requests(1)
    second, elsewhere = await house.asked(chat), await house.asked(other)
    await house.answered(other, elsewhere)
    await house.crash()
    third = await house.asked(chat)
    await once(house, chat, first, second, third)
    await once(house, other, elsewhere)


async def test_between_finish_and_send(house: House) -> None:
    chat = house.guest()
    with house.locked("outbox", "share"):
        word = await house.asked(chat)
        await house.until("select count(*) from relay.turn where status = 'answered' and user_id = %s", chat.id)
        await house.relay.kill()
    await house.again()
    await once(house, chat, word)
    assert len(house.model.requests) == 1, "the stored answer is sent, not asked for again"
    assert house.exchanges(chat) == 1


@pytest.mark.parametrize("joined", [True, False])
async def test_in_a_group_that_others_have_come_into_since_no_private_answer_is_shown(
    house: House, joined: bool
) -> None:
    room = house.room()
    guest = -room.id - 1000000000000
    with house.locked("outbox", "share"):
        word = await house.asked(room)
        await house.until("select count(*) from relay.turn where status = 'answered' and user_id = %s", guest)
        await house.relay.kill()
    if joined:
        house.tg.add_member(room, house.tg.user(8, "Somebody"))
    await house.again()
    if not joined:
        await once(house, room, word)
        return
    await house.until_said(room, "so I won't show my answer here")
    await house.until("select status = 'done' from relay.turn where user_id = %s", guest)
    assert word not in "\n".join(house.said(room))
    assert len(house.said(room)) == 1


def long_or_echo(request: Recorded) -> Reply:
    """A long answer where one is asked for, else the echo."""
    if "long" in request.last_text:
        return Reply("\n\n".join(f"line {number} {'of a long answer ' * 5}." for number in range(LINES)))
    return Reply(echo(request))


async def test_while_answers_grow_and_while_they_are_sent(house: House) -> None:
    """Twelve chats, each with its turn at another stage, and one kill."""
    house.model.rule(None, long_or_echo)
    house.model.rule("slowly", Reply(f"half of it {'so far ' * 9}", spread=20), times=4)
    drafting, previewing, *preview_lost = house.guest(), house.room(), house.room(), house.room()
    sending = [(house.guest(), fault) for fault in ("lost", "late", "timeout")] + [(house.room(), "lost")]
    parts = [(house.guest(), "lost"), (house.guest(), "timeout"), (house.room(), "lost")]
    orders = [
        house.tg.fault("sendMessage", "lost", chat_id=preview_lost[0].id),
        house.tg.fault("sendMessage", "timeout", chat_id=preview_lost[1].id),
        *(house.tg.fault("sendMessage", fault, chat_id=chat.id, delay=0.5) for chat, fault in sending),
        *(house.tg.fault("sendMessage", fault, chat_id=chat.id, after=1) for chat, fault in parts),
    ]
    words = {chat.id: await house.asked(chat, "slowly") for chat in (drafting, previewing, *preview_lost)}
    await house.tg.wait_for(lambda: "half" in str(house.tg.drafts(drafting)) and "half" in str(house.said(previewing)))
    words |= {chat.id: await house.asked(chat) for chat, _ in sending}
    for chat, _ in parts:
        await house.asked(chat, "long")
    await house.tg.wait_for(lambda: all(order.hits for order in orders))
    await house.crash()
    for chat_id, word in words.items():
        await once(house, house.tg.chat(chat_id), word)
        assert house.said(chat_id) == [f"Answer: {word}"]
        assert house.exchanges(chat_id) == 1
    for chat, _ in parts:
        await house.until_said(chat, f"line {LINES - 1} ")
        whole = "\n\n".join(house.said(chat))
        assert [whole.count(f"line {number} ") for number in range(LINES)] == [1] * LINES
        places = [whole.index(f"line {number} ") for number in range(LINES)]
        assert places == sorted(places)


@pytest.mark.parametrize("stage", ["before it is kept", "before it is told", "while it is told"])
async def test_during_remember(house: House, stage: str) -> None:
    chat = house.guest()
    if stage == "while it is told":
        order = house.tg.fault("sendMessage", "lost", chat_id=chat.id)
        await house.tg.say(chat, None, "/remember I keep three geese")
        await house.tg.wait_for(lambda: order.hits)
        await house.relay.kill()
    else:
        with house.locked("memory" if stage == "before it is kept" else "outbox", "share"):
            await house.tg.say(chat, None, "/remember I keep three geese")
            await house.tg.wait_for(lambda: not house.tg.pending_updates)
            await asyncio.sleep(0.2)
            await house.relay.kill()
    await house.again()
    await house.tg.wait_for(lambda: house.said(chat), 40)
    await house.polled()
    await house.tg.say(chat, None, "/memory")
    await house.tg.wait_for(lambda: "What I know" in house.said(chat)[-1])
    told, known = house.said(chat)
    assert "Learned: I keep three geese" in told
    assert known.count("geese") == 1


async def test_a_learned_fact_is_not_doubled(house: House) -> None:
    chat = house.guest()
    house.model.rule(None, "Nice.\n[LEARN: Has a boat called Wilma]")
    with house.locked("outbox", "share"):
        await house.asked(chat)
        await house.until("select count(*) from relay.turn where status = 'answered' and user_id = %s", chat.id)
        await house.relay.kill()
    await house.again()
    await house.tg.wait_for(lambda: any("Learned" in text for text in house.said(chat)), 30)
    await house.polled()
    await house.tg.say(chat, None, "/memory")
    await house.tg.wait_for(lambda: len(house.said(chat)) >= 2)
    assert house.said(chat)[-1].count("Wilma") == 1
    assert len(house.said(chat)) == 2


async def test_during_a_summary(house: House) -> None:
    chat = house.guest()
    house.model.fault("hang", model="haiku", times=1)
    for _ in range(5):
        await house.answered(chat, await house.asked(chat))
    await house.model.wait_requests(1, model="haiku")
    await house.crash()
    word = await house.asked(chat)
    await once(house, chat, word)
    made = "from relay.summary s join relay.thread t on t.id = s.thread_id where t.chat_id = %s"
    await house.until(f"select count(*) {made}", chat.id)
    assert house.sql(f"select count(*) {made}", chat.id) == [(1,)]
    assert house.exchanges(chat) == 6


@pytest.mark.slow("the kill at each step, in the same file, and test_chaos.py")
async def test_twenty_random_kills_under_traffic_in_six_chats(house: House) -> None:
    chance = random.Random(7)
    chats = [house.guest() for _ in range(4)] + [house.room(), house.room()]
    words: dict[int, list[str]] = {chat.id: [] for chat in chats}
    house.model.rule(None, lambda request: Reply(echo(request), spread=0.3))

    async def talk(chat: Chat) -> None:
        while True:
            words[chat.id].append(await house.asked(chat))
            await asyncio.sleep(chance.uniform(0.3, 1.5))

    talkers = [asyncio.create_task(talk(chat)) for chat in chats]
    for _ in range(20):
        await asyncio.sleep(chance.choice((0.3, 0.9, 1.5)) + chance.uniform(0, 0.4))
        await house.crash()
    for talker in talkers:
        talker.cancel()
    for chat in chats:
        await once(house, chat, *words[chat.id], timeout=40)
