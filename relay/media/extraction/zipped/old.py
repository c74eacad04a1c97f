"""Files of the Office of before 2007, and those that a password protects."""

from __future__ import annotations

from typing import Any

from relay.media.extraction.failure import LOCKED, Unusable
from relay.media.extraction.zipped import sheets

ADVICE = "It is {kind} of the old kind (.{ending}), which I cannot open. Please save it as .{better} or PDF."
UNKNOWN = "It is an old Office file or something like it, which I cannot open. Please save it as PDF and send that."


def read(content: bytes) -> dict[str, Any]:
    """What an OLE file tells: that of a spreadsheet can be read. Raises `Unusable` for the others."""
    if _holds(content, "EncryptedPackage"):
        raise Unusable(LOCKED)
    if _holds(content, "WordDocument"):
        raise Unusable(ADVICE.format(kind="a Word document", ending="doc", better="docx"))
    if _holds(content, "PowerPoint Document"):
        raise Unusable(ADVICE.format(kind="a presentation", ending="ppt", better="pptx"))
    if _holds(content, "Workbook") or _holds(content, "Book"):
        return sheets.read(content)
    raise Unusable(UNKNOWN)


def _holds(content: bytes, stream: str) -> bool:
    """Whether there is a stream of this name."""
    return stream.encode("utf-16-le") + b"\0\0" in content
