"""Tests replies that correct a transcript: the corrected text is answered in place of the misheard one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.integration.conftest import Server
from tests.integration.speech import Listening, listening
from tests.integration.turn_driver import ADA, BEN
from tests.standins.telegram.values import StoredMessage, Upload


@pytest.fixture
async def room(embedded: Server) -> AsyncIterator[Listening]:
    async with listening(embedded) as opened:
        yield opened


async def correct(room: Listening, echo: StoredMessage, words: str, **more: Any) -> StoredMessage:
    said = await room.relay.tg.say(more.pop("chat", room.dm), more.pop("user", ADA), words, reply_to=echo, **more)
    await room.settled()
    return said


async def known(room: Listening) -> list[str]:
    rows = await room.relay.sql("select content from memory where status = 'active' order by id")
    return [content for (content,) in rows]


async def test_the_markers_in_a_correction_count(room: Listening) -> None:
    await room.speak("the boat is red")
    await room.settled()
    [echo, _] = room.mine()
    await correct(room, echo, "##keepit0.80##the boat is blue##/keepit##, not the car")
    marked = "select content, weight::float from keepit where removed_at is null"
    assert await room.relay.sql(marked) == [("the boat is blue", 0.8)]
    await correct(room, echo, "the boat is green")
    assert await room.relay.sql(marked) == []


async def test_a_correction_replaces_the_answer_and_its_memories(room: Listening) -> None:
    await room.speak("I live in Rome")
    await room.settled()
    assert await known(room) == ["Lives in Rome"]
    await correct(room, room.mine()[0], "I live in Riga")
    assert room.told() == [
        "🎤 I live in Riga",
        "You said: I live in Riga\n\n↩ Undone: Lives in Rome · 🧠 Learned: Lives in Riga",
    ]
    assert await known(room) == ["Lives in Riga"]
    assert "Rome" not in str((room.requests[-1].messages, room.requests[-1].system))
    ((text, blocks, untrusted),) = await room.relay.sql(
        "select text, blocks, untrusted from message where role = 'user'"
    )
    assert (text, blocks[0]["text"], untrusted) == ("I live in Riga", "I live in Riga", False)
    assert blocks[0]["heard"] == {"language": "en", "engine": "fake tiny", "seconds": 4.0, "corrected": True}
    assert await room.relay.sql("select text from message_version") == [("I live in Rome",)]
    # correct the corrected text again
    await correct(room, room.mine()[0], "I live in Oslo")
    assert room.told()[0] == "🎤 I live in Oslo"
    assert await known(room) == ["Lives in Oslo"]
    assert len(room.told()) == 2
    await room.relay.tg.say(room.dm, ADA, "and now?")
    await room.settled()
    history = str(room.requests[-1].messages)
    assert "Oslo" in history
    assert "Rome" not in history
    assert "Riga" not in history


async def test_only_the_corrected_part_of_several_changes(room: Listening) -> None:
    room.ears.open.clear()
    await room.speak("zero")
    await room.heard("zero")
    await room.speak("one")
    await room.relay.tg.say(room.dm, ADA, "typed")
    await room.speak("too")
    await room.relay.tg.wait_for(lambda: not room.relay.tg.pending_updates)
    room.ears.open.set()
    await room.settled()
    before = len(room.told())
    await correct(room, next(message for message in room.mine() if message.text == "🎤 too"), "two")
    assert room.told()[-1] == "You said: one | typed | two"
    assert "🎤 two" in room.told()
    assert "🎤 one" in room.told()
    assert len(room.told()) == before
    rows = await room.relay.sql("select text from message where role = 'user' order by id desc limit 1")
    assert rows == [("one\ntyped\ntwo",)]


async def test_a_corrected_forward_stays_attributed_to_its_sender(room: Listening) -> None:
    await room.speak("forward this", forward_from="Sam")
    await room.settled()
    await correct(room, room.mine()[0], "I live in Rome")
    assert await known(room) == [], "a forwarded text must not teach anything"
    ((blocks,),) = await room.relay.sql("select blocks from message where role = 'user'")
    assert (blocks[0]["untrusted"], blocks[0]["from"]) == ("forward", "Sam")


async def test_a_recording_that_was_replied_to_keeps_its_transcript(room: Listening) -> None:
    theirs = await room.speak("what was said first")
    await room.settled()
    await room.speak("a secnd thing", reply_to=theirs)
    await room.settled()
    echo = next(message for message in room.mine() if message.text == "🎤 a secnd thing")
    await correct(room, echo, "a second thing")
    ((text, blocks),) = await room.relay.sql(
        "select text, blocks from message where role = 'user' order by id desc limit 1"
    )
    assert text == "a second thing"
    assert [one["text"] for one in blocks] == ["what was said first", "a second thing"]
    assert "corrected" not in blocks[0]["heard"]


async def test_a_caption_stays_with_the_transcript(room: Listening) -> None:
    said = await room.speak("herd words", text="my caption")
    await room.settled()
    await correct(room, room.mine()[0], "heard words")
    assert await room.relay.sql("select text from message where role = 'user'") == [("heard words\nmy caption",)]
    room.relay.tg.edit(room.dm, said, "another caption")
    await room.settled()
    ((text, blocks),) = await room.relay.sql("select text, blocks from message where role = 'user'")
    assert text == "heard words\nanother caption"
    assert [one["text"] for one in blocks] == ["heard words", "another caption"]
    assert "heard" in blocks[0]
    answer = room.mine()[1]
    room.relay.tg.press(room.dm, ADA, answer, answer.buttons["✎ Answer again"])
    await room.settled()
    assert room.told()[0] == "🎤 heard words", "replacing an answer must not change the echo"
    assert "heard words" in room.told()[1]
    assert "another caption" in room.told()[1]
    assert len(room.told()) == 2
    assert room.ears.listened == ["herd words"]


async def test_a_correction_is_noted_but_not_answered_after_newer_messages(room: Listening) -> None:
    await room.speak("the frist thing")
    await room.settled()
    await room.relay.tg.say(room.dm, ADA, "something else")
    await room.settled()
    asked = len(room.requests)
    await correct(room, room.mine()[0], "the first thing")
    assert room.told()[0] == "🎤 the first thing"
    assert "The conversation has moved on" in room.told()[-1]
    assert len(room.requests) == asked
    await room.relay.tg.say(room.dm, ADA, "go on")
    await room.settled()
    assert "the first thing" in str(room.requests[-1].messages[0])


async def test_memories_from_a_misheard_recording_can_be_undone_later(room: Listening) -> None:
    await room.speak("I live in Rome")
    await room.settled()
    await room.relay.tg.say(room.dm, ADA, "something else")
    await room.settled()
    await correct(room, room.mine()[0], "I live in Riga")
    line = room.mine()[-1]
    assert "The conversation has moved on" in line.text
    assert line.text.endswith("🧠 Learned: Lives in Rome")
    assert await known(room) == ["Lives in Rome"], "nothing may be undone without being asked"
    room.relay.tg.press(room.dm, ADA, line, line.buttons["↩ Undo / Edit…"])
    await room.settled()
    room.relay.tg.press(room.dm, ADA, line, line.buttons["↩ Undo: Lives in Rome"])
    await room.settled()
    assert await known(room) == []
    await correct(room, room.mine()[0], "I live in Oslo")
    assert not room.mine()[-1].buttons, "the memory was already undone"


async def test_earlier_memories_are_not_shown_to_members_who_joined_later(room: Listening) -> None:
    tg = room.relay.tg
    kitchen = tg.group(-1002, "Kitchen", [ADA], bot_status="administrator")
    await room.speak("I live in Rome", kitchen)
    await room.settled()
    assert "Learned: Lives in Rome" in room.told(kitchen)[-1]
    await tg.say(kitchen, ADA, "something else")
    await room.settled()
    tg.add_member(kitchen, tg.user(BEN, "Ben"))
    await room.settled()
    before = len(room.told(kitchen))
    await correct(room, room.mine(kitchen)[0], "I live in Riga", chat=kitchen)
    assert "The conversation has moved on" in room.told(kitchen)[-1]
    assert "Rome" not in " ".join(room.told(kitchen)[before:])


async def test_only_the_speaker_can_correct_a_transcript_in_a_group(room: Listening) -> None:
    tg = room.relay.tg
    ben = tg.user(BEN, "Ben")
    group = tg.group(-1001, "Group", [ADA, ben])
    await tg.say(group, ADA, f"@{tg.bot.username} hello")
    await room.settled()
    await room.speak("helo all", group, reply_to=room.mine(group)[0])
    await room.settled()
    _, echo, answer = room.mine(group)
    await correct(room, echo, "hello you all", chat=group)
    assert (echo.text, "hello you all" in answer.text) == ("🎤 hello you all", True)
    assert len(room.told(group)) == 3
    await correct(room, echo, "no, she did not", chat=group, user=BEN)
    assert echo.text == "🎤 hello you all"
    assert "no, she did not" in room.told(group)[-1], "the reply must be treated as an ordinary message"
    assert len(room.told(group)) == 4


async def test_only_a_recorded_echo_is_treated_as_one(room: Listening) -> None:
    await room.relay.tg.say(room.dm, ADA, "🎤 one two")
    await room.settled()
    (answer,) = room.mine()
    room.relay.tg.change(answer, {"text": "🎤 as if heard"})
    await correct(room, answer, "I correct you")
    assert "I correct you" in room.told()[-1]
    assert len(room.told()) == 2
    await room.speak("quote me")
    await room.settled()
    echo = room.mine()[-2]
    await correct(room, echo, "what about this?", quote="quote")
    assert echo.text == "🎤 quote me"
    assert "what about this?" in room.told()[-1]


async def test_a_correction_survives_a_crash(room: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    await room.speak("I live in Rome")
    await room.settled()
    reached = asyncio.Event()

    async def endless(*_: Any) -> Any:
        reached.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patched:
        patched.setattr(room.relay.worker.engine.gate._model, "reply", endless)
        await room.relay.tg.say(room.dm, ADA, "I live in Riga", reply_to=room.mine()[0])
        async with asyncio.timeout(30):
            await reached.wait()
        await room.dies()
    async with room.follower():
        await room.settled()
    assert room.told()[0] == "🎤 I live in Riga"
    assert room.told()[1].startswith("You said: I live in Riga")
    assert await room.relay.sql("select count(*) from message_version") == [(1,)]
    assert await known(room) == ["Lives in Riga"]


async def test_a_stopped_recording_is_answered_when_it_is_corrected(
    room: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = asyncio.Event()

    async def endless(*_: Any) -> Any:
        reached.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patched:
        patched.setattr(room.relay.worker.engine.gate._model, "reply", endless)
        await room.speak("stop thsi")
        async with asyncio.timeout(30):
            await reached.wait()
        await room.relay.tg.say(room.dm, ADA, "/stop")
        await room.settled()
    await correct(room, room.mine()[0], "stop this")
    assert room.told()[0] == "🎤 stop this"
    assert room.told()[-1] == "You said: stop this"


async def test_an_edited_caption_keeps_the_transcript_of_a_file_among_several(room: Listening) -> None:
    tg = room.relay.tg
    room.ears.open.clear()
    await room.speak("zero")
    await room.heard("zero")
    await tg.say(room.dm, ADA, "first words")
    film = await tg.say(room.dm, ADA, "a captoin", video=Upload(b"in the film", "film.mp4", "video/mp4", 3))
    await tg.wait_for(lambda: not tg.pending_updates)
    room.ears.open.set()
    await room.settled()
    tg.edit(room.dm, film, "a caption")
    await room.settled()
    ((text, blocks, untrusted),) = await room.relay.sql(
        "select text, blocks, untrusted from message where role = 'user' order by id desc limit 1"
    )
    assert text == "first words\nin the film\na caption"
    assert [(one["text"], one.get("untrusted")) for one in blocks] == [
        ("first words", None),
        ("in the film", "recording"),
        ("a caption", "caption"),
    ]
    assert untrusted


async def test_a_correction_is_handled_separately_from_other_waiting_messages(room: Listening) -> None:
    await room.speak("the frist thing")
    await room.settled()
    room.ears.open.clear()
    await room.speak("a slow one")
    await room.heard("a slow one")
    await room.relay.tg.say(room.dm, ADA, "the first thing", reply_to=room.mine()[0])
    await room.relay.tg.say(room.dm, ADA, "and hello")
    await room.relay.tg.wait_for(lambda: not room.relay.tg.pending_updates)
    room.ears.open.set()
    await room.settled()
    assert room.told()[0] == "🎤 the first thing"
    assert room.told()[-1] == "You said: and hello"
    assert sum("The conversation has moved on" in text for text in room.told()) == 1


async def test_a_caption_edited_while_its_recording_is_transcribed_is_used(room: Listening) -> None:
    room.ears.open.clear()
    said = await room.speak("hear me", text="a captoin")
    await room.heard("hear me")
    room.relay.tg.edit(room.dm, said, "a caption")
    async with asyncio.timeout(30):
        while await room.relay.sql("select 1 from turn where kind = 'message' and lease_owner is not null"):
            await room.relay.sql("select pg_sleep(0.01)")
    room.ears.open.set()
    await room.settled()
    assert room.told()[0] == "🎤 hear me"
    assert "a caption" in room.told()[1]
    assert "hear me" in room.told()[1]
    assert len(room.told()) == 2
    assert room.ears.listened == ["hear me"]
