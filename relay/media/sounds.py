"""Recordings (voice notes, audio files, video notes, videos), as transcripts."""

from __future__ import annotations

from dataclasses import asdict

from relay.clients.speech.installed import DEAF, NOT_HEARD
from relay.core.errors import MediaRefused
from relay.core.models import Attachment, Block, Transcript
from relay.core.ports import SpeechToText
from relay.media.cache import Cache
from relay.media.files import Files
from relay.media.reading import NAMES, SPOKEN, FileContents, Kind
from relay.media.speech.decoding import WORDLESS

FILMS = ("video", "video_note", "document")
"""Kinds of files that may show more than they say."""
REMEMBERED = 500_000
"""How many characters of recent transcripts are cached, so that a restarted turn need not transcribe again."""


class Sounds:
    """Transcribes recordings."""

    def __init__(self, files: Files, pictures: Kind, speech_to_text: SpeechToText | None, minutes: int) -> None:
        """`pictures`: reads the preview of a video without speech. `speech_to_text` None: no engine is installed.
        `minutes`: how much of a recording is transcribed."""
        self._files = files
        self._pictures = pictures
        self._speech_to_text = speech_to_text
        self._minutes = minutes
        self._remembered: Cache[Transcript] = Cache(REMEMBERED, lambda heard: max(1, len(heard.text)))

    async def read(self, attachment: Attachment) -> FileContents:
        try:
            heard = await self._transcribe(attachment)
        except MediaRefused as error:
            if str(error) not in WORDLESS or not attachment.preview or attachment.kind not in FILMS:
                raise
            return await self._pictures.read(attachment)
        how = {"language": heard.language, "engine": heard.engine, "seconds": heard.seconds or attachment.seconds}
        block: Block = {"type": "text", "text": heard.text, "file": asdict(attachment), "heard": how}
        if attachment.kind not in SPOKEN:
            block |= {"untrusted": "recording"} | ({"from": attachment.name} if attachment.name else {})
        what = f"{NAMES[attachment.kind]} {attachment.name}".strip()
        first = "minute" if self._minutes == 1 else f"{self._minutes} minutes"
        notice = f"I listened to the first {first} of your {what}." if heard.cut else ""
        return FileContents([block], heard.text, notice=notice)

    async def _transcribe(self, attachment: Attachment) -> Transcript:
        """Returns a recording's transcript. Raises `MediaRefused`."""
        if self._speech_to_text is None:
            raise MediaRefused(DEAF, NOT_HEARD)
        if heard := self._remembered.get(attachment.unique_id):
            return heard
        async with self._files.open(attachment) as recording:
            heard = await self._speech_to_text.hear(recording)
        self._remembered.put(attachment.unique_id, heard)
        return heard
