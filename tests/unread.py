"""A reader for tests in which nobody sends a file."""

from __future__ import annotations

from relay.app import make_reader
from relay.media.reading import Reader
from relay.ports import Messenger
from relay.settings import Settings


def unread(messenger: Messenger) -> Reader:
    return make_reader(Settings(), messenger)[0]
