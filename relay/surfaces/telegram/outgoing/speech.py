"""The sound of a voice note, made when its turn to be sent has come."""

from __future__ import annotations

import asyncio

from relay.commands.session.voice import OFF, SILENT
from relay.conversation.cancellation import wait_or_cancel
from relay.core import metrics
from relay.core.errors import VoiceUnavailable
from relay.core.models import Sound
from relay.core.ports import Messenger, TextToSpeech
from relay.memory.rows.delivery import Request
from relay.surfaces.telegram.outgoing import chat_action
from relay.surfaces.telegram.outgoing.insist import Stopped
from relay.surfaces.telegram.outgoing.requests import address_of


class Speech:
    """Says what a stored request holds."""

    def __init__(self, messenger: Messenger, voice: TextToSpeech | None) -> None:
        """`voice`: None: nothing can be said."""
        self._messenger = messenger
        self._voice = voice

    @metrics.time_stage("speak")
    async def of(self, request: Request, stop: asyncio.Event | None) -> Sound:
        """The sound of a request for a voice note. Raises `VoiceUnavailable`, and `Stopped` once `stop` is set."""
        if self._voice is None:
            raise VoiceUnavailable(OFF, SILENT)
        at = address_of(request)
        recording = asyncio.create_task(chat_action.shown(self._messenger, at, "record_voice"))
        try:
            say = request["say"]
            sound = await wait_or_cancel(stop or asyncio.Event(), self._voice.speak(say["text"], say["language"]))
        finally:
            recording.cancel()
        if sound is None:
            raise Stopped
        return sound
