"""Converts any document to text in parts. Detects its type by its content, not its name."""

from __future__ import annotations

import sys
from typing import Any

from relay.media.extraction import file_types
from relay.media.extraction.failure import Unusable
from relay.media.extraction.parts import cut

EMPTY = "It's empty."
WORDLESS = "There's no text in it."
SHORTENED = "It's very long: I keep the first {kept} of its text."


def work(
    content: bytes, name: str = "", pages: int = 100, shown: int = sys.maxsize
) -> tuple[dict[str, Any], list[bytes]]:
    """`pages`, `shown`: the most pages and bytes of a PDF that is shown whole.

    Returns `{kind}` for a picture or recording, which others open; for a document `{kind, parts: [text], pages, whole,
    note}`: `whole`: it may be shown as it is; `note`: sentences about what is left out or misnamed. Raises `Unusable`.
    """
    if not content.strip():
        raise Unusable(EMPTY)
    sort = file_types.detect_type(content)
    if sort in (file_types.PICTURE, file_types.RECORDING):
        return {"kind": sort}, []
    told = _read(sort, content, name, pages, shown)
    parts, kept, full = cut(told.pop("text"))
    if not parts and not told.get("whole"):
        raise Unusable(told["note"] or WORDLESS)
    notes = [file_types.describe_mismatch(name, told["kind"]), told["note"]]
    if kept < full:
        notes.append(SHORTENED.format(kept=f"{kept:,} characters"))
    return {"pages": 0, "whole": False, **told, "parts": parts, "note": " ".join(note for note in notes if note)}, []


def _read(sort: str, content: bytes, name: str, pages: int, shown: int) -> dict[str, Any]:
    """Reads a file of a given type: `{kind, text, note, …}`. Imports only what that type needs."""
    if sort == file_types.PDF:
        from relay.media.extraction import pdf

        return pdf.read(content, pages, shown)
    if sort == file_types.ZIP:
        from relay.media.extraction.zipped import reader

        return reader.read(content)
    if sort == file_types.OLE:
        from relay.media.extraction.zipped import old

        return old.read(content)
    from relay.media.extraction import text

    return text.read(content, name)
