"""Microsoft's text-to-speech service, as edge-tts uses it."""

from tests.standins.speech.server import MP3, SITE, SpeechRequest, SpeechStandIn

__all__ = ["MP3", "SITE", "SpeechRequest", "SpeechStandIn"]
