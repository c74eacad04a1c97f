"""Finds which engines of RELAY_TTS can speak, without importing them."""

from __future__ import annotations

import re

from relay.clients.speech.piper import trouble
from relay.core.settings import Settings

_NAMED = re.compile(r"(?:([A-Za-z]{2,3}-[\w-]+)\s*,\s*)?(.+\.onnx)")


def voices_of(settings: Settings) -> tuple[str, str]:
    """Returns the voice of edge-tts and the path of Piper's from RELAY_TTS_VOICE (separated by a comma if both are
    given); empty: none."""
    given = settings.tts_voice.strip()
    if named := _NAMED.fullmatch(given):
        return named[1] or "", named[2]
    return ("", given) if settings.text_to_speech == "piper" else (given, "")


def speakers(settings: Settings) -> list[str]:
    """Returns the engines in the order in which they are tried: edge-tts, piper."""
    if settings.text_to_speech == "off":
        return []
    edge = ["edge-tts"] if settings.text_to_speech == "edge-tts" else []
    return edge if trouble(voices_of(settings)[1]) else [*edge, "piper"]
