"""Documents: PDF, text, tables, office files, books, archives: the text in them and, where the model can see them, they
themselves."""

from __future__ import annotations

from relay.errors import MediaRefused
from relay.media.files import Files
from relay.media.pictures import is_picture
from relay.media.reading import Kind, Read
from relay.models import Attachment
from relay.ports import Opener


class Documents:
    """Reads documents. A file that is a picture or a recording goes to whoever reads those."""

    def __init__(self, files: Files, opener: Opener, sounds: Kind, pictures: Kind) -> None:
        self._files = files
        self._opener = opener
        self._sounds = sounds
        self._pictures = pictures

    async def read(self, attachment: Attachment) -> Read:
        """See `reading.Kind`."""
        if is_picture(attachment):
            return await self._pictures.read(attachment)
        raise MediaRefused("I cannot read files yet.")
