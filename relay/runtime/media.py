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
    speech_to_text: SpeechToText | None = None,
    media_store: MediaStore | None = None,
) -> tuple[Reader, MediaContext]:
    """Returns the reader of people's files, and what shows the files to the model again. `speech_to_text` None:
    recordings are not transcribed. `media_store` None: no copies are stored."""
    most, cache = settings.max_file * 2**20, new_cache()
    files = Files(messenger, most, media_store)
    pictures = Pictures(files, extractor, settings.max_megapixels * 1_000_000, cache)
    sounds = Sounds(Files(messenger, most, media_store, HEARD), pictures, speech_to_text, settings.max_minutes)
    documents = Documents(files, extractor, sounds, pictures, settings.max_pages, cache)
    return Reader(sounds, pictures, documents), MediaContext(pictures, files, cache)
