"""The sound of a voice note, made when its turn to be sent has come."""

from __future__ import annotations

import asyncio
from typing import Any

from relay import metrics
from relay.bot import sign
from relay.bot.insist import Stopped
from relay.errors import VoiceUnavailable
from relay.models import Sound
from relay.ports import Messenger, Voice
from relay.stopping import unless
from relay.verbs.voice import OFF, SILENT

Json = dict[str, Any]


class Speech:
    """Says what a stored request holds."""

    def __init__(self, messenger: Messenger, voice: Voice | None) -> None:
        """`voice`: None: nothing can be said."""
        self._messenger = messenger
        self._voice = voice

    @metrics.timed("speak")
    async def of(self, request: Json, stop: asyncio.Event | None) -> Sound:
        """The sound of a request for a voice note. Raises `VoiceUnavailable`, and `Stopped` once `stop` is set."""
        if self._voice is None:
            raise VoiceUnavailable(OFF, SILENT)
        at: Json = {key: request[key] for key in ("chat_id", "message_thread_id") if key in request}
        recording = asyncio.create_task(sign.shown(self._messenger, at, "record_voice"))
        try:
            say = request["say"]
            sound = await unless(stop or asyncio.Event(), self._voice.speak(say["text"], say["language"]))
        finally:
            recording.cancel()
        if sound is None:
            raise Stopped
        return sound
