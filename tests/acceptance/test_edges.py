"""Edge cases that were bugs once."""

from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.shared_relay import SharedRelay
from tests.standins.anthropic import Reply, text, tool

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_tool_call_cut_by_the_length_limit_does_not_break_the_thread(shared_relay: SharedRelay) -> None:
    chat, word = shared_relay.guest(), shared_relay.word()
    cut = [text(f"Answer: {word}"), tool("search_memory", {"query": "x"})]
    shared_relay.model.rule(word, Reply(cut, stop_reason="max_tokens"), times=1)
    await shared_relay.tg.say(chat, None, word)
    await shared_relay.answered(chat, word)
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    assert "⚠️" not in "".join(shared_relay.said(chat))


async def test_stop_sent_right_after_a_message_stops_its_answer(shared_relay: SharedRelay) -> None:
    chat, word = shared_relay.guest(), shared_relay.word()
    shared_relay.model.rule(word, Reply(f"Answer: {word}", first_delay=5))
    shared_relay.tg.stopped = True
    await shared_relay.tg.say(chat, None, word)
    await shared_relay.tg.say(chat, None, "/stop")
    shared_relay.tg.stopped = False
    await shared_relay.until_said(chat, "Stopped.")
    await asyncio.sleep(0.3)
    assert shared_relay.said(chat) == ["Stopped."]


async def test_a_failed_request_for_the_member_count_loses_no_message(shared_relay: SharedRelay) -> None:
    for kind in ("500", "429"):
        room = shared_relay.room()
        shared_relay.tg.fault("getChatMemberCount", kind, times=1, chat_id=room.id)
        await shared_relay.answered(room, await shared_relay.asked(room))


async def test_an_update_that_cannot_be_stored_blocks_nobody(shared_relay: SharedRelay) -> None:
    chat, other = shared_relay.guest(), shared_relay.guest()
    user = {"id": chat.id, "is_bot": False, "first_name": "Guest"}
    message = {"message_id": 990001, "date": float("inf"), "chat": {"id": chat.id, "type": "private"}, "from": user}
    shared_relay.tg.push({"message": message | {"text": "poison"}})
    await shared_relay.answered(other, await shared_relay.asked(other))
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    assert "database" not in "".join(shared_relay.said(chat) + shared_relay.said(other))


async def test_pasted_headings_and_lists_and_a_rich_post_replied_to_are_read(shared_relay: SharedRelay) -> None:
    """Telegram sends these as blocks, without any text."""
    tg, chat, (word, more) = shared_relay.tg, shared_relay.guest(), (shared_relay.word(), shared_relay.word())
    link = {"type": "url", "text": "the dose", "url": "https://example.org/dose"}
    heading = {"type": "heading", "size": 1, "text": [{"type": "bold", "text": "Magnesium"}, f" {word}"]}
    item = {"label": "1.", "blocks": [{"type": "paragraph", "text": ["Read ", link]}]}
    said = await tg.say(chat, None, rich_message={"blocks": [heading, {"type": "list", "items": [item]}]})
    await shared_relay.answered(chat, word)
    pasted = f"Magnesium {word}\n1. Read the dose (https://example.org/dose)"
    assert pasted in shared_relay.model.last.last_text
    tg.change(said, {"rich_message": {"blocks": [heading]}})
    tg.queue.add("edited_message", said.raw)
    await tg.wait_for(lambda: any("✎ Answer again" in one.buttons for one in shared_relay.replies(chat)))
    await tg.say(chat, None, f"shorter, please {more}", reply_to=said)
    await shared_relay.answered(chat, more)
    assert f"Magnesium {word}" in shared_relay.model.last.last_text


async def test_in_a_group_a_rich_message_that_mentions_the_bot_is_answered(shared_relay: SharedRelay) -> None:
    tg, room, (word, other) = shared_relay.tg, shared_relay.room(), (shared_relay.word(), shared_relay.word())
    tg.add_member(room, tg.user(77_301, "Sam"))
    mention = {"type": "mention", "text": f"@{tg.bot.username}", "username": tg.bot.username}
    for words in ([other], [mention, f" sum up {word}"]):
        await tg.say(room, None, rich_message={"blocks": [{"type": "paragraph", "text": words}]})
    await shared_relay.answered(room, word)
    assert shared_relay.times(room, other) == 0
