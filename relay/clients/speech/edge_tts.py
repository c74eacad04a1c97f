"""The `TextToSpeech` port through the library edge-tts: Microsoft Edge's Read Aloud. Unofficial, needs no key."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Coroutine
from typing import TYPE_CHECKING, Any

import structlog
from aiohttp import ClientError

from relay.clients.speech.language import language_of
from relay.core.errors import MUTE, VoiceUnavailable
from relay.core.models import Sound

if TYPE_CHECKING:
    from edge_tts import Communicate

log = structlog.get_logger()

WHOLE_SECONDS = 60.0
SILENT_SECONDS = 10.0
CONNECT_SECONDS = 10
MOST_BYTES = 4 * 2**20
"""The most bytes of sound. A text of usual length takes a quarter of this."""
BYTES_A_SECOND = 6_000
"""The bytes of a second of sound, which always has 48 kbit/s."""
VOICES = {
    "ar": "ar-EG-SalmaNeural", "bg": "bg-BG-KalinaNeural", "cs": "cs-CZ-VlastaNeural", "da": "da-DK-ChristelNeural",
    "de": "de-DE-SeraphinaMultilingualNeural", "el": "el-GR-AthinaNeural", "en": "en-US-EmmaMultilingualNeural",
    "es": "es-ES-ElviraNeural", "fa": "fa-IR-DilaraNeural", "fi": "fi-FI-NooraNeural",
    "fr": "fr-FR-VivienneMultilingualNeural", "he": "he-IL-HilaNeural", "hi": "hi-IN-SwaraNeural",
    "hu": "hu-HU-NoemiNeural", "id": "id-ID-GadisNeural", "it": "it-IT-ElsaNeural", "ja": "ja-JP-NanamiNeural",
    "ko": "ko-KR-SunHiNeural", "nb": "nb-NO-PernilleNeural", "nl": "nl-NL-ColetteNeural", "pl": "pl-PL-ZofiaNeural",
    "pt": "pt-BR-FranciscaNeural", "ro": "ro-RO-AlinaNeural", "ru": "ru-RU-SvetlanaNeural",
    "sk": "sk-SK-ViktoriaNeural", "sv": "sv-SE-SofieNeural", "th": "th-TH-PremwadeeNeural", "tr": "tr-TR-EmelNeural",
    "uk": "uk-UA-PolinaNeural", "vi": "vi-VN-HoaiMyNeural", "zh": "zh-CN-XiaoxiaoNeural",
}  # fmt: skip
"""The voice of each language; the multilingual English one reads all others."""
AWAY = "The speech service can't be reached, or refuses the connection."
SILENT = "The speech service stopped responding."
STRANGE = "The speech service returned no usable sound."
NO_VOICE = "edge-tts doesn't accept RELAY_TTS_VOICE, RELAY_TTS_RATE or RELAY_TTS_PITCH as set."


class EdgeTts:
    """Speaks through Microsoft's service, as MP3."""

    def __init__(self, voice: str = "", rate: str = "+0%", pitch: str = "+0Hz") -> None:
        """`voice`: a name such as en-GB-SoniaNeural; empty: one for the text's language."""
        self._voice = voice
        self._rate = rate
        self._pitch = pitch
        self._ending: set[asyncio.Task[bytes]] = set()

    async def speak(self, text: str, language: str = "") -> Sound:
        voice = self._voice or VOICES.get(language or language_of(text), VOICES["en"])
        talk = await asyncio.to_thread(self._talk, text, voice)
        try:
            content = await self._run_within(_collect(talk))
        except TimeoutError:
            raise VoiceUnavailable(SILENT) from None
        except (OSError, ClientError) as error:
            log.warning("edge-tts could not be reached", error=type(error).__name__)
            raise VoiceUnavailable(AWAY) from None
        except VoiceUnavailable:
            raise
        except Exception as error:  # the library's own errors, and whatever its parser raises for an unexpected answer
            log.warning("edge-tts failed", error=type(error).__name__)
            raise VoiceUnavailable(STRANGE) from None
        if not re.match(rb"ID3|\xff[\xe2-\xff]", content):  # an MP3 begins with a tag or a frame
            raise VoiceUnavailable(STRANGE)
        return Sound(content, "audio/mpeg", max(1, round(len(content) / BYTES_A_SECOND)))

    async def _run_within(self, work: Coroutine[Any, Any, bytes]) -> bytes:
        """Returns the result of some work. Raises `TimeoutError` without waiting for the work to disconnect."""
        task = asyncio.create_task(work)
        try:
            done, _ = await asyncio.wait({task}, timeout=WHOLE_SECONDS)
        finally:
            if not task.done():
                self._ending.add(task)
                task.add_done_callback(self._ending.discard)
                task.cancel()
        if not done:
            raise TimeoutError
        return task.result()

    def _talk(self, text: str, voice: str) -> Communicate:
        """Prepares the request. Imports the package here, because it reads certificates."""
        from edge_tts import Communicate

        try:
            return Communicate(
                text, voice, rate=self._rate, pitch=self._pitch, connect_timeout=CONNECT_SECONDS, receive_timeout=10
            )
        except ValueError:
            raise VoiceUnavailable(NO_VOICE, MUTE) from None


async def _collect(talk: Communicate) -> bytes:
    return b"".join([piece async for piece in _receive(talk)])


async def _receive(talk: Communicate) -> AsyncIterator[bytes]:
    """Yields the sound as it arrives. The library waits forever once connected; this stops after a silence."""
    received = 0
    async with contextlib.aclosing(talk.stream()) as stream:
        while True:
            async with asyncio.timeout(SILENT_SECONDS):
                piece = await anext(stream, None)
            if piece is None:
                return
            if piece["type"] != "audio":
                continue
            received += len(piece["data"])
            if received > MOST_BYTES:
                raise VoiceUnavailable(STRANGE)
            yield piece["data"]
