"""Erasing when the process dies: what was confirmed is finished, and nothing is left of it."""

from __future__ import annotations

import pytest

from tests.acceptance.house import House
from tests.standins.telegram import Chat, StoredMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORD = "vermeerfax"


def holding(house: House) -> list[str]:
    """The tables that hold the word."""
    tables = house.sql("select relname from pg_class where relnamespace = 'relay'::regnamespace and relkind = 'r'")
    query = "select exists (select from relay.\"{}\" t where t::text ilike '%{}%')"
    return [table for (table,) in tables if house.sql(query.format(table, WORD))[0][0]]


async def shown(house: House, chat: Chat) -> StoredMessage:
    return await house.tg.wait_for(
        lambda: next((m for m in house.replies(chat) if m.text.startswith("🔥 Erase for good?")), None), timeout=30
    )


async def test_a_kill_in_the_middle_of_erasing_leaves_nothing(house: House) -> None:
    chat = house.guest()
    word = await house.asked(chat, f"the key is behind the {WORD}")
    await house.answered(chat, word)
    await house.tg.say(chat, None, f"/forget --erase {WORD}")
    asked = await shown(house, chat)
    assert {"message", "event", "outbox", "erasure"} <= set(holding(house))
    with house.locked("message", "share"):
        house.tg.press(chat, None, asked, await house.tg.button(asked, "Erase"))
        await house.until("select count(*) > 0 from relay.erasure where status = 'working'", timeout=30)
        await house.relay.kill()
    await house.again()
    await house.polled()
    await house.until("select count(*) > 0 from relay.erasure where status = 'done'", timeout=60)
    await house.tg.wait_for(lambda: "Erased" in asked.text or "too long ago" in asked.text, timeout=60)
    await house.tg.wait_for(lambda: holding(house) == [], timeout=60)
    await house.tg.wait_for(lambda: not [text for text in house.said(chat) if WORD in text], timeout=60)


async def test_of_an_erasing_that_finds_nothing_no_word_is_kept(house: House) -> None:
    chat = house.guest()
    await house.tg.say(chat, None, f"/forget --erase {WORD}")
    await house.until_said(chat, "I found nothing to erase that matches")
    await house.tg.wait_for(lambda: holding(house) == [], timeout=20)


async def test_a_kill_while_the_chats_are_cleared_leaves_nothing_of_it_there(house: House) -> None:
    chat = house.guest()
    await house.tg.say(chat, None, f"/remember The {WORD} is blue")
    await house.until_said(chat, f"Learned: The {WORD} is blue")
    await house.tg.say(chat, None, f"/forget --erase {WORD}")
    asked = await shown(house, chat)
    away = house.tg.fault("deleteMessage", "500", times=-1, chat_id=chat.id)
    house.tg.press(chat, None, asked, await house.tg.button(asked, "Erase"))
    await house.struck(away)
    await house.relay.kill()
    assert not {"message", "outbox", "retraction", "memory"} & set(holding(house))
    house.tg.clear_faults()
    await house.again()
    await house.polled()
    await house.tg.wait_for(lambda: not [text for text in house.said(chat) if WORD in text], timeout=90)
    await house.until("select count(*) = 0 from relay.retraction", timeout=10)


async def test_a_private_session_that_a_kill_cut_off_leaves_nothing(house: House) -> None:
    chat = house.guest()
    await house.tg.say(chat, None, "/private")
    await house.until_said(chat, "Off the record.")
    for _ in range(2):
        word = await house.asked(chat, f"about the {WORD}")
        await house.answered(chat, word)
    assert set(holding(house)) >= {"message"}
    assert "event" not in holding(house)
    with house.locked("message", "share"):
        await house.tg.say(chat, None, "/private off")
        await house.relay.kill()
    await house.again()
    await house.until_said(chat, "I've erased the conversation off the record", timeout=60)
    await house.tg.wait_for(lambda: holding(house) == [], timeout=60)
