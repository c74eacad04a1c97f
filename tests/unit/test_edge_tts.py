"""The unmodified edge-tts against a stand-in for its service: what it speaks, and that nothing hangs or grows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import edge_tts.communicate
import pytest

from relay.clients.speech import edge_tts as client
from relay.clients.speech.edge_tts import VOICES, EdgeTts
from relay.core.errors import VoiceUnavailable
from tests.standins.speech import MP3, SpeechStandIn


@pytest.fixture
async def speech(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SpeechStandIn]:
    async with SpeechStandIn() as standin:
        monkeypatch.setattr(edge_tts.communicate, "WSS_URL", standin.url)
        yield standin


async def test_a_text_is_spoken_with_the_voice_of_its_language(speech: SpeechStandIn) -> None:
    sound = await EdgeTts().speak("Tom & Jerry: 3 < 4.", "en")
    assert (sound.content, sound.mime, sound.seconds) == (MP3, "audio/mpeg", 2)
    (asked,) = speech.asked
    assert (asked.text, asked.voice) == ("Tom & Jerry: 3 < 4.", VOICES["en"])
    assert (asked.rate, asked.pitch) == ("+0%", "+0Hz")


async def test_the_voice_follows_the_language_or_the_setting(speech: SpeechStandIn) -> None:
    await EdgeTts().speak("Bonjour à tous, il fait très beau.", "fr")
    await EdgeTts().speak("Das ist wirklich nicht schwer.")
    await EdgeTts().speak("Xyzzy!", "xx")
    await EdgeTts("en-GB-SoniaNeural", "+20%", "-5Hz").speak("Das ist wirklich nicht schwer.", "de")
    assert [asked.voice for asked in speech.asked] == [VOICES["fr"], VOICES["de"], VOICES["en"], "en-GB-SoniaNeural"]
    assert (speech.asked[-1].rate, speech.asked[-1].pitch) == ("+20%", "-5Hz")


async def test_a_text_longer_than_one_request_is_spoken_whole(speech: SpeechStandIn) -> None:
    sound = await EdgeTts().speak("これは長い文です。 " * 150, "ja")
    assert len(speech.asked) > 1
    assert len(sound.content) == len(MP3) * len(speech.asked)


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("hangs", "stopped responding"),
        ("stalls", "stopped responding"),
        ("closes", "no usable sound"),
        ("refuses", "can't be reached"),
        ("garbage", "no usable sound"),
        ("noise", "no usable sound"),
        ("endless", "no usable sound"),
    ],
)
async def test_a_failing_service_soon_gives_an_error_sentence(
    speech: SpeechStandIn, monkeypatch: pytest.MonkeyPatch, mode: str, sentence: str
) -> None:
    monkeypatch.setattr(client, "SILENT_SECONDS", 0.5)
    monkeypatch.setattr(client, "MOST_BYTES", 200_000)
    speech.mode = mode
    begun = time.monotonic()
    with pytest.raises(VoiceUnavailable, match=sentence):
        await EdgeTts().speak("Hello.", "en")
    assert time.monotonic() - begun < 30


async def test_an_endlessly_slow_answer_is_given_up(speech: SpeechStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "WHOLE_SECONDS", 0.5)
    speech.mode = "slow"
    begun = time.monotonic()
    with pytest.raises(VoiceUnavailable, match="stopped responding"):
        await EdgeTts().speak("Hello.", "en")
    assert time.monotonic() - begun < 5


async def test_cancelling_does_not_wait_for_a_service_that_hangs(speech: SpeechStandIn) -> None:
    speech.mode = "hangs"
    task = asyncio.create_task(EdgeTts().speak("Hello.", "en"))
    await asyncio.wait_for(speech.heard.wait(), 10)
    begun = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - begun < 8


async def test_an_unreachable_service_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_tts.communicate, "WSS_URL", "ws://127.0.0.1:9/nothing?x=1")
    with pytest.raises(VoiceUnavailable, match="can't be reached"):
        await EdgeTts().speak("Hello.", "en")


async def test_an_invalid_voice_setting_is_named() -> None:
    with pytest.raises(VoiceUnavailable, match="RELAY_TTS_VOICE"):
        await EdgeTts("Sonia").speak("Hello.", "en")
