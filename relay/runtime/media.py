"""Assembles what reads people's files."""

from __future__ import annotations

from relay.core.ports import FileExtractor, MediaStore, Messenger, SpeechToText
from relay.core.settings import Settings
from relay.media.documents import Documents
from relay.media.files import HEARD, Files
from relay.media.media_context import MediaContext
from relay.media.pictures import Pictures
from relay.media.prepared import new_cache
from relay.media.reading import Reader
from relay.media.sounds import Sounds


def make_reader(
    settings: Settings,
    messenger: Messenger,
    extractor: FileExtractor,
    ears: SpeechToText | None = None,
    keeper: MediaStore | None = None,
) -> tuple[Reader, MediaContext]:
    """Returns what reads people's files, and what shows them to the model again. `ears` transcribes recordings,
    `keeper` stores copies of files; None: neither happens."""
    most, cache = settings.max_file * 2**20, new_cache()
    files = Files(messenger, most, keeper)
    pictures = Pictures(files, extractor, settings.max_megapixels * 1_000_000, cache)
    sounds = Sounds(Files(messenger, most, keeper, HEARD), pictures, ears, settings.max_minutes)
    documents = Documents(files, extractor, sounds, pictures, settings.max_pages, cache)
    return Reader(sounds, pictures, documents), MediaContext(pictures, files, cache)
