"""An erasure that was confirmed leaves nothing, even if the process dies during it or Telegram fails."""

from __future__ import annotations

import pytest

from tests.acceptance.shared_relay import SharedRelay
from tests.standins.telegram import Chat, StoredMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORD = "vermeerfax"


def holding(shared_relay: SharedRelay) -> list[str]:
    """Returns the tables that hold the word."""
    tables = shared_relay.sql(
        "select relname from pg_class where relnamespace = 'relay'::regnamespace and relkind = 'r'"
    )
    query = "select exists (select from relay.\"{}\" t where t::text ilike '%{}%')"
    return [table for (table,) in tables if shared_relay.sql(query.format(table, WORD))[0][0]]


async def shown(shared_relay: SharedRelay, chat: Chat) -> StoredMessage:
    return await shared_relay.tg.wait_for(
        lambda: next((m for m in shared_relay.replies(chat) if m.text.startswith("🔥 Erase for good?")), None),
        timeout=30,
    )


async def about_to_erase(shared_relay: SharedRelay, chat: Chat) -> StoredMessage:
    """Says the word, asks to erase it, and returns the bot's question."""
    word = await shared_relay.asked(chat, f"the key is behind the {WORD}")
    await shared_relay.answered(chat, word)
    await shared_relay.tg.say(chat, None, f"/forget --erase {WORD}")
    return await shown(shared_relay, chat)


async def test_a_kill_during_an_erasure_leaves_nothing_behind(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    asked = await about_to_erase(shared_relay, chat)
    assert {"message", "event", "outbox", "erasure"} <= set(holding(shared_relay))
    with shared_relay.locked("message", "share"):
        shared_relay.tg.press(chat, None, asked, await shared_relay.tg.button(asked, "Erase"))
        await shared_relay.until("select count(*) > 0 from relay.erasure where status = 'working'", timeout=30)
        await shared_relay.relay.kill()
    await shared_relay.again()
    await shared_relay.polled()
    await shared_relay.until("select count(*) > 0 from relay.erasure where status = 'done'", timeout=60)
    await shared_relay.tg.wait_for(lambda: "Erased" in asked.text or "too long ago" in asked.text, timeout=60)
    await shared_relay.tg.wait_for(lambda: holding(shared_relay) == [], timeout=60)
    await shared_relay.tg.wait_for(lambda: not [text for text in shared_relay.said(chat) if WORD in text], timeout=60)


async def test_an_erasure_without_matches_does_not_keep_the_search_words(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    await shared_relay.tg.say(chat, None, f"/forget --erase {WORD}")
    await shared_relay.until_said(chat, "I found nothing to erase that matches")
    await shared_relay.tg.wait_for(lambda: holding(shared_relay) == [], timeout=20)


async def test_a_kill_while_chat_messages_are_deleted_leaves_nothing_behind(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    await shared_relay.tg.say(chat, None, f"/remember The {WORD} is blue")
    await shared_relay.until_said(chat, f"Learned: The {WORD} is blue")
    await shared_relay.tg.say(chat, None, f"/forget --erase {WORD}")
    asked = await shown(shared_relay, chat)
    away = shared_relay.tg.fault("deleteMessage", "500", times=-1, chat_id=chat.id)
    shared_relay.tg.press(chat, None, asked, await shared_relay.tg.button(asked, "Erase"))
    await shared_relay.struck(away)
    await shared_relay.relay.kill()
    assert not {"message", "outbox", "retraction", "memory"} & set(holding(shared_relay))
    shared_relay.tg.clear_faults()
    await shared_relay.again()
    await shared_relay.polled()
    await shared_relay.tg.wait_for(lambda: not [text for text in shared_relay.said(chat) if WORD in text], timeout=90)
    await shared_relay.until("select count(*) = 0 from relay.retraction", timeout=10)


async def test_a_kill_at_the_end_of_a_private_session_leaves_nothing_behind(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    await shared_relay.tg.say(chat, None, "/private")
    await shared_relay.until_said(chat, "Off the record.")
    for _ in range(2):
        word = await shared_relay.asked(chat, f"about the {WORD}")
        await shared_relay.answered(chat, word)
    assert set(holding(shared_relay)) >= {"message"}
    assert "event" not in holding(shared_relay)
    with shared_relay.locked("message", "share"):
        await shared_relay.tg.say(chat, None, "/private off")
        await shared_relay.relay.kill()
    await shared_relay.again()
    await shared_relay.until_said(chat, "I've erased the conversation off the record", timeout=60)
    await shared_relay.tg.wait_for(lambda: holding(shared_relay) == [], timeout=60)


async def test_erased_words_are_not_recorded_again_if_the_question_cannot_be_edited(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    asked = await about_to_erase(shared_relay, chat)
    refused = shared_relay.tg.fault("editMessageText", "500", times=-1, chat_id=chat.id)
    shared_relay.tg.press(chat, None, asked, await shared_relay.tg.button(asked, "Erase"))
    await shared_relay.struck(refused)
    await shared_relay.until("select count(*) = 0 from relay.turn where status in ('working', 'answered')", timeout=30)
    shared_relay.tg.clear_faults()
    await shared_relay.tg.wait_for(lambda: holding(shared_relay) == [], timeout=20)
