"""The installed voices: their order, fallbacks, and the format of voice notes."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import structlog

from relay.clients.processes.file_extractor import FileExtractor as Process
from relay.clients.speech.edge_tts import EdgeTts
from relay.clients.speech.piper import Piper
from relay.clients.speech.speakers import speakers, voices_of
from relay.core.errors import MediaRefused, VoiceUnavailable
from relay.core.frozen import frozen
from relay.core.models import Sound
from relay.core.ports import FileExtractor, TextToSpeech
from relay.core.settings import Settings

log = structlog.get_logger()

PIPER_BYTES = 4 * 2**30
"""The most address space in bytes. The engine reserves many times what it uses."""
PIPER_SECONDS = 90


@frozen
class Voices:
    """The `TextToSpeech` port: uses the first of several engines that works."""

    voices: Sequence[TextToSpeech]
    extractor: FileExtractor

    async def speak(self, text: str, language: str = "") -> Sound:
        """See `ports.TextToSpeech.speak`. If all engines fail, raises the error of the first."""
        first: VoiceUnavailable | None = None
        for voice in self.voices:
            try:
                return await self._as_note(await voice.speak(text, language))
            except VoiceUnavailable as error:
                log.warning("a speech engine failed", voice=type(voice).__name__, error=str(error))
                first = first or error
        raise first or VoiceUnavailable()

    async def _as_note(self, sound: Sound) -> Sound:
        """Returns a sound as OGG/Opus, which Telegram shows with its waveform, if PyAV is installed."""
        if sound.mime == "audio/ogg" or find_spec("av") is None:
            return sound
        try:
            told, (content,) = await self.extractor.open("opus", sound.content)
        except MediaRefused as error:
            log.warning("sound not converted to Opus", error=str(error))
            return sound
        return Sound(content, "audio/ogg", told["seconds"])


def make_voices(settings: Settings, extractor: FileExtractor) -> TextToSpeech | None:
    """Returns what speaks answers; None: nothing can."""
    edge, path = voices_of(settings)
    made: dict[str, TextToSpeech] = {
        "edge-tts": EdgeTts(edge, settings.tts_rate, settings.tts_pitch),
        "piper": Piper(path, Process(PIPER_BYTES, PIPER_SECONDS)),
    }
    names = speakers(settings)
    return Voices([made[name] for name in names], extractor) if names else None
