"""Links behind words: Telegram sends their addresses apart from the text. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Annotated

from pydantic import PlainValidator

from relay.core.frozen import frozen
from relay.core.text import utf16_offsets
from relay.surfaces.telegram.parsing.contents import COUNTS, Count, Text

ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
SCHEME = re.compile(r"^https?://", re.IGNORECASE)
MOST_ENTITIES = 100
URL_LENGTH, ALL_URLS = 1_000, 10_000
"""The most characters that are shown of one address, and of all of a message."""


def _offset(value: object) -> int:
    return value if type(value) is int and 0 <= value < COUNTS else COUNTS


@frozen
class Entity:
    """A formatted part of a text, in UTF-16 code units. A `text_link` has a URL."""

    type: Text = ""
    offset: Annotated[int, PlainValidator(_offset)] = COUNTS
    """Beyond every text if it is malformed."""
    length: Count = 0
    url: Text = ""


def with_links(text: str, entities: Sequence[Entity], start: int = 0) -> str:
    """Returns a text, or its end from an index on, with the address of each link behind its words."""
    links = [one for one in entities[:MOST_ENTITIES] if is_link(one)]
    offsets = utf16_offsets(text) if links else ()
    shown, left = "", ALL_URLS
    for link in sorted(links, key=lambda link: link.offset + link.length):
        begin, end = (bisect_left(offsets, at) for at in (link.offset, link.offset + link.length))
        if not max(begin, start) < end <= len(text) or is_same(text[begin:end], link.url):
            continue
        url = cut(link.url.replace("##", "#%23"), min(left, URL_LENGTH))  # no marker, which the person didn't see
        shown += f"{text[start:end]} ({url})"
        start, left = end, left - len(url)
    return shown + text[start:]


def is_link(entity: Entity) -> bool:
    return entity.type == "text_link" and entity.url.isprintable() and bool(ADDRESS.fullmatch(entity.url))


def is_same(words: str, url: str) -> bool:
    """Tests whether a link's words are its address, which may lack the scheme and the last slash."""
    return SCHEME.sub("", words.strip()).rstrip("/") == SCHEME.sub("", url).rstrip("/")


def cut(url: str, length: int) -> str:
    """Returns an address with at most this many characters, and marks a cut."""
    return url if len(url) <= length else url[: max(0, length - 1)] + "…"
