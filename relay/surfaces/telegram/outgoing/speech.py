"""Makes the sound of a voice note just before it is sent."""

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
    """Speaks the text of a stored request."""

    def __init__(self, messenger: Messenger, voice: TextToSpeech | None) -> None:
        """`voice`: None if no engine is installed."""
        self._messenger = messenger
        self._voice = voice

    @metrics.time_stage("speak")
    async def of(self, request: Request, stop: asyncio.Event | None) -> Sound:
        """Returns the sound of a voice note. Raises `VoiceUnavailable`, or `Stopped` once `stop` is set."""
        if self._voice is None:
            raise VoiceUnavailable(OFF, SILENT)
        at = address_of(request)
        recording = asyncio.create_task(chat_action.show_action(self._messenger, at, "record_voice"))
        try:
            say = request["say"]
            sound = await wait_or_cancel(stop or asyncio.Event(), self._voice.speak(say["text"], say["language"]))
        finally:
            recording.cancel()
        if sound is None:
            raise Stopped
        return sound
