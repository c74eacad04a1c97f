"""Delivery of answers: stopped, refused, or to a group that has become another chat."""

from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_relay import GUESTS, SharedRelay

pytestmark = pytest.mark.asyncio(loop_scope="module")

LONG = "\n\n".join(f"line {number} {'of a long answer ' * 5}." for number in range(200))


async def test_stop_ends_the_sending_of_a_long_answer(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    shared_relay.model.rule("long", LONG)
    throttled = shared_relay.tg.fault("sendMessage", "429", chat_id=chat.id, after=2, retry_after=60)
    await shared_relay.asked(chat, "long")
    await shared_relay.struck(throttled)
    await asyncio.sleep(0.2)
    await shared_relay.tg.say(chat, None, "/stop")
    await shared_relay.until_said(chat, "Stopped.", timeout=10)
    said = shared_relay.replies(chat)
    assert [message.text for message in said[2:]] == ["Stopped."]
    assert said[-1].silent
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    assert len(shared_relay.replies(chat)) == 4
    await asyncio.sleep(0.5)
    await shared_relay.tg.say(chat, None, "/stop")
    await shared_relay.until_said(chat, "not writing anything")


async def test_if_telegram_refuses_an_answer_the_person_and_the_owner_are_told(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    shared_relay.tg.fault("sendMessage", "error", times=2, chat_id=chat.id, description="Bad Request: no such luck")
    await shared_relay.asked(chat)
    await shared_relay.until_said(chat, "Telegram refused some or all of my answer")
    await shared_relay.tg.wait_for(lambda: "o such luck" in "\n".join(shared_relay.said(OWNER)))
    await shared_relay.answered(chat, await shared_relay.asked(chat))


async def test_answers_are_sent_after_telegram_temporarily_refused_the_token(shared_relay: SharedRelay) -> None:
    """Relay pauses for half a minute. A restart ends the pause."""
    chats = [shared_relay.guest() for _ in range(3)]
    kinds = [("unauthorized401", {}), ("error", {"error_code": 404, "description": "Not Found"}), ("conflict409", {})]
    words = []
    for chat, (kind, details) in zip(chats, kinds, strict=True):
        fault = shared_relay.tg.fault("sendMessage", kind, chat_id=chat.id, **details)
        words.append(await shared_relay.asked(chat))
        await shared_relay.struck(fault)
    await shared_relay.crash()
    for chat, word in zip(chats, words, strict=True):
        await shared_relay.answered(chat, word)
        assert shared_relay.times(chat, word) == 1


async def test_answers_arrive_once_from_a_server_without_edit_methods(shared_relay: SharedRelay) -> None:
    chat, room = shared_relay.guest(), shared_relay.room()
    for method in ("editMessageText", "editMessageReplyMarkup"):
        shared_relay.tg.fault(method, "error", times=-1, error_code=404, description="Not Found")
    shared_relay.tg.fault("sendMessage", "500", chat_id=chat.id)
    word, slow = await shared_relay.asked(chat), shared_relay.word()
    shared_relay.model.rule(slow, f"begun {'and on ' * 12} {slow}")
    await shared_relay.tg.say(room, None, slow)
    await shared_relay.answered(chat, word)
    await shared_relay.answered(room, slow)
    assert (shared_relay.times(chat, word), shared_relay.times(room, slow)) == (1, 1)


async def test_an_answer_to_a_deleted_topic_goes_to_the_private_chat_only(shared_relay: SharedRelay) -> None:
    """In a private chat the answer goes to the chat itself. In a group it goes nowhere else."""
    chat, forum = shared_relay.guest(), shared_relay.room(forum=True)
    words = []
    for place in (chat, forum):
        person = next(user for user in (place.user and place.user.id, *place.members) if user in GUESTS)
        topic = shared_relay.tg.topic(place, "Gone", person)
        word = shared_relay.word()
        words.append(word)
        shared_relay.model.rule(word, lambda request, place=place, topic=topic, word=word: (
            setattr(place.topics[topic], "deleted", True), f"Answer: {word}")[1])  # fmt: skip
        await shared_relay.tg.say(place, person, word, topic=topic)
    await shared_relay.answered(chat, words[0])
    await shared_relay.until("select count(*) from relay.outbox where chat_id = %s and status = 'failed'", forum.id)
    assert shared_relay.times(forum, words[1]) == 0


async def test_a_person_hears_in_private_that_a_closed_topic_takes_no_answer(shared_relay: SharedRelay) -> None:
    tg, chat = shared_relay.tg, shared_relay.guest()
    forum = tg.group(-1000000000000 - chat.id, "Room *one*", [tg.user(chat.id)], forum=True)
    topic, word = tg.topic(forum, "Plans", chat.id), shared_relay.word()
    shared_relay.model.rule(word, lambda request: (setattr(forum.topics[topic], "closed", True), "A secret.")[1])
    await tg.say(forum, chat.id, word, topic=topic)
    await shared_relay.until_said(chat, "my answer to you in “Room *one*”, because its topic is closed or deleted")
    assert "secret" not in "".join(shared_relay.said(chat))
    await tg.wait_for(lambda: "opic_closed" in "".join(shared_relay.said(OWNER)))
    assert shared_relay.said(forum) == []


async def test_a_group_keeps_its_memory_when_it_becomes_a_supergroup(shared_relay: SharedRelay) -> None:
    """Once between two questions and once during an answer, with Telegram's two messages in either order."""
    for number, swapped in enumerate((False, True)):
        person = next(shared_relay.people)
        friend = shared_relay.tg.user(999_000 + number, "Other")
        small = shared_relay.tg.group(
            -4000 - number, "Small", [shared_relay.tg.user(person, "Guest"), friend], type="group"
        )
        mention = f"@{shared_relay.tg.bot.username}"
        shared_relay.model.rule("tea", "I see. [LEARN: likes tea]")
        await shared_relay.tg.say(small, person, f"{mention} tea please")
        await shared_relay.until_said(small, "Learned: likes tea")
        new_id = -1000000900000 - number
        word = shared_relay.word()

        def moving(
            request: object, small: object = small, new_id: int = new_id, word: str = word, swapped: bool = swapped
        ) -> str:
            shared_relay.tg.migrate(small, new_id)
            if swapped:
                first, second = list(shared_relay.tg.queue.pending)[-2:]
                pending = shared_relay.tg.queue.pending
                pending[first], pending[second] = (
                    {**pending[second], "update_id": first},
                    {**pending[first], "update_id": second},
                )
            return f"Answer: {word}"

        shared_relay.model.rule(word, moving)
        await shared_relay.tg.say(small, person, f"{mention} {word}")
        await shared_relay.tg.wait_for(lambda new_id=new_id: new_id in shared_relay.tg.chats)
        await shared_relay.answered(shared_relay.tg.chat(new_id), word)
        asked = shared_relay.word()
        await shared_relay.tg.say(new_id, person, f"{mention} {asked}")
        await shared_relay.answered(shared_relay.tg.chat(new_id), asked)
        request = next(one for one in reversed(shared_relay.model.requests) if asked in one.last_text)
        assert "likes tea" in request.system_text
        assert word in str(request.messages[:-1])
        assert shared_relay.sql("select count(*) from relay.thread where chat_id = %s", small.id) == [(0,)]
        assert shared_relay.exchanges(new_id) == 3


async def test_an_old_button_of_a_group_that_became_a_supergroup_says_that_it_is_too_old(
    shared_relay: SharedRelay,
) -> None:
    tg, person = shared_relay.tg, next(shared_relay.people)
    small = tg.group(-4100, "Small", [tg.user(person, "Guest"), tg.user(999_100, "Other")], type="group")
    mention = f"@{tg.bot.username}"
    shared_relay.model.rule("tea", "I see. [LEARN: likes tea]")
    learned = await tg.wait_reply(small, await tg.say(small, person, f"{mention} tea please"))
    await tg.wait_for(lambda: learned.buttons)
    reminder = await tg.wait_reply(small, await tg.say(small, person, "/remind 2031-01-01 9:00 bins"))
    tg.migrate(small, -1000000910000)
    await shared_relay.until("select count(*) = 1 from relay.reminder where chat_id = -1000000910000")
    word = shared_relay.word()
    await tg.say(-1000000910000, person, f"{mention} {word}")
    await shared_relay.answered(tg.chat(-1000000910000), word)
    for message, label in ((learned, "Undo"), (reminder, "Undo")):
        assert await tg.tap(small, person, message, label) == "This button no longer works."
    assert shared_relay.sql("select status from relay.reminder where chat_id = -1000000910000") == [("active",)]
    assert shared_relay.sql("select count(*) from relay.lane where chat_id = -4100") == [(0,)]
