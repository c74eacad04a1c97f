"""Text to speech."""

from __future__ import annotations

from relay.clients.speech.piper import trouble
from relay.clients.speech.speakers import voices_of
from relay.core.errors import VoiceUnavailable
from relay.core.settings import Settings
from relay.runtime.clients import open_clients
from relay.surfaces.cli.doctor.finding import Finding, ok, skipped, warning

NAMES = ("voice",)
NEEDS = ("RELAY_TTS", "RELAY_TTS_VOICE", "RELAY_TTS_RATE", "RELAY_TTS_PITCH")
SECONDS = 90.0
OFFLINE = "Until then, answers come as text. Piper works without the network (docs/media.md)."


async def voice(settings: Settings) -> list[Finding]:
    """Speaks one word with the configured engine."""
    if settings.text_to_speech == "off":
        return [skipped("voice", "off (RELAY_TTS)")]
    piper = settings.text_to_speech == "piper"
    async with open_clients(settings) as clients:
        if clients.text_to_speech is None:
            said, _, fix = trouble(voices_of(settings)[1]).partition(": ")
            return [warning("voice", said, fix)]
        try:
            await clients.text_to_speech.speak("Hello.", "en")
        except VoiceUnavailable as error:
            return [warning("voice", str(error), "" if piper else OFFLINE)]
    return [ok("voice", f"{settings.text_to_speech} speaks")]
