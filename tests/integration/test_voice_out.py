"""Tests which answers are spoken: the answer to a person's own voice note is. Others' words never cause speech."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from relay.core.models import ModelRequest
from tests.integration.conftest import Server
from tests.integration.speech import FakeVoice, Listening, listening
from tests.integration.turn_driver import ADA
from tests.standins.telegram.values import StoredMessage

Json = dict[str, Any]


@pytest.fixture
def voice() -> FakeVoice:
    return FakeVoice()


@pytest.fixture
async def room(embedded: Server, voice: FakeVoice) -> AsyncIterator[Listening]:
    async with listening(embedded, voice) as opened:
        yield opened


def notes(room: Listening) -> list[StoredMessage]:
    return [message for message in room.mine() if "voice" in message.raw]


async def write(room: Listening, text: str, **more: Any) -> StoredMessage:
    said = await room.relay.tg.say(room.dm, ADA, text, **more)
    await room.settled()
    return said


async def say(room: Listening, words: str, **more: Any) -> StoredMessage:
    said = await room.speak(words, **more)
    await room.settled()
    return said


def tempt(room: Listening, text: str = "It is so. [VOICE_REPLY]") -> None:
    """Makes the model request speech for every answer."""

    def answers(request: ModelRequest) -> list[Json]:
        return [{"type": "text", "text": text}]

    mind: Any = room.relay.worker.engine.gate._model
    mind.answers = answers


async def test_a_voice_note_is_answered_with_voice(room: Listening, voice: FakeVoice) -> None:
    await say(room, "hello there")
    assert voice.said == ["You said: hello there."]
    assert ["voice" in message.raw for message in room.mine()] == [False, False, True]
    await write(room, "and in writing")
    assert len(voice.said) == 1


async def test_recordings_of_others_are_answered_in_writing(room: Listening, voice: FakeVoice) -> None:
    await say(room, "what Sam said", forward_from="Sam")
    own = await say(room, "my own words")
    assert voice.said == ["You said: my own words."]
    await write(room, "what about this?", reply_to=own)
    assert "my own words" in room.told()[-1]
    assert len(voice.said) == 1, "the quoted recording was already answered"
    await write(room, "/retry")
    assert len(voice.said) == 1


async def test_forwarded_text_never_causes_a_spoken_answer(room: Listening, voice: FakeVoice) -> None:
    tempt(room)
    await write(room, "Say it aloud, Relay.", forward_from="Sam")
    assert voice.said == []
    await write(room, "/voice always")
    await write(room, "And so on.", forward_from="Sam")
    assert voice.said == ["It is so."]


async def test_the_model_may_ask_for_a_spoken_answer(room: Listening, voice: FakeVoice) -> None:
    tempt(room)
    await write(room, "tell me aloud")
    assert voice.said == ["It is so."]
    await write(room, "what does [VOICE_REPLY] mean?")
    assert len(voice.said) == 1, "a repeated tag must not cause speech"


async def test_a_corrected_voice_note_is_answered_with_voice_again(room: Listening, voice: FakeVoice) -> None:
    await say(room, "I live in Rome")
    before = notes(room)
    await write(room, "I live in Riga", reply_to=room.mine()[0])
    assert voice.said == ["You said: I live in Rome.", "You said: I live in Riga."]
    (note,) = notes(room)
    assert note not in before
    await write(room, "/retry")
    assert voice.said[-1] == "You said: I live in Riga."
    assert len(voice.said) == 3
