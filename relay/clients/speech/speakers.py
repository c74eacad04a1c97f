"""What of RELAY_TTS can speak, without importing it."""

from __future__ import annotations

import re

from relay.clients.speech.piper import trouble
from relay.core.settings import Settings

_NAMED = re.compile(r"(?:([A-Za-z]{2,3}-[\w-]+)\s*,\s*)?(.+\.onnx)")


def voices_of(settings: Settings) -> tuple[str, str]:
    """The voice of edge-tts and the path of Piper's, as RELAY_TTS_VOICE names one of them or both (with a comma
    between); empty: none."""
    given = settings.tts_voice.strip()
    if named := _NAMED.fullmatch(given):
        return named[1] or "", named[2]
    return ("", given) if settings.text_to_speech == "piper" else (given, "")


def speakers(settings: Settings) -> list[str]:
    """What says answers aloud, in the order in which it is tried: edge-tts, piper."""
    if settings.text_to_speech == "off":
        return []
    edge = ["edge-tts"] if settings.text_to_speech == "edge-tts" else []
    return edge if trouble(voices_of(settings)[1]) else [*edge, "piper"]
