"""What is spoken, photographed and written is one conversation: heard by real engines with Whisper's real weights."""

from __future__ import annotations

import io
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PIL import Image

from tests.acceptance.harness import OWNER
from tests.acceptance.house import House, open_house
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
    """Whisper base as an engine loads it."""
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
async def house(engine: str, speech: SpeechStandIn, tmp_path: Path) -> AsyncIterator[House]:
    """A bot that hears by an engine and speaks by edge-tts."""
    paths = [str(SITE), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    async with open_house(
        RELAY_STT=engine,
        RELAY_WHISPER_MODEL=str(weights_for(engine, tmp_path)),
        RELAY_TTS="edge-tts",
        SPEECH_STANDIN_URL=speech.url,
        PYTHONPATH=os.pathsep.join(path for path in paths if path),
    ) as house:
        yield house
        assert house.tracebacks() == []


def picture() -> Upload:
    made = io.BytesIO()
    Image.new("RGB", (320, 200), "brown").save(made, "JPEG")
    return Upload(made.getvalue(), "guitar.jpg", "image/jpeg")


def answers(request: Recorded) -> Reply:
    """Learns from the caption; answers what was heard only with what it knows."""
    if "this is Bertha" in request.last_text:
        return Reply(f"A fine guitar. [LEARN: {FACT}]")
    known, heard = FACT in request.system_text, "guitar" in request.last_text.lower()
    return Reply(ANSWER if known and heard else f"known: {known}, heard: {heard}")


def notes(house: House, chat: Chat, topic: int) -> list[StoredMessage]:
    """The voice notes that the bot sent."""
    return [message for message in house.replies(chat, topic) if "voice" in message.raw]


async def kept(house: House, chat: Chat, topic: int) -> None:
    """Somebody taps that the fact is to be kept."""
    for label in ("Keep or discard", f"Keep: {FACT}"):
        under, data = await house.tg.wait_for(
            lambda label=label: next(
                (
                    (message, data)
                    for message in house.replies(chat, topic)
                    for name, data in message.buttons.items()
                    if label in name
                ),
                None,
            ),
            60,
        )
        house.tg.press(chat, None, under, data)
    await house.until("select exists (select from relay.memory where status = 'active' and content = %s)", FACT)


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param("faster-whisper", marks=needs("faster-whisper")),
        pytest.param("openai-whisper", marks=needs("openai-whisper")),
    ],
)
async def test_a_spoken_question_is_answered_aloud_with_what_a_photos_caption_taught(
    house: House, speech: SpeechStandIn
) -> None:
    house.model.rule(None, answers)
    chat = house.tg.dm(house.tg.person(OWNER))
    photos, questions = house.tg.topic(chat, "Photos"), house.tg.topic(chat, "Questions")
    await house.tg.say(chat, None, "My guitar: this is Bertha.", topic=photos, photo=picture())
    await kept(house, chat, photos)
    await house.crash()
    await house.polled()

    note = Upload(spoken(QUESTION), "audio.oga", "audio/ogg", duration=3)
    await house.tg.say(chat, None, topic=questions, voice=note)
    await house.tg.wait_for(lambda: notes(house, chat, questions), 240)
    assert ANSWER in house.said(chat, questions)
    (aloud,) = notes(house, chat, questions)
    assert speech.asked[-1].text == ANSWER
    assert house.tg.files[aloud.raw["voice"]["file_id"]].upload.data[:4] in (b"OggS", b"\xff\xf3\x64\xc4")
    ((text, untrusted),) = house.sql(
        "select text, untrusted from relay.message where role = 'user' order by id desc limit 1"
    )
    assert "guitar" in text.lower()
    assert not untrusted, "one's own words, spoken, are one's own words"
    assert house.exchanges(chat) == 2
