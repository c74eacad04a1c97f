"""Recordings: voice notes, audio files, video notes and the sound of videos, as what is said in them."""

from __future__ import annotations

from dataclasses import asdict

from relay.errors import MediaRefused
from relay.media.cache import Cache
from relay.media.files import Files
from relay.media.reading import NAMES, Read
from relay.models import Attachment, Block, Heard
from relay.ports import Ears

OWN = ("voice", "video_note")
"""What people record in the chat: their own words. What another recording says may be anybody's."""
REMEMBERED = 500_000
"""Characters of what was heard lately, so that a turn which begins anew need not listen again."""
DEAF = (
    "Voice notes are not switched on here: pip install 'relay[voice-lite]' where Relay runs, then a restart, does it."
)


class Sounds:
    """Listens to recordings."""

    def __init__(self, files: Files, ears: Ears | None, minutes: int) -> None:
        """`ears`: None where nothing is installed that hears. `minutes`: how much of a recording they listen to."""
        self._files = files
        self._ears = ears
        self._minutes = minutes
        self._remembered: Cache[Heard] = Cache(REMEMBERED, lambda heard: max(1, len(heard.text)))

    async def read(self, attachment: Attachment) -> Read:
        """See `reading.Kind`."""
        heard = await self._heard(attachment)
        block: Block = {
            "type": "text",
            "text": heard.text,
            "file": asdict(attachment),
            "heard": {
                "language": heard.language,
                "engine": heard.engine,
                "seconds": heard.seconds or attachment.seconds,
            },
        }
        if attachment.kind not in OWN:
            block["untrusted"] = "recording"
        what = f"{NAMES[attachment.kind]} {attachment.name}".strip()
        notice = f"I listened to the first {self._minutes} minutes of your {what}." if heard.cut else ""
        return Read([block], heard.text, notice=notice)

    async def _heard(self, attachment: Attachment) -> Heard:
        """What is said in a recording. Raises `MediaRefused`."""
        if self._ears is None:
            raise MediaRefused(DEAF)
        if heard := self._remembered.get(attachment.unique_id):
            return heard
        async with self._files.held(attachment) as recording:
            heard = await self._ears.hear(recording)
        self._remembered.put(attachment.unique_id, heard)
        return heard
