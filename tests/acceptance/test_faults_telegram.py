"""What Telegram does wrong: every answer arrives all the same, once, and nobody else's message is touched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.acceptance.harness import OWNER
from tests.acceptance.house import SECRETS, House, open_house
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat

pytestmark = pytest.mark.asyncio(loop_scope="module")

LONG = "\n\n".join(f"line {number} {'of a long answer ' * 5}." for number in range(130))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[House]:
    async with open_house(RELAY_LOG_LEVEL="DEBUG") as house:
        yield house
        assert house.tracebacks() == []


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def hanging() -> AsyncIterator[tuple[House, Chat, list[str]]]:
    """A second Relay, which waits out its 40 seconds while the other tests run."""
    async with open_house() as house:
        chat = house.guest()
        house.tg.fault("sendMessage", "timeout", chat_id=chat.id)
        words = [await house.asked(chat)]
        await house.tg.wait_for(lambda: not house.tg.pending_updates)
        hung = house.tg.fault("getUpdates", "timeout")
        words.append(await house.asked(chat))
        await house.tg.wait_for(lambda: hung.hits)
        words.append(await house.asked(chat))
        yield house, chat, words
        assert house.tracebacks() == []


def probes(house: House, since: int) -> list[tuple[int, int]]:
    """Chat and id of each message that the bot tried to change in order to find a lost one."""
    calls = [record for record in house.tg.log[since:] if record.method == "editMessageReplyMarkup"]
    return [(record.params["chat_id"], record.params["message_id"]) for record in calls]


async def test_a_send_that_fails_is_repeated_and_one_that_was_lost_is_found(house: House) -> None:
    """Nine chats at once on the one counter of message ids, each with another fault, and traffic in others."""
    kinds: dict[str, dict[str, Any]] = {
        "429": {"retry_after": 2},
        "500": {"times": 2},
        "502": {},
        "disconnect": {"times": 2},
        "lost": {},
        "late": {"delay": 0.7},
    }
    since = len(house.tg.log)
    chats = {kind: house.guest() for kind in kinds} | {f"{kind} in a group": house.room() for kind in ("500", "lost")}
    calm = [house.guest() for _ in range(4)]
    for kind, chat in chats.items():
        house.tg.fault("sendMessage", kind.split()[0], chat_id=chat.id, **kinds.get(kind, {}))
    words: dict[int, list[str]] = {}
    for _ in range(3):
        for chat in (*chats.values(), *calm):
            words.setdefault(chat.id, []).append(await house.asked(chat))
        await asyncio.sleep(0.3)
    for chat_id, asked in words.items():
        await house.answered(house.tg.chat(chat_id), *asked)
        assert [house.times(house.tg.chat(chat_id), word) for word in asked] == [1] * 3
    lost = {chat.id for kind, chat in chats.items() if kind not in ("429",)}
    for chat_id, message_id in probes(house, since):
        assert chat_id in lost
        message = house.tg.chat(chat_id).messages.get(message_id)
        assert message is None or message.from_bot, "somebody's own message was known and left alone"
    for chat in chats.values():
        assert {label for message in house.replies(chat) for label in message.buttons} == {"◆ Keep this"}


async def test_a_part_of_a_long_answer_is_lost(house: House) -> None:
    house.model.rule("long", LONG)
    chats = [house.guest() for _ in range(3)]
    for chat, fault in zip(chats, ("lost", "500", "429"), strict=True):
        house.tg.fault("sendMessage", fault, chat_id=chat.id, after=1)
        await house.asked(chat, "long")
    for chat in chats:
        await house.until_said(chat, "line 129 ")
        await house.answered(chat, await house.asked(chat))
        whole = "\n\n".join(house.said(chat))
        assert [whole.count(f"line {number} ") for number in range(130)] == [1] * 130


async def test_a_preview_that_fails_leaves_one_whole_answer(house: House) -> None:
    """In a group the first preview is a message of its own, the next are edits of it."""
    rooms = []
    for fault in ("429", "500", "lost", "disconnect"):
        for method in ("sendMessage", "editMessageText"):
            room, word = house.room(), house.word()
            house.tg.fault(method, fault, chat_id=room.id)
            house.model.rule(word, Reply(f"begun {'and on ' * 12} {word}", spread=3))
            await house.tg.say(room, None, word)
            rooms.append((room, word))
    for room, word in rooms:
        await house.answered(room, word)
        assert house.said(room) == [f"begun {'and on ' * 12} {word}"]


async def test_a_first_preview_that_was_not_taken_is_not_looked_for_and_the_next_is_shown(house: House) -> None:
    room, word = house.room(), house.word()
    house.tg.fault("sendMessage", "429", chat_id=room.id, retry_after=1)
    house.model.rule(word, Reply(f"begun {'and on ' * 12} {word}", spread=6))
    await house.tg.say(room, None, word)
    await house.answered(room, word, timeout=30)
    assert len(house.replies(room)) == 1
    assert house.tg.calls("editMessageReplyMarkup", room.id) == []
    assert house.tg.calls("editMessageText", room.id), "it grew"


async def test_drafts_end_for_a_chat_that_does_not_take_them(house: House) -> None:
    chat = house.guest()
    house.tg.fault("sendMessageDraft", "error", chat_id=chat.id, description="Bad Request: no drafts here")
    for _ in range(2):
        word = house.word()
        house.model.rule(word, Reply(f"begun {'and on ' * 12} {word}", spread=1))
        await house.tg.say(chat, None, word)
        await house.answered(chat, word)
    assert len(house.tg.calls("sendMessageDraft", chat.id)) == 1


async def test_entities_that_are_refused_do_not_cost_the_answer(house: House) -> None:
    chat = house.guest()
    house.model.rule(None, "This is **bold**.")
    house.tg.fault("sendMessage", "error", chat_id=chat.id, description="Bad Request: can't parse entities")
    await house.asked(chat)
    await house.tg.wait_for(lambda: house.said(chat))
    assert house.said(chat) == ["This is bold."]


async def test_somebody_who_blocked_the_bot_holds_up_nobody(house: House) -> None:
    gone, chat = house.guest(), house.guest()
    await house.asked(gone)
    house.tg.block(gone.id)
    await house.answered(chat, await house.asked(chat))
    house.tg.unblock(gone.id)
    await house.answered(gone, await house.asked(gone))


async def test_polls_that_fail(house: House) -> None:
    chat = house.guest()
    for fault in ("500", "502", "disconnect", "429", "conflict409"):
        order = house.tg.fault("getUpdates", fault, times=1)
        first = await house.asked(chat)
        await house.struck(order)
        second = await house.asked(chat)
        await house.answered(chat, first, second)
        assert (house.times(chat, first), house.times(chat, second)) == (1, 1)
    log = house.relay.output()
    assert "Another program is reading this bot's messages" in log


async def test_an_update_that_is_handed_out_twice(house: House) -> None:
    chat = house.guest()
    word = await house.asked(chat)
    update_id = house.tg.pending_updates[-1]["update_id"]
    await house.answered(chat, word)
    house.tg.redeliver(update_id)
    await house.answered(chat, await house.asked(chat))
    await house.tg.say(chat, None, "/remember I have a kite")
    again = max(house.tg.queue.known)
    await house.tg.wait_for(lambda: len(house.said(chat)) == 3)
    house.tg.redeliver(again)
    await house.answered(chat, await house.asked(chat))
    assert house.times(chat, word) == 1
    assert len(house.said(chat)) == 4
    assert house.exchanges(chat) == 3


async def test_an_update_that_comes_twice_in_one_batch_after_a_stop(house: House) -> None:
    chat = house.guest()
    await house.relay.stop()
    word = await house.asked(chat)
    house.tg.redeliver(max(house.tg.queue.known))
    await house.again()
    await house.answered(chat, word)
    await house.answered(chat, await house.asked(chat))
    assert house.times(chat, word) == 1


async def test_telegram_is_down_at_the_start_and_comes_up(house: House) -> None:
    chat = house.guest()
    await house.relay.stop()
    house.tg.stopped = True
    word = await house.asked(chat)
    await house.again()
    await house.logged("Telegram cannot be reached yet")
    house.tg.stopped = False
    await house.answered(chat, word)


async def test_telegram_goes_away_in_the_middle(house: House) -> None:
    chat = house.guest()
    word = house.word()
    house.model.rule(word, Reply(f"Answer: {word}", first_delay=1))
    await house.tg.say(chat, None, word)
    await house.model.wait_requests(1)
    await house.tg.stop()
    await asyncio.sleep(2)
    await house.tg.start()
    await house.answered(chat, word, timeout=30)
    await house.polled()
    await house.answered(chat, await house.asked(chat))
    assert house.times(chat, word) == 1


async def test_what_hangs_is_cut_off(hanging: tuple[House, Chat, list[str]]) -> None:
    """A send and a poll that are never answered: the one is repeated, the other's connection is made anew."""
    house, chat, words = hanging
    await house.answered(chat, *words, timeout=60)
    await house.answered(chat, await house.asked(chat))
    assert [house.times(chat, word) for word in words] == [1, 1, 1]


async def test_none_of_this_bothers_the_owner_or_puts_the_token_into_the_log(house: House) -> None:
    assert house.said(OWNER) == []
    assert not [secret for secret in SECRETS if secret in house.relay.output()]
