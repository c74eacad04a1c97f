"""Edges that a careful stranger found: each was wrong once."""

from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.house import House
from tests.standins.anthropic import Reply, text, tool

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_tool_call_that_the_length_limit_cut_does_not_break_the_thread(house: House) -> None:
    chat, word = house.guest(), house.word()
    cut = [text(f"Answer: {word}"), tool("search_memory", {"query": "x"})]
    house.model.rule(word, Reply(cut, stop_reason="max_tokens"), times=1)
    await house.tg.say(chat, None, word)
    await house.answered(chat, word)
    await house.answered(chat, await house.asked(chat))
    assert "⚠️" not in "".join(house.said(chat))


async def test_stop_right_behind_its_message_ends_the_answer(house: House) -> None:
    chat, word = house.guest(), house.word()
    house.model.rule(word, Reply(f"Answer: {word}", first_delay=5))
    house.tg.stopped = True
    await house.tg.say(chat, None, word)
    await house.tg.say(chat, None, "/stop")
    house.tg.stopped = False
    await house.until_said(chat, "Stopped.")
    await asyncio.sleep(0.3)
    assert house.said(chat) == ["Stopped."]


async def test_a_member_count_that_fails_for_a_moment_drops_no_message(house: House) -> None:
    for kind in ("500", "429"):
        room = house.room()
        house.tg.fault("getChatMemberCount", kind, times=1, chat_id=room.id)
        await house.answered(room, await house.asked(room))


async def test_an_update_that_cannot_be_stored_blocks_nobody(house: House) -> None:
    chat, other = house.guest(), house.guest()
    user = {"id": chat.id, "is_bot": False, "first_name": "Guest"}
    message = {"message_id": 990001, "date": float("inf"), "chat": {"id": chat.id, "type": "private"}, "from": user}
    house.tg.push({"message": message | {"text": "poison"}})
    await house.answered(other, await house.asked(other))
    await house.answered(chat, await house.asked(chat))
    assert "database" not in "".join(house.said(chat) + house.said(other))
