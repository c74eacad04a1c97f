"""Bounds that settings set: just under them all is well, just over them it is said; and nobody waits for a flood."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests import papers
from tests.acceptance.house import House, echo, open_house
from tests.standins.anthropic import Recorded, Reply, tool
from tests.standins.telegram import Upload

pytestmark = pytest.mark.asyncio(loop_scope="module")

BOUNDS = {
    "RELAY_MAX_FILE_MB": "1", "RELAY_MAX_PAGES": "2", "RELAY_CONCURRENCY": "1", "RELAY_BACKGROUND_CONCURRENCY": "1",
    "RELAY_CAPTURE": "auto",
}  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[House]:
    async with open_house(**BOUNDS) as house:
        yield house
        assert house.tracebacks() == []


def most_at_once(requests: list[Recorded]) -> int:
    """How many requests were under way at the same time, at most."""
    return max(sum(other.at <= one.at < (other.finished_at or one.at) for other in requests) for one in requests)


async def test_a_file_of_the_largest_size_is_taken_and_a_byte_more_is_not(house: House) -> None:
    chat = house.guest()
    largest = (b"The well is deep. " * 2**16)[: 2**20]
    word = house.word()
    await house.tg.say(chat, None, word, document=Upload(largest, "well.txt", "text/plain"))
    (text,) = await house.answered(chat, word, timeout=60)
    assert "too large" not in text
    assert "The well is deep." in house.model.last.text
    await house.tg.say(chat, None, document=Upload(largest + b"x", "well.txt", "text/plain"))
    await house.until_said(chat, "It is too large: 2 MB; I can take 1 MB.")
    assert "RELAY_MAX_FILE_MB" not in str(house.said(chat))


async def test_a_pdf_of_the_most_pages_is_seen_and_of_a_longer_one_the_text_is_had(house: House) -> None:
    chat = house.guest()
    for pages, seen in ((2, True), (3, False)):
        word = house.word()
        pdf = papers.pdf([f"It says {number}" for number in range(1, pages + 1)])
        await house.tg.say(chat, None, word, document=Upload(pdf, f"{pages}.pdf", "application/pdf"))
        text = (await house.answered(chat, word, timeout=60))[-1]
        shown = [block for block in house.model.last.messages[-1]["content"] if block["type"] == "document"]
        assert [block["source"]["media_type"] for block in shown] == ["application/pdf"] * seen
        assert ("It has 3 pages, and I can look at 2 at most: I have its text" in text) is not seen
    assert "It says 3" in house.model.last.last_text


async def test_an_answer_that_is_stopped_keeps_what_was_said_also_when_a_file_had_its_line(house: House) -> None:
    chat, word = house.guest(), house.word()
    house.model.rule(word, Reply("alpha beta " * 400, spread=20))
    pdf = papers.pdf([f"It says {number}" for number in range(3)])
    await house.tg.say(chat, None, word, document=Upload(pdf, "3.pdf", "application/pdf"))
    await house.tg.wait_for(lambda: house.tg.drafts(chat), 30)
    await house.tg.say(chat, None, "/stop")
    await house.until_said(chat, "Stopped.")
    (text,) = house.said(chat)
    assert text.startswith("alpha beta")
    assert "It has 3 pages, and I can look at 2 at most" in text
    assert text.endswith("Stopped.")


async def test_a_flood_in_one_chat_keeps_nobody_else_waiting(house: House) -> None:
    """With room for one answer at a time: whoever comes meanwhile is the next but one at the latest."""
    house.quiet()
    house.model.rule(None, lambda request: Reply(echo(request), first_delay=0.15))
    ada, ben = (house.tg.user(house.guest().id) for _ in range(2))
    room = house.tg.group(-1000000000000 - ada.id, "Room", [ada, ben])
    before = len(house.model.requests)
    flood = [house.word() for _ in range(16)]
    for number, word in enumerate(flood):
        await house.tg.say(room, (ada, ben)[number % 2], f"@{house.tg.bot.username} {word}")
    await house.answered(room, flood[0])
    chat = house.guest()
    already = len(house.replies(room))
    await house.answered(chat, await house.asked(chat))
    assert len(house.replies(room)) - already <= 3
    await house.tg.wait_for(lambda: len(house.replies(room)) == len(flood), 60)
    assert most_at_once([one for one in house.model.requests[before:] if "sonnet" in one.model]) == 1


async def test_background_work_asks_the_small_model_as_often_at_once_as_is_allowed(house: House) -> None:
    house.quiet()
    house.model.rule(None, Reply([tool("keep", {"findings": []})], first_delay=0.2), model="judge")
    chats = [house.guest() for _ in range(5)]
    for chat in chats:
        await house.asked(chat, "My sister moved to Lisbon last week, and took both of her cats along.")
    await house.tg.wait_for(lambda: len(house.model.asides_of("judge")) >= len(chats), 40)
    await house.tg.wait_for(lambda: all(one.finished_at for one in house.model.asides_of("judge")), 40)
    assert most_at_once(house.model.asides_of("judge")) == 1
