"""Nothing blocks the event loop of a running bot for 50 ms, whatever the model answers and people send."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from tests import held
from tests.acceptance.process_group import free_port
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.lag import LITTLE
from tests.pictures import picture
from tests.sampled import sampled
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat, StoredMessage, Upload

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROW = "| cell | **bold** | `code` | [link](https://example.org) |\n"
ANSWERS = {
    "dollars, 16k": "$" * 16_000,
    "dollars, 66k": "$" * 66_000,
    "dollars between words": "$a$ $$b$$ " * 6_600,
    "nested lists": "".join("  " * depth + "- item\n" for depth in range(200)) * 3,
    "nested quotes": ">" * 2_000 + " deep\n" + "".join(">" * depth + " q\n" for depth in range(1, 200)),
    "nested emphasis": "*_" * 8_000 + "x" + "_*" * 8_000,
    "a table": "| a | b | c | d |\n|---|---|---|---|\n" + ROW * 500,
    "backticks": "`" * 64_000,
    "ticks and words": "`a" * 32_000,
    "links": "[a](https://example.org/b) " * 2_500,
    "brackets": "[" * 32_000 + "](" * 16_000,
    "entities": "&amp;&#x202e;&lt;" * 4_000,
    "long words": "w" * 65_000,
    "emoji": "👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿" * 3_000,
    "lines": "\n" * 30_000 + "x" + "\n\n\n" * 10_000 + "y",
    "tags": "[LEARN: " * 8_000,
    "backslashes": "\\(" * 20_000 + "\\[" * 10_000,
    "angles": "<" * 32_000 + "</b>" * 8_000,
    "fences": "```python\nx = 1\n```\n" * 2_000,
}


DOCUMENTS = {
    "a long text": ("long.txt", ("The well is deep. " * 60 + "\n\n") * 5_000),
    "one line": ("line.txt", "x" * 4_000_000),
    "tags": ("tags.html", "<a " * 1_000_000),
    "tags of ours": ("tags.txt", "[LEARN: I am ill] " * 200_000),
    "formulas": ("dollars.md", "$" * 500_000),
    "a sheet": ("sheet.csv", "a,b,c,d\n" * 400_000),
    "bytes": ("x.pdf", b"%PDF-1.7\n" + bytes(range(256)) * 20_000),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_relay(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[SharedRelay]:
    web = {"RELAY_WEB": "on", "RELAY_WEB_PORT": str(free_port())}
    web |= dict.fromkeys(("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START"), "")  # it would take most of the time
    async with open_relay(module=("tests.held", str(HOLDS)), PYTHONPATH=str(Path.cwd()), **web) as shared_relay:
        shared_relay.model.delta_size = 200
        yield shared_relay
        assert shared_relay.tracebacks() == []


FILLED = """
    insert into relay.message (space_id, thread_id, session_id, role, name, text, blocks)
    select space_id, thread_id, session_id, who, 'Ada', said,
        jsonb_build_array(case who when 'user' then block
            else jsonb_build_object('role', who, 'content', array[block]) end)
    from (select *, jsonb_build_object('type', 'text', 'text', said) as block
        from (select m.space_id, m.thread_id, m.id as session_id, (array['user', 'assistant'])[1 + n %% 2] as who,
                repeat(md5(n::text) || ' ', %s) as said
            from generate_series(1, %s) as n, relay.thread as t, relay.session as m
            where m.thread_id = t.id and chat_id = %s) as one) as two
"""
REMEMBERED = """
    insert into relay.memory (space_id, subject, content)
    select t.space_id, 'Person ' || n, 'Plays the game number ' || n
    from relay.thread t, generate_series(1, 2000) as n where chat_id = %s
"""
HOLDS = Path(tempfile.mkdtemp(prefix="held-")) / "holds"


class Since:
    """Blocks of the event loop since this object was made."""

    def __init__(self) -> None:
        self._begun = time.time()

    def longest(self) -> list[held.Hold]:
        """Returns the blocks that were too long and prints the longest."""
        holds = [hold for hold in held.read(HOLDS) if hold.at > self._begun]
        for hold in sorted(holds, key=lambda one: -one.seconds)[:5]:
            print(f"{hold.seconds * 1000:6.0f} ms {hold.kind} {hold.where[:900]}")
        return [hold for hold in holds if hold.seconds >= LITTLE]


async def test_work_after_the_first_poll_does_not_block_the_loop(shared_relay: SharedRelay) -> None:
    chat, since = shared_relay.guest(), Since()
    for _ in range(3):
        await shared_relay.answered(chat, await shared_relay.asked(chat))
        await asyncio.sleep(1)
    assert since.longest() == []


async def test_the_first_request_to_the_api_does_not_block_the_loop(shared_relay: SharedRelay) -> None:
    await shared_relay.tg.wait_for(lambda: "listening over HTTP" in shared_relay.relay.output(), 30)
    since = Since()
    url = f"http://127.0.0.1:{shared_relay.relay.environment['RELAY_WEB_PORT']}"
    async with httpx.AsyncClient(base_url=url, timeout=30) as web:
        for path in ("/api/openapi.json", "/"):
            assert (await web.get(path)).status_code == 200
    assert since.longest() == []


@pytest.mark.parametrize("name", sampled(ANSWERS, 3))
async def test_a_hostile_answer_does_not_block_the_loop(shared_relay: SharedRelay, name: str) -> None:
    chat, word, since = shared_relay.guest(), shared_relay.word(), Since()
    shared_relay.model.rule(word, Reply(f"{word}\n\n{ANSWERS[name]}", spread=0.5))
    await shared_relay.tg.say(chat, None, word)
    await shared_relay.tg.wait_for(lambda: shared_relay.said(chat) and shared_relay.exchanges(chat), 60)
    assert since.longest() == []


@pytest.mark.parametrize("name", sampled(DOCUMENTS, 3))
async def test_a_hostile_document_does_not_block_the_loop(shared_relay: SharedRelay, name: str) -> None:
    chat, word, since = shared_relay.guest(), shared_relay.word(), Since()
    shared_relay.model.rule(word, f"{word} [LEARN: Has a dog called Rex]")
    file, content = DOCUMENTS[name]
    upload = Upload(content if isinstance(content, bytes) else content.encode(), file, "application/octet-stream")
    await shared_relay.tg.say(chat, None, word, document=upload)
    await shared_relay.tg.wait_for(lambda: shared_relay.said(chat), 90)
    word = shared_relay.word()
    await shared_relay.tg.say(chat, None, word)  # A second prompt holds the document again.
    await shared_relay.answered(chat, word, timeout=60)
    assert since.longest() == []


@pytest.mark.slow("test_pictures.py")
async def test_a_picture_of_20_mb_and_an_album_do_not_block_the_loop(shared_relay: SharedRelay) -> None:
    chat, word, since = shared_relay.guest(), shared_relay.word(), Since()
    large = picture("JPEG", 5000, 4000)
    large += bytes(20_000_000 - len(large))
    await shared_relay.tg.say(chat, None, word, document=Upload(large, "large.jpg", "image/jpeg"))
    await shared_relay.answered(chat, word, timeout=60)
    word = shared_relay.word()
    for number in range(10):
        caption = "" if number else word
        await shared_relay.tg.say(chat, None, caption, photo=picture("JPEG", 2500, 2000), media_group_id="album")
    await shared_relay.answered(chat, word, timeout=60)
    word = shared_relay.word()
    await shared_relay.tg.say(chat, None, word)
    await shared_relay.answered(chat, word, timeout=60)
    assert since.longest() == []


async def test_huge_messages_and_edits_do_not_block_the_loop(shared_relay: SharedRelay) -> None:
    chat, since = shared_relay.guest(), Since()
    for text in ("w" * 4000, "[LEARN: x] " * 360, "$" * 4000, "/search " + "a* " * 1300, "/forget " + "ab " * 1300):
        word = shared_relay.word()
        said = await shared_relay.tg.say(chat, None, f"{text} {word}")
        await shared_relay.tg.wait_reply(chat, said, timeout=60)
        for turn in range(10):
            shared_relay.tg.edit(chat, said, f"{turn} {text}"[:4096])
    word = await shared_relay.asked(chat)
    await shared_relay.answered(chat, word, timeout=60)
    assert since.longest() == []


@pytest.mark.slow("test_any_export.py, and the exports of test_export.py")
@pytest.mark.parametrize(("lines", "messages"), [(60, 1000), (2000, 100)])
async def test_exports_do_not_block_the_loop(shared_relay: SharedRelay, lines: int, messages: int) -> None:
    """Exports of messages of 2 kB and of 66 kB, each with 2,000 memories about different people: some pages of each
    kind, of 50 rows, and 4 or 13 MB if it were not done page by page."""
    chat = shared_relay.guest()
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    shared_relay.sql(REMEMBERED, chat.id)
    shared_relay.sql(FILLED, lines, messages, chat.id)
    since = Since()
    for _ in range(2):
        await shared_relay.tg.say(chat, None, "/export")
    await shared_relay.tg.wait_for(lambda: len(exported(shared_relay, chat)) == 2, 120)
    assert since.longest() == []


def exported(shared_relay: SharedRelay, chat: Chat) -> list[StoredMessage]:
    return [one for one in shared_relay.replies(chat) if one.raw.get("document")]
