"""Ten thousand facts: paging, searching and changing the list is as fast as with few, and within Telegram's limits."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable
from typing import TypeVar

import pytest

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SharedBot
from tests.acceptance.shared_relay import SharedRelay
from tests.standins.telegram import StoredMessage
from tests.standins.telegram.text import utf16_length

pytestmark = pytest.mark.asyncio(loop_scope="module")

T = TypeVar("T")
MANY, PAGES, SECONDS = 10_000, 1250, 10
FILL = """
insert into relay.memory (space_id, kind, subject_id, subject, content, category, tags, importance, pinned, derivation)
select s.id, case when n %% 5 = 0 then 'learning' else 'fact' end, %s, 'Ada',
  'note ' || n || ' is ' || md5(n::text) || case when n %% 7 = 0 then repeat(' 🐝<b>&*_[x](y)', 200) else '' end,
  case n %% 10 when 0 then 'operational' when 5 then 'identity' end, array['tag' || n %% 10],
  1 + n %% 10, n %% 100 = 0, '{"by": "user"}'
from relay.space s, generate_series(1, %s) n where s.kind = 'private' and s.owner_id = %s order by n
"""


@pytest.fixture(scope="module")
def bot(module_relay: SharedRelay) -> SharedBot:
    return SharedBot(module_relay.tg, module_relay.model, module_relay.relay, module_relay.data)


async def soon(doing: Awaitable[T]) -> T:
    """Awaits a result for at most ten seconds."""
    async with asyncio.timeout(SECONDS):
        return await doing


def fits(bot: SharedBot, message: StoredMessage) -> None:
    """Asserts that a message and its buttons are within Telegram's limits, and that no edit was refused."""
    assert 0 < utf16_length(message.text) <= 4096
    assert all(0 < len(data.encode()) <= 64 for data in message.buttons.values()), message.buttons
    assert len(message.buttons) <= 100
    refused = [one for one in bot.tg.log if one.method in ("sendMessage", "editMessageText") and not one.ok]
    assert not refused, refused


@pytest.mark.slow("test_facts_sql.py and test_memory_list.py")
async def test_the_memory_list_is_fast_with_ten_thousand_facts(shared_relay: SharedRelay, bot: SharedBot) -> None:
    olga = bot.tg.user(OWNER)
    dm = bot.tg.dm(olga)
    await bot.ask(dm, olga, "/remember I am the first of them")
    shared_relay.sql(FILL, OWNER, MANY - 1, OWNER)
    shared_relay.sql("analyze relay.memory")

    async def tap(message: StoredMessage, label: str, seen: str) -> str:
        toast = await soon(bot.press(dm, olga, message, label))
        await soon(bot.tg.wait_for(lambda: seen in message.text))
        fits(bot, message)
        return toast

    async def ask(text: str) -> StoredMessage:
        message = await soon(bot.ask(dm, olga, text))
        fits(bot, message)
        return message

    said = await ask("/memory")
    assert re.match(r"What I know \(10,?000, page 1 of 1,?250\)", said.text), said.text[:80]
    await tap(said, "›", "page 2 of")
    await tap(said, "»", f"page {PAGES} of {PAGES}")
    assert "I am the first of them" in said.text
    assert "›" not in said.buttons
    await tap(said, "‹", f"page {PAGES - 1} of")
    await tap(said, "»", f"page {PAGES} of")
    number = re.search(r"(#\d+) [^#]*I am the first of them", said.text)
    assert number, said.text
    await tap(said, number[1], "Fact #")
    await tap(said, "Source", "Where #")
    await tap(said, "Back", "Fact #")
    assert "Forgot" in await tap(said, "🗑 Forget", "Forgotten; I no longer use it")
    assert await tap(said, "Undo forgetting", "Undone.") == "Undone."
    assert "Forgotten; I no longer use it" not in said.text
    await tap(said, "Back", f"page {PAGES} of")
    for label in ("Facts", "Learnings", "Operational", "Pinned", "All"):
        await tap(said, label, "What I know")
    found = await ask("/memory note 4321 is")
    assert "note 4321 is" in found.text
    long = await ask("/memory 🐝 note 7777")
    assert "note 7777 is" in long.text
    opened = re.search(r"(#\d+) [^#]*note 7777 is", long.text)
    assert opened, long.text
    await tap(long, opened[1], "note 7777 is")
    assert "Forgot" in await tap(long, "🗑 Forget", "Forgotten; I no longer use it")
    assert "Nothing here matches that" in (await ask("/memory submarine")).text
    assert "What I know" in (await ask("/memory note")).text
    assert "Changes" in (await ask("/memory changes")).text
    assert "Forgot: note 42 is" in (await ask("/forget note 42 is a1d0c6e83f027327d8461063f4ac58a6")).text
    # A turn's prompt has room for only some of them, and the turn is answered.
    assert "q77" in (await soon(bot.ask(dm, olga, "q77 what do you know?"))).text
    assert "9,998 memories" in (await ask("/status")).text
