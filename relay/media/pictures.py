"""Pictures: photos, stickers, animations, and files that are one."""

from __future__ import annotations

from relay.errors import MediaRefused
from relay.media.files import Files
from relay.media.reading import Read
from relay.models import Attachment
from relay.ports import Opener


class Pictures:
    """Looks at pictures."""

    def __init__(self, files: Files, opener: Opener) -> None:
        self._files = files
        self._opener = opener

    async def read(self, attachment: Attachment) -> Read:
        """See `reading.Kind`."""
        raise MediaRefused("I cannot look at pictures yet.")
