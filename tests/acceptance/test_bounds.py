"""Limits that settings set: up to them all works, beyond them the bot says so, and a flood in one chat delays nobody
else."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests import papers
from tests.acceptance.shared_relay import SharedRelay, echo, open_relay
from tests.standins.anthropic import Recorded, Reply, tool
from tests.standins.telegram import Upload

pytestmark = pytest.mark.asyncio(loop_scope="module")

BOUNDS = {
    "RELAY_MAX_FILE_MB": "1", "RELAY_MAX_PAGES": "2", "RELAY_CONCURRENCY": "1", "RELAY_BACKGROUND_CONCURRENCY": "1",
    "RELAY_CAPTURE": "auto",
}  # fmt: skip


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_relay() -> AsyncIterator[SharedRelay]:
    async with open_relay(**BOUNDS) as shared_relay:
        yield shared_relay
        assert shared_relay.tracebacks() == []


def most_at_once(requests: list[Recorded]) -> int:
    """Returns the largest number of requests that were under way at the same time."""
    return max(sum(other.at <= one.at < (other.finished_at or one.at) for other in requests) for one in requests)


async def test_a_file_of_the_maximum_size_is_accepted_and_a_larger_one_is_not(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    largest = (b"The well is deep. " * 2**16)[: 2**20]
    word = shared_relay.word()
    await shared_relay.tg.say(chat, None, word, document=Upload(largest, "well.txt", "text/plain"))
    (text,) = await shared_relay.answered(chat, word, timeout=60)
    assert "too large" not in text
    assert "The well is deep." in shared_relay.model.last.text
    await shared_relay.tg.say(chat, None, document=Upload(largest + b"x", "well.txt", "text/plain"))
    await shared_relay.until_said(chat, "It's too large: 2 MB; I can take 1 MB.")
    assert "RELAY_MAX_FILE_MB" not in str(shared_relay.said(chat))


async def test_a_pdf_with_too_many_pages_is_read_only_as_text(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    for pages, seen in ((2, True), (3, False)):
        word = shared_relay.word()
        pdf = papers.pdf([f"It says {number}" for number in range(1, pages + 1)])
        await shared_relay.tg.say(chat, None, word, document=Upload(pdf, f"{pages}.pdf", "application/pdf"))
        text = (await shared_relay.answered(chat, word, timeout=60))[-1]
        shown = [block for block in shared_relay.model.last.messages[-1]["content"] if block["type"] == "document"]
        assert [block["source"]["media_type"] for block in shown] == ["application/pdf"] * seen
        assert ("It has 3 pages, and I can look at 2 at most: I have its text" in text) is not seen
    assert "It says 3" in shared_relay.model.last.last_text


async def test_a_stopped_answer_keeps_its_text_and_the_notice_about_a_file(shared_relay: SharedRelay) -> None:
    chat, word = shared_relay.guest(), shared_relay.word()
    shared_relay.model.rule(word, Reply("alpha beta " * 400, spread=20))
    pdf = papers.pdf([f"It says {number}" for number in range(3)])
    await shared_relay.tg.say(chat, None, word, document=Upload(pdf, "3.pdf", "application/pdf"))
    await shared_relay.tg.wait_for(lambda: shared_relay.tg.drafts(chat), 30)
    await shared_relay.tg.say(chat, None, "/stop")
    await shared_relay.until_said(chat, "Stopped.")
    (text,) = shared_relay.said(chat)
    assert text.startswith("alpha beta")
    assert "It has 3 pages, and I can look at 2 at most" in text
    assert text.endswith("Stopped.")


async def test_a_flood_in_one_chat_does_not_delay_other_chats(shared_relay: SharedRelay) -> None:
    """With room for one answer at a time, a message in another chat is answered next but one at the latest."""
    shared_relay.quiet()
    shared_relay.model.rule(None, lambda request: Reply(echo(request), first_delay=0.3))
    ada, ben = (shared_relay.tg.user(shared_relay.guest().id) for _ in range(2))
    room = shared_relay.tg.group(-1000000000000 - ada.id, "Room", [ada, ben])
    before = len(shared_relay.model.requests)
    flood = [shared_relay.word() for _ in range(16)]
    for number, word in enumerate(flood):
        await shared_relay.tg.say(room, (ada, ben)[number % 2], f"@{shared_relay.tg.bot.username} {word}")
    await shared_relay.answered(room, flood[0])
    chat = shared_relay.guest()
    already = len(shared_relay.replies(room))
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    assert len(shared_relay.replies(room)) - already <= 3
    await shared_relay.tg.wait_for(lambda: len(shared_relay.replies(room)) == len(flood), 60)
    assert most_at_once([one for one in shared_relay.model.requests[before:] if "sonnet" in one.model]) == 1


async def test_concurrent_background_requests_to_the_small_model_are_limited(shared_relay: SharedRelay) -> None:
    shared_relay.quiet()
    shared_relay.model.rule(None, Reply([tool("keep", {"findings": []})], first_delay=0.2), model="judge")
    chats = [shared_relay.guest() for _ in range(5)]
    for chat in chats:
        await shared_relay.asked(chat, "My sister moved to Lisbon last week, and took both of her cats along.")
    await shared_relay.tg.wait_for(lambda: len(shared_relay.model.asides_of("judge")) >= len(chats), 40)
    await shared_relay.tg.wait_for(lambda: all(one.finished_at for one in shared_relay.model.asides_of("judge")), 40)
    assert most_at_once(shared_relay.model.asides_of("judge")) == 1
