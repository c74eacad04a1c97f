"""Zip archives (Office files, books, plain archives), unpacked within limits."""

from __future__ import annotations

import io
import zipfile
import zlib
from contextlib import suppress
from xml.etree import ElementTree

from relay.media.extraction.failure import LOCKED, Unusable

ENTRIES = 20_000
EXPANDED = 256 * 2**20
"""The most bytes that may be unpacked from one file."""
TAGS, XML = 500_000, 16 * 2**20
"""Limits for the XML of a Word document: tags with attributes, and bytes. A tag takes half a kilobyte of memory and 20
microseconds. Books have fewer."""
PIECE = 2**20
DAMAGE: tuple[type[Exception], ...] = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError,
)  # fmt: skip
"""What unpacking a damaged file raises. Some Pythons are built without LZMA."""
with suppress(ImportError):
    from lzma import LZMAError

    DAMAGE += (LZMAError,)
BROKEN = "It's damaged."
TOO_MUCH = "It unpacks to more than I accept."
TRICK = "It contains unusual XML, so I don't open it."
APPLE = "It's a file from Apple's {app}, which I can't open. Please export it as PDF and send that."
APPS = {"Index/Document.iwa": "Pages", "Index/Presentation.iwa": "Keynote", "Index/CalculationEngine.iwa": "Numbers"}
CODES = ("ascii", "utf-16-le", "utf-16-be")
KINDS = ("<!ENTITY", "<!ATTLIST", "<!ELEMENT", "<!NOTATION")
"""Declarations by which a small document type can expand to a large one. External ones are not read."""
DECLARATIONS = tuple(word.encode(code) for word in KINDS for code in CODES)
BLANK = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"
"""The bytes that may precede the first `<` of XML in any of these encodings."""
OVERLAP = max(map(len, DECLARATIONS))


class Package:
    """A zip archive with limits."""

    def __init__(self, content: bytes) -> None:
        """Raises `Unusable` if it is not a zip archive."""
        self.content = content
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
            raise Unusable(BROKEN) from None
        self.entries = self._zip.infolist()
        if len(self.entries) > ENTRIES:
            raise Unusable(TOO_MUCH)
        self.names = {entry.filename for entry in self.entries}
        self._left = EXPANDED
        self.tags = self.xml_bytes = 0
        """Totals over all XML that was checked, counting attributes as tags."""

    def read(self, name: str, most: int = EXPANDED) -> bytes:
        """Returns a file or its first `most` bytes. Raises `Unusable`, or KeyError if it is missing."""
        entry = self._zip.getinfo(name)
        if entry.flag_bits & 1:
            raise Unusable(LOCKED)
        try:
            with self._zip.open(entry) as file:
                found = file.read(min(most, self._left + 1))
        except DAMAGE:
            raise Unusable(BROKEN) from None
        self._left -= len(found)
        if self._left < 0:
            raise Unusable(TOO_MUCH)
        return found

    def xml(self, name: str) -> ElementTree.Element:
        """Parses a file as XML. Raises `Unusable`, also if it declares entities."""
        found = self.read(name)
        if any(word in found for word in DECLARATIONS):
            raise Unusable(TRICK)
        try:
            return ElementTree.fromstring(found)  # noqa: S314 — nothing that it could expand is declared in it
        except (ElementTree.ParseError, ValueError, LookupError):
            raise Unusable(BROKEN) from None

    def check(self) -> None:
        """Checks everything that begins like XML before a library parses it. Raises `Unusable` if there is too much of
        it, or it has declarations."""
        for entry in self.entries:
            if entry.flag_bits & 1:
                raise Unusable(LOCKED)
            self._check(entry)

    def _check(self, entry: zipfile.ZipInfo) -> None:
        before, begun = b"", False
        try:
            with self._zip.open(entry) as file:
                while piece := file.read(PIECE):
                    self._left -= len(piece)
                    if self._left < 0:
                        raise Unusable(TOO_MUCH)
                    if not begun and (first := piece.lstrip(BLANK)[:1]):
                        if first != b"<":
                            return
                        begun = True
                    self.tags += piece.count(b"<") + piece.count(b"=")
                    self.xml_bytes += len(piece)
                    if any(word in before + piece for word in DECLARATIONS):
                        raise Unusable(TRICK)
                    before = piece[-OVERLAP:]
        except DAMAGE:
            raise Unusable(BROKEN) from None
