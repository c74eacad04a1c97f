"""Faults of the model are retried where that helps, and otherwise reported in one clear line. None is saved as an
answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from relay.core.errors import NO_MODEL
from tests.acceptance.harness import OWNER
from tests.acceptance.shared_relay import SECRETS, SharedRelay, echo, open_relay
from tests.standins.anthropic import Recorded, Reply
from tests.standins.telegram import Chat, StoredMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")

INNARDS = re.compile(r"http|127\.0\.0\.1|sk-ant|Traceback|Error\b|_error|\b[45]\d\d\b|invalid x-api-key|request_id")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_relay() -> AsyncIterator[SharedRelay]:
    async with open_relay(RELAY_MODEL_TIMEOUT="2", RELAY_LOG_LEVEL="DEBUG") as shared_relay:
        yield shared_relay
        assert shared_relay.tracebacks() == []


async def last(shared_relay: SharedRelay, chat: Chat, count: int = 1, timeout: float = 20) -> StoredMessage:
    """Waits for the bot's message number `count` in a chat and returns the last one."""
    await shared_relay.tg.wait_for(lambda: len(shared_relay.replies(chat)) >= count, timeout)
    return shared_relay.replies(chat)[-1]


async def test_temporary_faults_are_retried(shared_relay: SharedRelay) -> None:
    """Each temporary fault strikes a different person, twice."""
    chats = {}
    for kind in ("429", "529", "500", "503", "hang", "disconnect", "stall", "error_event", "cut"):
        chat, word = shared_relay.guest(), shared_relay.word()
        shared_relay.model.fault(kind, times=2, match=word, deltas=0, retry_after=0.2 if kind == "429" else None)
        chats[kind] = chat, word
        await shared_relay.tg.say(chat, None, word)
    for kind, (chat, word) in chats.items():
        await shared_relay.answered(chat, word)
        assert shared_relay.said(chat) == [f"Answer: {word}"], kind
        assert shared_relay.exchanges(chat) == 1


async def test_the_retry_delay_of_a_429_is_respected(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    shared_relay.model.fault("429", retry_after=2)
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    first, second = shared_relay.model.requests
    assert second.at - first.at >= 1.9


@pytest.mark.parametrize("kind", ["cut", "stall", "error_event"])
async def test_an_interrupted_stream_is_continued(shared_relay: SharedRelay, kind: str) -> None:
    chat = shared_relay.guest()
    whole = "One. Two. **Three and a half.** Four. Five. Six. Seven. Eight. Nine. Ten."

    def go_on(request: Recorded) -> Reply:
        told = request.messages[-2]["content"][-1]["text"] if "broke off" in request.last_text else ""
        assert whole.startswith(told)
        return Reply(whole[len(told) :])

    shared_relay.model.rule(None, go_on)
    shared_relay.model.fault(kind, times=2, deltas=3)
    await shared_relay.asked(chat)
    reply = await last(shared_relay, chat)
    assert reply.text == whole.replace("**", "")
    assert list(reply.buttons) == ["◆ Keep this"]
    await shared_relay.asked(chat)
    await last(shared_relay, chat, 2)
    assert whole in shared_relay.model.last.text, "the complete answer is in the history"
    assert "broke off" not in shared_relay.model.last.text


LINES = {
    "refusal": "declined",
    "empty": "empty answer",
    "too_long": "too long",
    "credit": NO_MODEL,
    "402": NO_MODEL,
    "401": NO_MODEL,
    "404": NO_MODEL,
    "400": "did not accept",
}
CAUSES = {
    "credit": "out of credit",
    "402": "out of credit",
    "401": "Check ANTHROPIC_API_KEY",
    "404": "Check RELAY_MODEL",
}
"""What admins are told instead."""


async def test_a_permanent_fault_gets_a_clear_line_and_a_retry_button(shared_relay: SharedRelay) -> None:
    chats = {kind: shared_relay.guest() for kind in LINES}
    words = {kind: shared_relay.word() for kind in LINES}
    for kind, word in words.items():
        shared_relay.model.fault(kind, times=None, match=word)
        await shared_relay.tg.say(chats[kind], None, word)
    for kind, chat in chats.items():
        failed = await last(shared_relay, chat)
        assert LINES[kind] in failed.text
        assert not INNARDS.search(failed.text), failed.text
        assert "↻ Retry" in failed.buttons
        assert shared_relay.exchanges(chat) == 0
    shared_relay.quiet()
    for kind, chat in chats.items():
        failed = shared_relay.replies(chat)[-1]
        shared_relay.tg.press(chat, None, failed, failed.buttons["↻ Retry"])
        await shared_relay.answered(chat, words[kind])
        assert "↻ Retry" not in shared_relay.replies(chat)[0].buttons, "a used button is removed"
        await shared_relay.answered(chat, await shared_relay.asked(chat))
        assert shared_relay.exchanges(chat) == 2
        prompt = shared_relay.model.last.text
        assert LINES[kind] not in prompt
        assert "⚠️" not in prompt
        assert prompt.count(f"Answer: {words[kind]}") == 1


async def test_only_admins_are_told_the_cause_and_only_in_private(shared_relay: SharedRelay) -> None:
    admin, owner = shared_relay.tg.chat(OWNER), shared_relay.tg.user(OWNER)
    group = shared_relay.tg.group(
        -1000000077001, "Group", [owner, shared_relay.tg.user(next(shared_relay.people), "Guest")]
    )
    for kind, cause in CAUSES.items():
        word = shared_relay.word()
        shared_relay.model.fault(kind, times=2, match=word)
        said = await shared_relay.tg.say(admin, owner, word)
        assert cause in (await shared_relay.tg.wait_reply(admin, said)).text
        said = await shared_relay.tg.say(group, owner, f"@{shared_relay.tg.bot.username} {word}")
        assert NO_MODEL in (await shared_relay.tg.wait_reply(group, said)).text


async def test_an_answer_cut_by_the_length_limit_says_so(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    shared_relay.model.rule(None, Reply("It was a dark and stormy night. " * 8))
    shared_relay.model.fault("max_tokens")
    await shared_relay.asked(chat)
    reply = await last(shared_relay, chat)
    assert reply.text.startswith("It was a dark")
    assert "length limit" in reply.text
    assert "↻ Retry" in reply.buttons


async def test_a_conversation_that_became_too_long_is_shortened(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    for _ in range(2):
        await shared_relay.answered(chat, await shared_relay.asked(chat))
    shared_relay.model.fault("too_long")
    word = await shared_relay.asked(chat)
    await shared_relay.answered(chat, word)
    before, now = shared_relay.model.requests[-2:]
    assert len(now.text) < len(before.text), "the second request is shorter"
    assert list(shared_relay.replies(chat)[-1].buttons) == ["◆ Keep this"]


async def test_older_messages_are_dropped_until_the_prompt_fits(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    for _ in range(3):
        await shared_relay.answered(chat, await shared_relay.asked(chat, "blah " * 700))
    shared_relay.model.context_window = 2600
    try:
        word = await shared_relay.asked(chat)
        await shared_relay.answered(chat, word)
    finally:
        shared_relay.model.context_window = 200_000
    assert shared_relay.said(chat)[-1] == f"Answer: {word}"


async def test_a_waiting_person_is_told_so_after_ten_seconds(shared_relay: SharedRelay) -> None:
    chat, room = shared_relay.guest(), shared_relay.room()
    fault = shared_relay.model.fault("529", times=None, retry_after=1)
    asked = asyncio.get_running_loop().time()
    word, there = await shared_relay.asked(chat), await shared_relay.asked(room)
    await shared_relay.tg.wait_for(
        lambda: "⏳" in str(shared_relay.tg.drafts(chat)) and "⏳" in str(shared_relay.said(room)), 15
    )
    assert asyncio.get_running_loop().time() - asked > 9
    assert "very busy" in str(shared_relay.tg.drafts(chat))
    fault.times = 0
    await shared_relay.answered(chat, word, timeout=25)
    await shared_relay.answered(room, there, timeout=25)
    assert shared_relay.said(chat) == [f"Answer: {word}"]
    assert shared_relay.said(room) == [f"Answer: {there}"]


async def test_a_failed_summary_affects_no_answer(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    shared_relay.model.fault("500", model="haiku", times=None)
    for _ in range(6):
        await shared_relay.answered(chat, await shared_relay.asked(chat))
    await shared_relay.model.wait_requests(1, model="haiku")
    assert len(shared_relay.said(chat)) == 6
    assert echo(shared_relay.model.requests[0]) == shared_relay.said(chat)[0]


async def test_no_secret_is_in_the_debug_log_after_all_these_faults(shared_relay: SharedRelay) -> None:
    assert not [secret for secret in SECRETS if secret in shared_relay.relay.output()]
