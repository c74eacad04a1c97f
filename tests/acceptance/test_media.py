"""Voice notes, photos and text form one conversation. Real engines transcribe with Whisper's real weights."""

from __future__ import annotations

import io
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PIL import Image

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.speech import needs, spoken, whisper_base
from tests.standins.anthropic import Recorded, Reply
from tests.standins.speech import SITE, SpeechStandIn
from tests.standins.telegram import Chat, StoredMessage, Upload
from tests.weights import convert

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

FACT = "Ada's guitar is called Bertha"
QUESTION = "Tell me the name of my guitar, please."
ANSWER = "Your guitar is called Bertha."


def weights_for(engine: str, folder: Path) -> Path:
    """Returns Whisper base in the form that an engine loads."""
    base = whisper_base(folder)
    if engine == "faster-whisper":
        return base
    convert(base / "model.bin", folder / "base.pt")
    return folder / "base.pt"


@pytest.fixture
async def speech() -> AsyncIterator[SpeechStandIn]:
    async with SpeechStandIn() as speech:
        yield speech


@pytest.fixture
async def shared_relay(engine: str, speech: SpeechStandIn, tmp_path: Path) -> AsyncIterator[SharedRelay]:
    """A bot with a speech-to-text engine, and edge-tts for text to speech."""
    paths = [str(SITE), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    async with open_relay(
        RELAY_STT=engine,
        RELAY_WHISPER_MODEL=str(weights_for(engine, tmp_path)),
        RELAY_TTS="edge-tts",
        SPEECH_STANDIN_URL=speech.url,
        PYTHONPATH=os.pathsep.join(path for path in paths if path),
    ) as shared_relay:
        yield shared_relay
        assert shared_relay.tracebacks() == []


def picture() -> Upload:
    made = io.BytesIO()
    Image.new("RGB", (320, 200), "brown").save(made, "JPEG")
    return Upload(made.getvalue(), "guitar.jpg", "image/jpeg")


def answers(request: Recorded) -> Reply:
    """Learns from the caption, and answers the voice note only with what it knows."""
    if "this is Bertha" in request.last_text:
        return Reply(f"A fine guitar. [LEARN: {FACT}]")
    known, heard = FACT in request.system_text, "guitar" in request.last_text.lower()
    return Reply(ANSWER if known and heard else f"known: {known}, heard: {heard}")


def notes(shared_relay: SharedRelay, chat: Chat, topic: int) -> list[StoredMessage]:
    """Returns the voice notes that the bot sent."""
    return [message for message in shared_relay.replies(chat, topic) if "voice" in message.raw]


async def kept(shared_relay: SharedRelay, chat: Chat, topic: int) -> None:
    """Taps to keep the fact."""
    for label in ("Keep or discard", f"Keep: {FACT}"):
        under, data = await shared_relay.tg.wait_for(
            lambda label=label: next(
                (
                    (message, data)
                    for message in shared_relay.replies(chat, topic)
                    for name, data in message.buttons.items()
                    if label in name
                ),
                None,
            ),
            60,
        )
        shared_relay.tg.press(chat, None, under, data)
    await shared_relay.until("select exists (select from relay.memory where status = 'active' and content = %s)", FACT)


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param("faster-whisper", marks=needs("faster-whisper")),
        pytest.param("openai-whisper", marks=needs("openai-whisper")),
    ],
)
async def test_a_voice_question_about_a_photos_caption_gets_a_voice_answer(
    shared_relay: SharedRelay, speech: SpeechStandIn
) -> None:
    shared_relay.model.rule(None, answers)
    chat = shared_relay.tg.dm(shared_relay.tg.person(OWNER))
    photos, questions = shared_relay.tg.topic(chat, "Photos"), shared_relay.tg.topic(chat, "Questions")
    await shared_relay.tg.say(chat, None, "My guitar: this is Bertha.", topic=photos, photo=picture())
    await kept(shared_relay, chat, photos)
    await shared_relay.crash()
    await shared_relay.polled()

    note = Upload(spoken(QUESTION), "audio.oga", "audio/ogg", duration=3)
    await shared_relay.tg.say(chat, None, topic=questions, voice=note)
    await shared_relay.tg.wait_for(lambda: notes(shared_relay, chat, questions), 240)
    assert ANSWER in shared_relay.said(chat, questions)
    (aloud,) = notes(shared_relay, chat, questions)
    assert speech.asked[-1].text == ANSWER
    assert shared_relay.tg.files[aloud.raw["voice"]["file_id"]].upload.data[:4] in (b"OggS", b"\xff\xf3\x64\xc4")
    ((text, untrusted),) = shared_relay.sql(
        "select text, untrusted from relay.message where role = 'user' order by id desc limit 1"
    )
    assert "guitar" in text.lower()
    assert not untrusted, "a person's own voice note is trusted"
    assert shared_relay.exchanges(chat) == 2
