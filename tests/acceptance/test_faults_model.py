"""What the model does wrong: waited out where that helps, else said in one clear line; never saved as an answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from relay.core.errors import NO_MODEL
from tests.acceptance.harness import OWNER
from tests.acceptance.house import SECRETS, House, echo, open_house
from tests.standins.anthropic import Recorded, Reply
from tests.standins.telegram import Chat, StoredMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")

INNARDS = re.compile(r"http|127\.0\.0\.1|sk-ant|Traceback|Error\b|_error|\b[45]\d\d\b|invalid x-api-key|request_id")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[House]:
    async with open_house(RELAY_MODEL_TIMEOUT="2", RELAY_LOG_LEVEL="DEBUG") as house:
        yield house
        assert house.tracebacks() == []


async def last(house: House, chat: Chat, count: int = 1, timeout: float = 20) -> StoredMessage:
    """The bot's message number `count` of a chat, when it is there."""
    await house.tg.wait_for(lambda: len(house.replies(chat)) >= count, timeout)
    return house.replies(chat)[-1]


async def test_what_passes_is_waited_out(house: House) -> None:
    """Each kind of passing trouble for somebody else, twice."""
    chats = {}
    for kind in ("429", "529", "500", "503", "hang", "disconnect", "stall", "error_event", "cut"):
        chat, word = house.guest(), house.word()
        house.model.fault(kind, times=2, match=word, deltas=0, retry_after=0.2 if kind == "429" else None)
        chats[kind] = chat, word
        await house.tg.say(chat, None, word)
    for kind, (chat, word) in chats.items():
        await house.answered(chat, word)
        assert house.said(chat) == [f"Answer: {word}"], kind
        assert house.exchanges(chat) == 1


async def test_a_429_is_obeyed(house: House) -> None:
    chat = house.guest()
    house.model.fault("429", retry_after=2)
    await house.answered(chat, await house.asked(chat))
    first, second = house.model.requests
    assert second.at - first.at >= 1.9


@pytest.mark.parametrize("kind", ["cut", "stall", "error_event"])
async def test_a_stream_that_breaks_off_is_taken_up_again(house: House, kind: str) -> None:
    chat = house.guest()
    whole = "One. Two. **Three and a half.** Four. Five. Six. Seven. Eight. Nine. Ten."

    def go_on(request: Recorded) -> Reply:
        told = request.messages[-2]["content"][-1]["text"] if "broke off" in request.last_text else ""
        assert whole.startswith(told)
        return Reply(whole[len(told) :])

    house.model.rule(None, go_on)
    house.model.fault(kind, times=2, deltas=3)
    await house.asked(chat)
    reply = await last(house, chat)
    assert reply.text == whole.replace("**", "")
    assert list(reply.buttons) == ["◆ Keep this"]
    await house.asked(chat)
    await last(house, chat, 2)
    assert whole in house.model.last.text, "and it is remembered whole"
    assert "broke off" not in house.model.last.text


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
"""What people who run Relay are told instead."""


async def test_what_stays_is_said_in_a_clear_line_and_can_be_tried_again(house: House) -> None:
    chats = {kind: house.guest() for kind in LINES}
    words = {kind: house.word() for kind in LINES}
    for kind, word in words.items():
        house.model.fault(kind, times=None, match=word)
        await house.tg.say(chats[kind], None, word)
    for kind, chat in chats.items():
        failed = await last(house, chat)
        assert LINES[kind] in failed.text
        assert not INNARDS.search(failed.text), failed.text
        assert "↻ Retry" in failed.buttons
        assert house.exchanges(chat) == 0
    house.quiet()
    for kind, chat in chats.items():
        failed = house.replies(chat)[-1]
        house.tg.press(chat, None, failed, failed.buttons["↻ Retry"])
        await house.answered(chat, words[kind])
        assert "↻ Retry" not in house.replies(chat)[0].buttons, "a button that was used goes"
        await house.answered(chat, await house.asked(chat))
        assert house.exchanges(chat) == 2
        prompt = house.model.last.text
        assert LINES[kind] not in prompt
        assert "⚠️" not in prompt
        assert prompt.count(f"Answer: {words[kind]}") == 1


async def test_who_runs_it_is_told_the_cause_in_private_and_nobody_else(house: House) -> None:
    admin, owner = house.tg.chat(OWNER), house.tg.user(OWNER)
    group = house.tg.group(-1000000077001, "Group", [owner, house.tg.user(next(house._people), "Guest")])
    for kind, cause in CAUSES.items():
        word = house.word()
        house.model.fault(kind, times=2, match=word)
        said = await house.tg.say(admin, owner, word)
        assert cause in (await house.tg.wait_reply(admin, said)).text
        said = await house.tg.say(group, owner, f"@{house.tg.bot.username} {word}")
        assert NO_MODEL in (await house.tg.wait_reply(group, said)).text


async def test_an_answer_at_its_length_limit_says_so(house: House) -> None:
    chat = house.guest()
    house.model.rule(None, Reply("It was a dark and stormy night. " * 8))
    house.model.fault("max_tokens")
    await house.asked(chat)
    reply = await last(house, chat)
    assert reply.text.startswith("It was a dark")
    assert "length limit" in reply.text
    assert "↻ Retry" in reply.buttons


async def test_a_conversation_that_became_too_long_is_shortened(house: House) -> None:
    chat = house.guest()
    for _ in range(2):
        await house.answered(chat, await house.asked(chat))
    house.model.fault("too_long")
    word = await house.asked(chat)
    await house.answered(chat, word)
    before, now = house.model.requests[-2:]
    assert len(now.text) < len(before.text), "nothing is asked a second time that is as long"
    assert list(house.replies(chat)[-1].buttons) == ["◆ Keep this"]


async def test_older_messages_are_dropped_until_it_fits(house: House) -> None:
    chat = house.guest()
    for _ in range(3):
        await house.answered(chat, await house.asked(chat, "blah " * 700))
    house.model.context_window = 2600
    try:
        word = await house.asked(chat)
        await house.answered(chat, word)
    finally:
        house.model.context_window = 200_000
    assert house.said(chat)[-1] == f"Answer: {word}"


async def test_somebody_who_waits_is_told_after_ten_seconds(house: House) -> None:
    chat, room = house.guest(), house.room()
    fault = house.model.fault("529", times=None, retry_after=1)
    asked = asyncio.get_running_loop().time()
    word, there = await house.asked(chat), await house.asked(room)
    await house.tg.wait_for(lambda: "⏳" in str(house.tg.drafts(chat)) and "⏳" in str(house.said(room)), 15)
    assert asyncio.get_running_loop().time() - asked > 9
    assert "very busy" in str(house.tg.drafts(chat))
    fault.times = 0
    await house.answered(chat, word, timeout=25)
    await house.answered(room, there, timeout=25)
    assert house.said(chat) == [f"Answer: {word}"]
    assert house.said(room) == [f"Answer: {there}"]


async def test_a_summary_that_fails_touches_no_answer(house: House) -> None:
    chat = house.guest()
    house.model.fault("500", model="haiku", times=None)
    for _ in range(6):
        await house.answered(chat, await house.asked(chat))
    await house.model.wait_requests(1, model="haiku")
    assert len(house.said(chat)) == 6
    assert echo(house.model.requests[0]) == house.said(chat)[0]


async def test_after_all_this_no_secret_is_in_the_log_even_at_its_most_talkative(house: House) -> None:
    assert not [secret for secret in SECRETS if secret in house.relay.output()]
