"""Office files from before 2007, and password-protected ones."""

from typing import Any

from relay.media.extraction.failure import LOCKED, Unusable
from relay.media.extraction.zipped import sheets

ADVICE = "It's {kind} in an old format (.{ending}), which I can't open. Please save it as .{better} or PDF."
UNKNOWN = "It looks like an old Office file, which I can't open. Please save it as PDF and send that."


def read(content: bytes) -> dict[str, Any]:
    """Reads a spreadsheet in an OLE file. Raises `Unusable` for other files."""
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
    """Tests whether there is a stream with this name."""
    return stream.encode("utf-16-le") + b"\0\0" in content
