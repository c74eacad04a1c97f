"""Files that are zip archives: those of Office, books, and archives as such. All that is unpacked is counted."""

from __future__ import annotations

import io
import zipfile
import zlib
from xml.etree import ElementTree

from relay.media.extraction.failure import LOCKED, Unusable

ENTRIES = 20_000
EXPANDED = 256 * 2**20
"""Bytes that may be unpacked of one file."""
TAGS, XML = 500_000, 16 * 2**20
"""Tags with attributes, and bytes, of the XML of a Word document: a tag takes half a kilobyte of memory and 20
microseconds. Books have fewer."""
PIECE = 2**20
BROKEN = "It is damaged."
TOO_MUCH = "It unpacks to more than a file may here."
TRICK = "It holds XML of a kind that such files do not have, so I do not open it."
APPLE = "It is a file of Apple's {app}, which I cannot open. Please export it as PDF and send that."
APPS = {"Index/Document.iwa": "Pages", "Index/Presentation.iwa": "Keynote", "Index/CalculationEngine.iwa": "Numbers"}
CODES = ("ascii", "utf-16-le", "utf-16-be")
KINDS = ("<!ENTITY", "<!ATTLIST", "<!ELEMENT", "<!NOTATION")
"""What a document type within a file can declare, by which a little becomes much. One only named is not read."""
DECLARATIONS = tuple(word.encode(code) for word in KINDS for code in CODES)
BLANK = b"\xef\xbb\xbf\xff\xfe\0 \t\r\n"
"""What may stand before the first `<` of XML, in any of these codes."""
OVERLAP = max(map(len, DECLARATIONS))


class Package:
    """A zip archive that is read within bounds."""

    def __init__(self, content: bytes) -> None:
        """Raises `Unusable` when it is none."""
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
        """Of all XML that was checked, attributes among the tags."""

    def read(self, name: str, most: int = EXPANDED) -> bytes:
        """A file in it, or its first `most` bytes. Raises `Unusable`, and KeyError when there is none of this name."""
        entry = self._zip.getinfo(name)
        if entry.flag_bits & 1:
            raise Unusable(LOCKED)
        try:
            with self._zip.open(entry) as file:
                found = file.read(min(most, self._left + 1))
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError):
            raise Unusable(BROKEN) from None
        self._left -= len(found)
        if self._left < 0:
            raise Unusable(TOO_MUCH)
        return found

    def xml(self, name: str) -> ElementTree.Element:
        """A file in it as XML. Raises `Unusable`, also where it declares entities."""
        found = self.read(name)
        if any(word in found for word in DECLARATIONS):
            raise Unusable(TRICK)
        try:
            return ElementTree.fromstring(found)  # noqa: S314 — nothing that it could expand is declared in it
        except (ElementTree.ParseError, ValueError, LookupError):
            raise Unusable(BROKEN) from None

    def check(self) -> None:
        """Reads all that begins like XML as a stream, whatever it is called, before a library does. Raises `Unusable`:
        too much, or with declarations."""
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
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError):
            raise Unusable(BROKEN) from None
