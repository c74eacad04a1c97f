"""The `TextToSpeech` port through Piper, which runs on this machine in a separate process."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from relay.core.errors import MUTE, MediaRefused, VoiceUnavailable
from relay.core.models import Sound
from relay.core.ports import FileExtractor
from relay.core.program import INSTALL

NOT_INSTALLED = f"Piper is not installed: `{INSTALL} piper-tts av` in Relay's folder installs it."
NO_FILE = "Piper has no voice: set RELAY_TTS_VOICE to the path of its .onnx file, with the .onnx.json beside it."
FAILED = "Piper could not say it."


class Piper:
    """Speaks with a local voice, as OGG/Opus."""

    def __init__(self, voice: str, extractor: FileExtractor) -> None:
        """`voice`: the path of its .onnx file."""
        self._voice = voice
        self._extractor = extractor

    async def speak(self, text: str, language: str = "") -> Sound:
        if wrong := trouble(self._voice):
            raise VoiceUnavailable(wrong, MUTE)
        try:
            told, (content,) = await self._extractor.open("speech", text.encode(), voice=self._voice)
        except MediaRefused as error:
            raise VoiceUnavailable(FAILED) from error
        return Sound(content, "audio/ogg", told["seconds"])


def trouble(voice: str) -> str:
    """Returns why Piper can't speak with a voice; empty if it can. Finds its packages without importing them."""
    if find_spec("piper") is None or find_spec("av") is None:
        return NOT_INSTALLED
    return "" if voice and Path(voice).is_file() and Path(f"{voice}.json").is_file() else NO_FILE
