"""Answers on their last mile: stopped, refused, or to a group that has become another chat."""

from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.harness import OWNER
from tests.acceptance.house import GUESTS, House

pytestmark = pytest.mark.asyncio(loop_scope="module")

LONG = "\n\n".join(f"line {number} {'of a long answer ' * 5}." for number in range(200))


async def test_stop_while_a_long_answer_is_being_sent(house: House) -> None:
    chat = house.guest()
    house.model.rule("long", LONG)
    throttled = house.tg.fault("sendMessage", "429", chat_id=chat.id, after=2, retry_after=60)
    await house.asked(chat, "long")
    await house.struck(throttled)
    await asyncio.sleep(0.2)
    await house.tg.say(chat, None, "/stop")
    await house.until_said(chat, "Stopped.", timeout=10)
    said = house.replies(chat)
    assert [message.text for message in said[2:]] == ["Stopped."]
    assert said[-1].silent
    await house.answered(chat, await house.asked(chat))
    assert len(house.replies(chat)) == 4
    await asyncio.sleep(0.5)
    await house.tg.say(chat, None, "/stop")
    await house.until_said(chat, "not writing anything")


async def test_an_answer_that_is_refused_for_good_is_no_silence(house: House) -> None:
    chat = house.guest()
    house.tg.fault("sendMessage", "error", times=2, chat_id=chat.id, description="Bad Request: no such luck")
    await house.asked(chat)
    await house.until_said(chat, "Telegram refused some or all of my answer")
    await house.tg.wait_for(lambda: "o such luck" in "\n".join(house.said(OWNER)))
    await house.answered(chat, await house.asked(chat))


async def test_a_token_that_is_refused_for_a_while(house: House) -> None:
    """Half a minute's pause, which a restart cuts short."""
    chats = [house.guest() for _ in range(3)]
    kinds = [("unauthorized401", {}), ("error", {"error_code": 404, "description": "Not Found"}), ("conflict409", {})]
    words = []
    for chat, (kind, details) in zip(chats, kinds, strict=True):
        fault = house.tg.fault("sendMessage", kind, chat_id=chat.id, **details)
        words.append(await house.asked(chat))
        await house.struck(fault)
    await house.crash()
    for chat, word in zip(chats, words, strict=True):
        await house.answered(chat, word)
        assert house.times(chat, word) == 1


async def test_a_server_that_does_not_know_how_to_edit(house: House) -> None:
    chat, room = house.guest(), house.room()
    for method in ("editMessageText", "editMessageReplyMarkup"):
        house.tg.fault(method, "error", times=-1, error_code=404, description="Not Found")
    house.tg.fault("sendMessage", "500", chat_id=chat.id)
    word, slow = await house.asked(chat), house.word()
    house.model.rule(slow, f"begun {'and on ' * 12} {slow}")
    await house.tg.say(room, None, slow)
    await house.answered(chat, word)
    await house.answered(room, slow)
    assert (house.times(chat, word), house.times(room, slow)) == (1, 1)


async def test_a_topic_that_is_deleted_meanwhile(house: House) -> None:
    """A private chat's words go to the chat itself, a group's to nowhere else."""
    chat, forum = house.guest(), house.room(forum=True)
    words = []
    for place in (chat, forum):
        person = next(user for user in (place.user and place.user.id, *place.members) if user in GUESTS)
        topic = house.tg.topic(place, "Gone", person)
        word = house.word()
        words.append(word)
        house.model.rule(word, lambda request, place=place, topic=topic, word=word: (
            setattr(place.topics[topic], "deleted", True), f"Answer: {word}")[1])  # fmt: skip
        await house.tg.say(place, person, word, topic=topic)
    await house.answered(chat, words[0])
    await house.until("select count(*) from relay.outbox where chat_id = %s and status = 'failed'", forum.id)
    assert house.times(forum, words[1]) == 0


async def test_a_group_that_becomes_a_supergroup_keeps_its_memory(house: House) -> None:
    """Once between two questions, once while an answer is on its way; Telegram's two messages in either order."""
    for number, swapped in enumerate((False, True)):
        person = next(house._people)
        friend = house.tg.user(999_000 + number, "Other")
        small = house.tg.group(-4000 - number, "Small", [house.tg.user(person, "Guest"), friend], type="group")
        mention = f"@{house.tg.bot.username}"
        house.model.rule("tea", "I see. [LEARN: likes tea]")
        await house.tg.say(small, person, f"{mention} tea please")
        await house.until_said(small, "Learned: likes tea")
        new_id = -1000000900000 - number
        word = house.word()

        def moving(
            request: object, small: object = small, new_id: int = new_id, word: str = word, swapped: bool = swapped
        ) -> str:
            house.tg.migrate(small, new_id)
            if swapped:
                first, second = list(house.tg.queue.pending)[-2:]
                pending = house.tg.queue.pending
                pending[first], pending[second] = (
                    {**pending[second], "update_id": first},
                    {**pending[first], "update_id": second},
                )
            return f"Answer: {word}"

        house.model.rule(word, moving)
        await house.tg.say(small, person, f"{mention} {word}")
        await house.tg.wait_for(lambda new_id=new_id: new_id in house.tg.chats)
        await house.answered(house.tg.chat(new_id), word)
        asked = house.word()
        await house.tg.say(new_id, person, f"{mention} {asked}")
        await house.answered(house.tg.chat(new_id), asked)
        request = next(one for one in reversed(house.model.requests) if asked in one.last_text)
        assert "likes tea" in request.system_text
        assert word in str(request.messages[:-1])
        assert house.sql("select count(*) from relay.thread where chat_id = %s", small.id) == [(0,)]
        assert house.exchanges(new_id) == 3
