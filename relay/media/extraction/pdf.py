"""Extracts the text of a PDF page by page, with PDFium."""

from __future__ import annotations

import re
import time
from typing import Any

import pypdfium2
from pypdfium2 import raw

from relay.media.extraction.failure import LOCKED, Unusable
from relay.media.extraction.parts import MOST

SECONDS = 30.0
"""The time limit in seconds; later pages are left out."""
HYPHEN = re.compile(r"\x02(?=[\dA-ZÀ-ÖØ-Þ])")
"""Matches PDFium's sign for a hyphen at the end of a line that doesn't divide a word."""
BROKEN = "It's a damaged PDF."
NO_PAGES = "It's a PDF without pages."
LONG = "It has {pages} pages, and I can look at {most} at most: I have its text, not its pictures."
LARGE = "It's too large for me to look at: I have its text, not its pictures."
LARGE_SCAN = (
    "It has pages without text, as scans have, and is too large for me to look at. Send fewer pages, or photos."
)
RIGHTS = "Its rights are restricted: I have its text, not its pictures."
SCANNED = "It has {pages} pages without text, as scans have; I can look at {most} at most."
PARTLY = "I read the text of the first {read} of its {pages} pages."


def read(content: bytes, most: int, shown: int) -> dict[str, Any]:
    """Returns `{kind, text, pages, whole, note}`. `whole`: it may be shown as it is, with at most `most` pages and
    `shown` bytes. Raises `Unusable`."""
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        raise Unusable(LOCKED if "password" in str(error).lower() else BROKEN) from None
    pages = len(document)
    if pages < 1:
        raise Unusable(NO_PAGES)
    text, done = _text(document, pages)
    # A PDF that opens with an empty password is still encrypted, and the model refuses it.
    restricted = raw.FPDF_GetSecurityHandlerRevision(document) >= 0
    note = ""
    if pages > most:
        note = LONG.format(pages=pages, most=most) if text else SCANNED.format(pages=pages, most=most)
    elif len(content) > shown:
        note = LARGE if text else LARGE_SCAN
    elif restricted:
        note = RIGHTS
    whole = not note
    if done < pages and len(text) < MOST:
        note = f"{note} {PARTLY.format(read=done, pages=pages)}".strip()
    return {"kind": "PDF", "text": text, "pages": pages, "whole": whole, "note": note}


def _text(document: pypdfium2.PdfDocument, pages: int) -> tuple[str, int]:
    """Returns the text with page numbers, and how many pages were read."""
    until = time.monotonic() + SECONDS
    found: list[str] = []
    length = 0
    for number in range(pages):
        if time.monotonic() > until or length > MOST:
            return "\n\n".join(found), number
        if text := _page_text(document, number):
            found.append(f"[page {number + 1}]\n{text}")
            length += len(text)
    return "\n\n".join(found), pages


def _page_text(document: pypdfium2.PdfDocument, number: int) -> str:
    """Returns the text of a page with what is filled into its forms; empty if it is damaged."""
    try:
        page = document[number]
        if raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS:
            page.close()
            page = document[number]
    except pypdfium2.PdfiumError:
        return ""
    try:
        words = page.get_textpage()
        try:
            return HYPHEN.sub("-", str(words.get_text_bounded())).strip()
        finally:
            words.close()
    except pypdfium2.PdfiumError:
        return ""
    finally:
        page.close()
