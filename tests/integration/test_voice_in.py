"""Tests voice notes and other recordings: transcribed, shown before the answer, and answered as their words."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from relay.core.errors import DeliveryUncertain, MessengerRefused
from tests.integration.conftest import Server
from tests.integration.speech import Listening, listening
from tests.integration.turn_driver import ADA, BEN
from tests.standins.telegram.values import Upload

Json = dict[str, Any]


@pytest.fixture
async def room(embedded: Server) -> AsyncIterator[Listening]:
    async with listening(embedded) as opened:
        yield opened


async def blocks(room: Listening) -> list[Json]:
    """Returns the blocks of people's messages, in order."""
    rows = await room.relay.sql("select blocks from message where role = 'user' order by id")
    return [block for (own,) in rows for block in own]


async def test_a_voice_note_is_echoed_and_answered(room: Listening) -> None:
    calls: list[tuple[str, Any]] = []
    room.relay.wire.watch = lambda method, given: calls.append((method, given.get("action")))
    room.ears.open.clear()
    said = await room.speak("I live in Rome")
    await room.heard("I live in Rome")
    await room.relay.tg.wait_for(lambda: ("sendChatAction", "typing") in calls)
    assert room.told() == []
    room.ears.open.set()
    await room.settled()
    assert room.told() == ["🎤 I live in Rome", "You said: I live in Rome\n\n🧠 Learned: Lives in Rome"]
    echo, reply = room.mine()
    assert (echo.silent, reply.silent) == (True, False)
    assert echo.reply_to == said.message_id
    assert not echo.entities
    (block,) = await blocks(room)
    assert block["heard"] == {"language": "en", "engine": "fake tiny", "seconds": 4.0}
    assert block["file"]["file_id"] == said.raw["voice"]["file_id"]
    assert block["file"]["seconds"] == 4
    assert await room.relay.sql("select text, untrusted from message where role = 'user'") == [
        ("I live in Rome", False)
    ]


async def test_recordings_are_attributed_to_the_speaker_or_to_others(room: Listening) -> None:
    tg = room.relay.tg
    await tg.say(room.dm, ADA, video_note=Upload(b"my own face", "n.mp4", "video/mp4", 3))
    await room.settled()
    await tg.say(room.dm, ADA, audio=Upload(b"a song of theirs", "song.mp3", "audio/mpeg", 3))
    await room.settled()
    await tg.say(room.dm, ADA, "see this", video=Upload(b"a film of theirs", "film.mp4", "video/mp4", 3))
    await room.settled()
    await room.speak("what Sam said", forward_from="Sam")
    await room.settled()
    assert [(one["text"], one.get("untrusted"), one.get("from")) for one in await blocks(room)] == [
        ("my own face", None, None),
        ("a song of theirs", "recording", "song.mp3"),
        ("a film of theirs", "recording", "film.mp4"),
        ("see this", "caption", None),
        ("what Sam said", "forward", "Sam"),
    ]
    assert [text for text in room.told() if text.startswith("🎤")] == [
        "🎤 my own face",
        "🎤 a song of theirs",
        "🎤 a film of theirs",
        "🎤 what Sam said",
    ]


async def test_a_long_echo_is_collapsed_and_cut_at_one_message(room: Listening) -> None:
    await room.speak("word " * 100)
    await room.settled()
    (entity,) = room.mine()[0].entities
    assert (entity["type"], entity["offset"]) == ("expandable_blockquote", 0)
    await room.speak("🙂 and on " * 900)
    await room.settled()
    echo = next(message for message in room.mine() if message.text.startswith("🎤 🙂"))
    assert echo.text.endswith(" …")
    assert 4000 < len(echo.text.encode("utf-16-le")) // 2 <= 4096
    assert len(str((await blocks(room))[-1]["text"])) == len("🙂 and on " * 900), "the model must get the whole text"


@pytest.mark.parametrize(("which", "told"), [("off", 0), ("long", 1)])
async def test_the_setting_decides_which_recordings_are_echoed(room: Listening, which: str, told: int) -> None:
    room.relay.worker.runner.echoes._which = which
    await room.speak("a short one")
    await room.settled()
    room.ears.seconds = 31
    await room.speak("a long one")
    await room.settled()
    assert [text for text in room.told() if text.startswith("🎤")] == ["🎤 a long one"][:told]
    assert [text for text in room.told() if not text.startswith("🎤")] == [
        "You said: a short one",
        "You said: a long one",
    ]


async def test_a_silent_recording_is_reported_without_asking_the_model(room: Listening) -> None:
    await room.speak(" ")
    await room.settled()
    assert room.told() == ["⚠️ I couldn't use your voice note. I heard nobody speak in it."]
    assert room.requests == []


async def test_a_very_long_recording_is_said_to_be_transcribed_only_in_part(room: Listening) -> None:
    room.ears.cut = True
    await room.speak("the beginning")
    await room.settled()
    assert room.told()[1] == "You said: the beginning\n\nI listened to the first 20 minutes of your voice note."


async def test_each_of_several_recordings_in_one_input_is_echoed(room: Listening) -> None:
    room.ears.open.clear()
    await room.speak("zero")
    await room.heard("zero")
    first = await room.speak("one")
    await room.relay.tg.say(room.dm, ADA, "typed")
    second = await room.speak("two")
    await room.relay.tg.wait_for(lambda: not room.relay.tg.pending_updates)
    room.ears.open.set()
    await room.settled()
    echoes = {message.text: message.reply_to for message in room.mine() if message.text.startswith("🎤")}
    assert echoes["🎤 one"] == first.message_id
    assert echoes["🎤 two"] == second.message_id
    assert room.told()[-1] == "You said: one | typed | two"
    assert len(room.told()) == 5


async def test_in_a_group_the_echo_stands_before_the_growing_answer(room: Listening) -> None:
    tg = room.relay.tg
    group = tg.group(-1001, "Group", [ADA, tg.user(BEN, "Ben")])
    asked = await tg.say(group, ADA, f"@{tg.bot.username} hello")
    await room.settled()
    (answer,) = room.mine(group)
    assert answer.reply_to == asked.message_id
    said = await room.speak("and louder", group, reply_to=answer)
    await room.settled()
    assert [message.reply_to for message in room.mine(group)[1:]] == [said.message_id] * 2
    assert room.told(group)[1] == "🎤 and louder"
    assert "and louder" in room.told(group)[2]


@pytest.mark.parametrize("moment", ["before it is sent", "after it was sent", "while the model answers"])
async def test_a_crash_neither_loses_nor_repeats_an_echo(
    room: Listening, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire, reached, forever = room.relay.wire, asyncio.Event(), asyncio.Event()
    call = wire.call

    async def dying(method: str, **given: Any) -> Any:
        mine = method == "sendMessage" and str(given["text"]).startswith("🎤")
        if mine and moment == "before it is sent":
            reached.set()
            await forever.wait()
        result = await call(method, **given)
        if mine and moment == "after it was sent":
            reached.set()
            await forever.wait()
        return result

    async def endless(*_: Any) -> Any:
        reached.set()
        await forever.wait()

    with monkeypatch.context() as patched:
        patched.setattr(wire, "call", dying)
        if moment == "while the model answers":
            patched.setattr(room.relay.worker.engine.gate._model, "reply", endless)
        await room.speak("only once")
        async with asyncio.timeout(30):
            await reached.wait()
        await room.dies()
    async with room.follower():
        await room.settled()
    assert room.told() == ["🎤 only once", "You said: only once"]
    assert [list(message.buttons) for message in room.mine()] == [[], ["◆ Keep this"]]
    assert len(room.requests) == 1


async def test_an_undelivered_echo_does_not_prevent_the_answer(
    room: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire, call, lost = room.relay.wire, room.relay.wire.call, [True]

    async def failing(method: str, **given: Any) -> Any:
        mine = method == "sendMessage" and str(given["text"]).startswith("🎤")
        if mine and given["text"] == "🎤 refused":
            raise MessengerRefused("Bad Request: no")
        result = await call(method, **given)
        if mine and lost:
            lost.pop()
            raise DeliveryUncertain
        return result

    monkeypatch.setattr(wire, "call", failing)
    await room.speak("lost")
    await room.settled()
    await room.speak("refused")
    await room.settled()
    assert room.told() == ["🎤 lost", "You said: lost", "You said: refused"]


async def test_stop_ends_a_transcription_at_once(room: Listening) -> None:
    room.ears.open.clear()
    await room.speak("for hours")
    await room.heard("for hours")
    await room.relay.tg.say(room.dm, ADA, "/stop")
    await room.settled()
    assert "Stopped." in room.told()
    assert not any("hours" in text for text in room.told())
    room.ears.open.set()
    await room.speak("something else")
    await room.settled()
    assert room.told()[-1] == "You said: something else"


async def test_stop_ends_a_download_at_once(room: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = asyncio.Event()

    async def endless(file_id: str, most: int) -> bytes:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    with monkeypatch.context() as patched:
        patched.setattr(room.relay.wire, "fetch", endless, raising=False)
        await room.speak("never here")
        async with asyncio.timeout(30):
            await begun.wait()
        await room.relay.tg.say(room.dm, ADA, "/stop")
        await room.settled()
    assert "Stopped." in room.told()
    assert room.ears.listened == []


async def test_a_message_that_joins_a_turn_causes_no_second_transcription(
    room: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.surfaces.telegram.parsing.updates.COMMENT_SECONDS", 60)
    reply, asked, may = room.relay.worker.engine.gate._model.reply, asyncio.Event(), asyncio.Event()

    async def slow(*given: Any) -> Any:
        asked.set()
        await may.wait()
        return await reply(*given)

    monkeypatch.setattr(room.relay.worker.engine.gate._model, "reply", slow)
    await room.speak("is this true?")
    async with asyncio.timeout(30):
        await asked.wait()
    await room.relay.tg.say(room.dm, ADA, "The moon is cheese.", forward_from="Sam")
    await room.relay.tg.wait_for(lambda: not room.relay.tg.pending_updates)
    may.set()
    await room.settled()
    assert room.ears.listened == ["is this true?"]
    assert room.told()[0] == "🎤 is this true?"
    (answer,) = room.told()[1:]
    assert "is this true?" in answer
    assert "The moon is cheese." in answer
