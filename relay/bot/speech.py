"""The sound of a voice note, made when its turn to be sent has come."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from relay import metrics
from relay.bot.insist import Stopped
from relay.errors import MessengerError, VoiceUnavailable
from relay.models import Sound
from relay.ports import Messenger, Voice
from relay.stopping import unless

Json = dict[str, Any]
SIGN_SECONDS = 4.5
"""How long the sign that somebody records is shown."""
OFF = "Speaking is switched off (RELAY_TTS)."


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
            raise VoiceUnavailable(OFF)
        sign = asyncio.create_task(self._sign(request))
        try:
            say = request["say"]
            sound = await unless(stop or asyncio.Event(), self._voice.speak(say["text"], say["language"]))
        finally:
            sign.cancel()
        if sound is None:
            raise Stopped
        return sound

    async def _sign(self, request: Json) -> None:
        """Shows that a voice note is being recorded, in the right topic, until cancelled."""
        at = {key: request[key] for key in ("chat_id", "message_thread_id") if key in request}
        while True:
            with contextlib.suppress(MessengerError):
                await self._messenger.call("sendChatAction", **at, action="record_voice")
            await asyncio.sleep(SIGN_SECONDS)
