"""A reader for tests in which nobody sends a file."""

from __future__ import annotations

from relay.core.ports import Messenger
from relay.core.settings import Settings
from relay.media.reading import Reader
from relay.runtime.app import make_reader


def unread(messenger: Messenger) -> Reader:
    return make_reader(Settings(), messenger)[0]
