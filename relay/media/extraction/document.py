"""A document as text in parts, whatever it is: by what it holds, not by how it is called."""

from __future__ import annotations

import sys
from typing import Any

from relay.media.extraction import file_types
from relay.media.extraction.failure import Unusable
from relay.media.extraction.parts import cut

EMPTY = "It is empty."
WORDLESS = "There is no text in it."
SHORTENED = "It is very long: I keep the first {kept} of its text."


def work(
    content: bytes, name: str = "", pages: int = 100, shown: int = sys.maxsize
) -> tuple[dict[str, Any], list[bytes]]:
    """`pages`, `shown`: of how many pages and bytes a PDF may be shown as it is.

    Tells `{kind}` of a picture or recording, which others open; of a document `{kind, parts: [text], pages, whole,
    note}`: `whole` says that it may be shown as it is, `note` what of it is not used or not as its name says, in
    sentences. Raises `Unusable`.
    """
    if not content.strip():
        raise Unusable(EMPTY)
    sort = file_types.sort_of(content)
    if sort in (file_types.PICTURE, file_types.RECORDING):
        return {"kind": sort}, []
    told = _read(sort, content, name, pages, shown)
    parts, kept, full = cut(told.pop("text"))
    if not parts and not told.get("whole"):
        raise Unusable(told["note"] or WORDLESS)
    notes = [file_types.misnamed(name, told["kind"]), told["note"]]
    if kept < full:
        notes.append(SHORTENED.format(kept=f"{kept:,} characters"))
    return {"pages": 0, "whole": False, **told, "parts": parts, "note": " ".join(note for note in notes if note)}, []


def _read(sort: str, content: bytes, name: str, pages: int, shown: int) -> dict[str, Any]:
    """What a file of some sort tells: `{kind, text, note, …}`. What is needed to read it is imported here."""
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
