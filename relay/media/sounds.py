"""Recordings: voice notes, audio files, video notes and the sound of videos, as what is said in them."""

from __future__ import annotations

from relay.errors import MediaRefused
from relay.media.files import Files
from relay.media.reading import Read
from relay.models import Attachment
from relay.ports import Ears


class Sounds:
    """Listens to recordings."""

    def __init__(self, files: Files, ears: Ears | None) -> None:
        self._files = files
        self._ears = ears

    async def read(self, attachment: Attachment) -> Read:
        """See `reading.Kind`."""
        raise MediaRefused("Voice is not switched on here.")
