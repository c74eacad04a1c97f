"""Despite faults of Telegram, every answer arrives once, and nobody else's message is touched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_relay import SECRETS, SharedRelay, open_relay
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat

pytestmark = pytest.mark.asyncio(loop_scope="module")

LONG = "\n\n".join(f"line {number} {'of a long answer ' * 5}." for number in range(130))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_relay() -> AsyncIterator[SharedRelay]:
    async with open_relay(RELAY_LOG_LEVEL="DEBUG") as shared_relay:
        yield shared_relay
        assert shared_relay.tracebacks() == []


@pytest_asyncio.fixture(scope="module", loop_scope="module", autouse=True)
async def hanging() -> AsyncIterator[tuple[SharedRelay, Chat, list[str]]]:
    """A second Relay, which waits out its 40 seconds while the other tests run."""
    async with open_relay() as shared_relay:
        chat = shared_relay.guest()
        shared_relay.tg.fault("sendMessage", "timeout", chat_id=chat.id)
        words = [await shared_relay.asked(chat)]
        await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)
        hung = shared_relay.tg.fault("getUpdates", "timeout")
        words.append(await shared_relay.asked(chat))
        await shared_relay.tg.wait_for(lambda: hung.hits)
        words.append(await shared_relay.asked(chat))
        yield shared_relay, chat, words
        assert shared_relay.tracebacks() == []


def probes(shared_relay: SharedRelay, since: int) -> list[tuple[int, int]]:
    """Returns the chat and id of each message that the bot tried to change to find a lost one."""
    calls = [record for record in shared_relay.tg.log[since:] if record.method == "editMessageReplyMarkup"]
    return [(record.params["chat_id"], record.params["message_id"]) for record in calls]


async def test_a_failed_send_is_repeated_and_a_send_without_response_is_found(shared_relay: SharedRelay) -> None:
    """Nine chats at once share the counter of message ids, each with another fault, with traffic in others."""
    kinds: dict[str, dict[str, Any]] = {
        "429": {"retry_after": 2},
        "500": {"times": 2},
        "502": {},
        "disconnect": {"times": 2},
        "lost": {},
        "late": {"delay": 0.7},
    }
    since = len(shared_relay.tg.log)
    chats = {kind: shared_relay.guest() for kind in kinds} | {
        f"{kind} in a group": shared_relay.room() for kind in ("500", "lost")
    }
    calm = [shared_relay.guest() for _ in range(4)]
    for kind, chat in chats.items():
        shared_relay.tg.fault("sendMessage", kind.split()[0], chat_id=chat.id, **kinds.get(kind, {}))
    words: dict[int, list[str]] = {}
    for _ in range(3):
        for chat in (*chats.values(), *calm):
            words.setdefault(chat.id, []).append(await shared_relay.asked(chat))
        await asyncio.sleep(0.3)
    for chat_id, asked in words.items():
        await shared_relay.answered(shared_relay.tg.chat(chat_id), *asked)
        assert [shared_relay.times(shared_relay.tg.chat(chat_id), word) for word in asked] == [1] * 3
    lost = {chat.id for kind, chat in chats.items() if kind not in ("429",)}
    for chat_id, message_id in probes(shared_relay, since):
        assert chat_id in lost
        message = shared_relay.tg.chat(chat_id).messages.get(message_id)
        assert message is None or message.from_bot, "messages of people are not probed"
    for chat in chats.values():
        assert {label for message in shared_relay.replies(chat) for label in message.buttons} == {"◆ Keep this"}


async def test_a_long_answer_is_complete_although_sending_a_part_failed(shared_relay: SharedRelay) -> None:
    shared_relay.model.rule("long", LONG)
    chats = [shared_relay.guest() for _ in range(3)]
    for chat, fault in zip(chats, ("lost", "500", "429"), strict=True):
        shared_relay.tg.fault("sendMessage", fault, chat_id=chat.id, after=1)
        await shared_relay.asked(chat, "long")
    for chat in chats:
        await shared_relay.until_said(chat, "line 129 ")
        await shared_relay.answered(chat, await shared_relay.asked(chat))
        whole = "\n\n".join(shared_relay.said(chat))
        assert [whole.count(f"line {number} ") for number in range(130)] == [1] * 130


async def test_a_failed_preview_leaves_one_complete_answer(shared_relay: SharedRelay) -> None:
    """In a group the first preview is a message of its own. The following ones edit it."""
    rooms = []
    for fault in ("429", "500", "lost", "disconnect"):
        for method in ("sendMessage", "editMessageText"):
            room, word = shared_relay.room(), shared_relay.word()
            shared_relay.tg.fault(method, fault, chat_id=room.id)
            shared_relay.model.rule(word, Reply(f"begun {'and on ' * 12} {word}", spread=3))
            await shared_relay.tg.say(room, None, word)
            rooms.append((room, word))
    for room, word in rooms:
        await shared_relay.answered(room, word)
        assert shared_relay.said(room) == [f"begun {'and on ' * 12} {word}"]


async def test_after_a_refused_first_preview_the_next_one_is_shown(shared_relay: SharedRelay) -> None:
    room, word = shared_relay.room(), shared_relay.word()
    shared_relay.tg.fault("sendMessage", "429", chat_id=room.id, retry_after=1)
    shared_relay.model.rule(word, Reply(f"begun {'and on ' * 12} {word}", spread=6))
    await shared_relay.tg.say(room, None, word)
    await shared_relay.answered(room, word, timeout=30)
    assert len(shared_relay.replies(room)) == 1
    assert shared_relay.tg.calls("editMessageReplyMarkup", room.id) == []
    assert shared_relay.tg.calls("editMessageText", room.id), "the preview was edited"


async def test_no_more_drafts_are_sent_to_a_chat_that_refuses_them(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    shared_relay.tg.fault("sendMessageDraft", "error", chat_id=chat.id, description="Bad Request: no drafts here")
    for _ in range(2):
        word = shared_relay.word()
        shared_relay.model.rule(word, Reply(f"begun {'and on ' * 12} {word}", spread=1))
        await shared_relay.tg.say(chat, None, word)
        await shared_relay.answered(chat, word)
    assert len(shared_relay.tg.calls("sendMessageDraft", chat.id)) == 1


async def test_an_answer_with_refused_entities_is_sent_as_plain_text(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    shared_relay.model.rule(None, "This is **bold**.")
    shared_relay.tg.fault("sendMessage", "error", chat_id=chat.id, description="Bad Request: can't parse entities")
    await shared_relay.asked(chat)
    await shared_relay.tg.wait_for(lambda: shared_relay.said(chat))
    assert shared_relay.said(chat) == ["This is bold."]


async def test_a_person_who_blocked_the_bot_does_not_delay_others(shared_relay: SharedRelay) -> None:
    gone, chat = shared_relay.guest(), shared_relay.guest()
    await shared_relay.asked(gone)
    shared_relay.tg.block(gone.id)
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    shared_relay.tg.unblock(gone.id)
    await shared_relay.answered(gone, await shared_relay.asked(gone))


async def test_polling_continues_after_failed_polls(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    for fault in ("500", "502", "disconnect", "429", "conflict409"):
        order = shared_relay.tg.fault("getUpdates", fault, times=1)
        first = await shared_relay.asked(chat)
        await shared_relay.struck(order)
        second = await shared_relay.asked(chat)
        await shared_relay.answered(chat, first, second)
        assert (shared_relay.times(chat, first), shared_relay.times(chat, second)) == (1, 1)
    log = shared_relay.relay.output()
    assert "Another program is reading this bot's messages" in log


async def test_an_update_delivered_twice_is_answered_once(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    word = await shared_relay.asked(chat)
    update_id = shared_relay.tg.pending_updates[-1]["update_id"]
    await shared_relay.answered(chat, word)
    shared_relay.tg.redeliver(update_id)
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    await shared_relay.tg.say(chat, None, "/remember I have a kite")
    again = max(shared_relay.tg.queue.known)
    await shared_relay.tg.wait_for(lambda: len(shared_relay.said(chat)) == 3)
    shared_relay.tg.redeliver(again)
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    assert shared_relay.times(chat, word) == 1
    assert len(shared_relay.said(chat)) == 4
    assert shared_relay.exchanges(chat) == 3


async def test_an_update_repeated_in_one_batch_is_answered_once(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    await shared_relay.relay.stop()
    word = await shared_relay.asked(chat)
    shared_relay.tg.redeliver(max(shared_relay.tg.queue.known))
    await shared_relay.again()
    await shared_relay.answered(chat, word)
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    assert shared_relay.times(chat, word) == 1


async def test_startup_waits_for_an_unreachable_telegram(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    await shared_relay.relay.stop()
    shared_relay.tg.stopped = True
    word = await shared_relay.asked(chat)
    await shared_relay.again()
    await shared_relay.logged("Telegram cannot be reached yet")
    shared_relay.tg.stopped = False
    await shared_relay.answered(chat, word)


async def test_an_answer_arrives_after_telegram_was_unreachable(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    word = shared_relay.word()
    shared_relay.model.rule(word, Reply(f"Answer: {word}", first_delay=1))
    await shared_relay.tg.say(chat, None, word)
    await shared_relay.model.wait_requests(1)
    await shared_relay.tg.stop()
    await asyncio.sleep(2)
    await shared_relay.tg.start()
    await shared_relay.answered(chat, word, timeout=30)
    await shared_relay.polled()
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    assert shared_relay.times(chat, word) == 1


async def test_hanging_sends_and_polls_are_aborted_and_repeated(hanging: tuple[SharedRelay, Chat, list[str]]) -> None:
    """A send and a poll that never get a response: the send is repeated, the poll's connection is replaced."""
    shared_relay, chat, words = hanging
    await shared_relay.answered(chat, *words, timeout=60)
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    assert [shared_relay.times(chat, word) for word in words] == [1, 1, 1]


async def test_these_faults_alert_nobody_and_log_no_secret(shared_relay: SharedRelay) -> None:
    assert shared_relay.said(OWNER) == []
    assert not [secret for secret in SECRETS if secret in shared_relay.relay.output()]
