"""Microsoft's service that reads aloud, as edge-tts asks it."""

from tests.standins.speech.server import MP3, SITE, Asked, SpeechStandIn

__all__ = ["MP3", "SITE", "Asked", "SpeechStandIn"]
