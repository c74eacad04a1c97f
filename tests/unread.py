"""A reader for tests in which nobody sends a file."""

from __future__ import annotations

from relay.clients.processes.file_extractor import FileExtractor
from relay.core.ports import Messenger
from relay.core.settings import Settings
from relay.media.reading import Reader
from relay.runtime.media import make_reader


def unread(messenger: Messenger) -> Reader:
    return make_reader(Settings(), messenger, FileExtractor())[0]
