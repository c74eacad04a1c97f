"""kill -9 at each stage of a turn: after a restart everybody is answered, and nobody twice."""

from __future__ import annotations

import asyncio
import random

import pytest

from relay.surfaces.telegram.turns.notices import APOLOGY
from tests.acceptance.shared_relay import SharedRelay, echo
from tests.standins.anthropic import Recorded, Reply
from tests.standins.telegram import Chat

pytestmark = pytest.mark.asyncio(loop_scope="module")

LINES = 130


async def once(shared_relay: SharedRelay, chat: Chat, *words: str, timeout: float = 40) -> None:
    """Asserts that each word is answered exactly once, in the order asked."""
    await shared_relay.answered(chat, *words, timeout=timeout)
    await asyncio.sleep(0.2)
    assert [(word, shared_relay.times(chat, word)) for word in words] == [(word, 1) for word in words]
    text = "\n".join(shared_relay.said(chat))
    assert [text.index(word) for word in words] == sorted(text.index(word) for word in words)


async def test_a_kill_before_the_update_is_stored(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    with shared_relay.locked("inbox"):
        word = await shared_relay.asked(chat)
        await shared_relay.tg.wait_for(lambda: not shared_relay.tg.queue.polling)
        await asyncio.sleep(0.1)
        await shared_relay.relay.kill()
        assert shared_relay.tg.pending_updates
    await shared_relay.again()
    await once(shared_relay, chat, word)


async def test_a_kill_after_intake_and_before_the_model_call(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    with shared_relay.locked("soul"):
        word = await shared_relay.asked(chat)
        await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)
        await shared_relay.relay.kill()
    await shared_relay.again()
    await once(shared_relay, chat, word)
    assert shared_relay.exchanges(chat) == 1


async def test_a_kill_during_the_model_call_while_messages_wait(shared_relay: SharedRelay) -> None:
    chat, other = shared_relay.guest(), shared_relay.guest()
    shared_relay.model.fault("hang", times=1)
    first = await shared_relay.asked(chat)
    await shared_relay.model.wait_requests(1)
    second, elsewhere = await shared_relay.asked(chat), await shared_relay.asked(other)
    await shared_relay.answered(other, elsewhere)
    await shared_relay.crash()
    third = await shared_relay.asked(chat)
    await once(shared_relay, chat, first, second, third)
    await once(shared_relay, other, elsewhere)


async def test_a_kill_between_finish_and_send(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    with shared_relay.locked("outbox", "share"):
        word = await shared_relay.asked(chat)
        await shared_relay.until("select count(*) from relay.turn where status = 'answered' and user_id = %s", chat.id)
        await shared_relay.relay.kill()
    await shared_relay.again()
    await once(shared_relay, chat, word)
    assert len(shared_relay.model.requests) == 1, "the stored answer is sent, not asked for again"
    assert shared_relay.exchanges(chat) == 1


@pytest.mark.parametrize("joined", [True, False])
async def test_after_a_kill_no_private_answer_is_shown_to_new_group_members(
    shared_relay: SharedRelay, joined: bool
) -> None:
    room = shared_relay.room()
    guest = -room.id - 1000000000000
    with shared_relay.locked("outbox", "share"):
        word = await shared_relay.asked(room)
        await shared_relay.until("select count(*) from relay.turn where status = 'answered' and user_id = %s", guest)
        await shared_relay.relay.kill()
    if joined:
        shared_relay.tg.add_member(room, shared_relay.tg.user(8, "Somebody"))
    await shared_relay.again()
    if not joined:
        await once(shared_relay, room, word)
        return
    await shared_relay.until_said(room, "so I won't show my answer here")
    await shared_relay.until("select status = 'done' from relay.turn where user_id = %s", guest)
    assert word not in "\n".join(shared_relay.said(room))
    assert len(shared_relay.said(room)) == 1


def long_or_echo(request: Recorded) -> Reply:
    """Returns a long answer if one is asked for, else the echo."""
    if "long" in request.last_text:
        return Reply("\n\n".join(f"line {number} {'of a long answer ' * 5}." for number in range(LINES)))
    return Reply(echo(request))


async def test_a_kill_while_answers_are_streamed_and_sent(shared_relay: SharedRelay) -> None:
    """Twelve chats, each with its turn at another stage, and one kill."""
    shared_relay.model.rule(None, long_or_echo)
    shared_relay.model.rule("slowly", Reply(f"half of it {'so far ' * 9}", spread=20), times=4)
    drafting, previewing, *preview_lost = (
        shared_relay.guest(),
        shared_relay.room(),
        shared_relay.room(),
        shared_relay.room(),
    )
    sending = [(shared_relay.guest(), fault) for fault in ("lost", "late", "timeout")] + [(shared_relay.room(), "lost")]
    parts = [(shared_relay.guest(), "lost"), (shared_relay.guest(), "timeout"), (shared_relay.room(), "lost")]
    orders = [
        shared_relay.tg.fault("sendMessage", "lost", chat_id=preview_lost[0].id),
        shared_relay.tg.fault("sendMessage", "timeout", chat_id=preview_lost[1].id),
        *(shared_relay.tg.fault("sendMessage", fault, chat_id=chat.id, delay=0.5) for chat, fault in sending),
        *(shared_relay.tg.fault("sendMessage", fault, chat_id=chat.id, after=1) for chat, fault in parts),
    ]
    words = {chat.id: await shared_relay.asked(chat, "slowly") for chat in (drafting, previewing, *preview_lost)}
    await shared_relay.tg.wait_for(
        lambda: "half" in str(shared_relay.tg.drafts(drafting)) and "half" in str(shared_relay.said(previewing))
    )
    words |= {chat.id: await shared_relay.asked(chat) for chat, _ in sending}
    for chat, _ in parts:
        await shared_relay.asked(chat, "long")
    await shared_relay.tg.wait_for(lambda: all(order.hits for order in orders))
    await shared_relay.crash()
    for chat_id, word in words.items():
        await once(shared_relay, shared_relay.tg.chat(chat_id), word)
        assert shared_relay.said(chat_id) == [f"Answer: {word}"]
        assert shared_relay.exchanges(chat_id) == 1
    for chat, _ in parts:
        await shared_relay.until_said(chat, f"line {LINES - 1} ")
        whole = "\n\n".join(shared_relay.said(chat))
        assert [whole.count(f"line {number} ") for number in range(LINES)] == [1] * LINES
        places = [whole.index(f"line {number} ") for number in range(LINES)]
        assert places == sorted(places)


@pytest.mark.parametrize("stage", ["before it is kept", "before it is told", "while it is told"])
async def test_a_kill_during_remember(shared_relay: SharedRelay, stage: str) -> None:
    chat = shared_relay.guest()
    if stage == "while it is told":
        order = shared_relay.tg.fault("sendMessage", "lost", chat_id=chat.id)
        await shared_relay.tg.say(chat, None, "/remember I keep three geese")
        await shared_relay.tg.wait_for(lambda: order.hits)
        await shared_relay.relay.kill()
    else:
        with shared_relay.locked("memory" if stage == "before it is kept" else "outbox", "share"):
            await shared_relay.tg.say(chat, None, "/remember I keep three geese")
            await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)
            await asyncio.sleep(0.2)
            await shared_relay.relay.kill()
    await shared_relay.again()
    await shared_relay.tg.wait_for(lambda: shared_relay.said(chat), 40)
    await shared_relay.polled()
    await shared_relay.tg.say(chat, None, "/memory")
    await shared_relay.tg.wait_for(lambda: "What I know" in shared_relay.said(chat)[-1])
    told, known = shared_relay.said(chat)
    assert "Learned: I keep three geese" in told
    assert known.count("geese") == 1


async def test_a_kill_does_not_double_a_learned_fact(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    shared_relay.model.rule(None, "Nice.\n[LEARN: Has a boat called Wilma]")
    with shared_relay.locked("outbox", "share"):
        await shared_relay.asked(chat)
        await shared_relay.until("select count(*) from relay.turn where status = 'answered' and user_id = %s", chat.id)
        await shared_relay.relay.kill()
    await shared_relay.again()
    await shared_relay.tg.wait_for(lambda: any("Learned" in text for text in shared_relay.said(chat)), 30)
    await shared_relay.polled()
    await shared_relay.tg.say(chat, None, "/memory")
    await shared_relay.tg.wait_for(lambda: len(shared_relay.said(chat)) >= 2)
    assert shared_relay.said(chat)[-1].count("Wilma") == 1
    assert len(shared_relay.said(chat)) == 2


async def test_a_message_that_ends_the_process_each_time_is_set_aside(shared_relay: SharedRelay) -> None:
    chat, other = shared_relay.guest(), shared_relay.guest()
    shared_relay.model.rule("poison", Reply("never", first_delay=60))
    await shared_relay.tg.say(chat, None, "poison")
    for killed in range(0, 25, 5):
        if killed >= 10:  # it pauses before the last tries
            await shared_relay.until("select count(*) from relay.turn where killed >= 10 and not_before > now()")
            shared_relay.sql("update relay.turn set not_before = now() where killed >= 10")
        word = await shared_relay.asked(other)
        await once(shared_relay, other, word)
        runs = "select count(*) from relay.turn where user_id = %s and lease_owner is not null and killed = %s"
        await shared_relay.until(runs, chat.id, killed)
        # Otherwise this death counts for less, since the other turn may be at fault.
        await shared_relay.until("select count(*) = 1 from relay.turn where lease_owner is not null")
        await shared_relay.crash()
    await shared_relay.until_said(chat, APOLOGY)
    shared_relay.quiet()
    behind = await shared_relay.asked(chat)
    await shared_relay.answered(chat, behind)


async def test_a_kill_during_a_summary(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    shared_relay.model.fault("hang", model="haiku", times=1)
    for _ in range(5):
        await shared_relay.answered(chat, await shared_relay.asked(chat))
    await shared_relay.model.wait_requests(1, model="haiku")
    await shared_relay.crash()
    word = await shared_relay.asked(chat)
    await once(shared_relay, chat, word)
    made = "from relay.summary s join relay.thread t on t.id = s.thread_id where t.chat_id = %s"
    await shared_relay.until(f"select count(*) {made}", chat.id)
    assert shared_relay.sql(f"select count(*) {made}", chat.id) == [(1,)]
    assert shared_relay.exchanges(chat) == 6


@pytest.mark.slow("the kill at each step, in the same file, and test_chaos.py")
async def test_twenty_random_kills_under_traffic_in_six_chats(shared_relay: SharedRelay) -> None:
    chance = random.Random(7)
    chats = [shared_relay.guest() for _ in range(4)] + [shared_relay.room(), shared_relay.room()]
    words: dict[int, list[str]] = {chat.id: [] for chat in chats}
    shared_relay.model.rule(None, lambda request: Reply(echo(request), spread=0.3))

    async def talk(chat: Chat) -> None:
        while True:
            words[chat.id].append(await shared_relay.asked(chat))
            await asyncio.sleep(chance.uniform(0.3, 1.5))

    talkers = [asyncio.create_task(talk(chat)) for chat in chats]
    for _ in range(20):
        await asyncio.sleep(chance.choice((0.3, 0.9, 1.5)) + chance.uniform(0, 0.4))
        await shared_relay.crash()
    for talker in talkers:
        talker.cancel()
    for chat in chats:
        await once(shared_relay, chat, *words[chat.id], timeout=40)
