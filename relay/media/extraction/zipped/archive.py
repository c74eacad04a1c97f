"""Zip archives: lists their files and reads the texts. Opens no nested archives and writes no files."""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from typing import Any
from zipfile import ZipInfo

from relay.core.text import join_names, pluralize, shorten
from relay.media.extraction import file_types
from relay.media.extraction.failure import Unusable
from relay.media.extraction.text import decode
from relay.media.extraction.zipped.package import Package

LISTED = 500
READ = 300
"""How many texts are read."""
LARGEST = 2**20
"""The most bytes that are read from each file."""
TOTAL = 6 * 2**20
OF_MACS = "__MACOSX/"
"""The folder in which a Mac keeps files that only it can read."""
UTF8_NAME = 0x800
LOCKED = "Its files are protected by a password, so I only see their names."
SKIPPED = "I read the texts in it, and didn't open {others}."
FAILED = "I couldn't unpack {names}."
NAMED = 3
"""How many files are named that can't be unpacked."""
CUT = "I read only the beginning of texts over 1 MB."


def read(package: Package) -> dict[str, Any]:
    """Returns `{kind, text, note}`. Raises `Unusable` if it is empty."""
    files = [entry for entry in package.entries if not entry.is_dir() and not entry.filename.startswith(OF_MACS)]
    if not files:
        raise Unusable("It's an empty archive.")
    lines = [f"- {_shown_name(entry)} ({entry.file_size:,} bytes)" for entry in files[:LISTED]]
    if len(files) > LISTED:
        lines.append(f"- and {len(files) - LISTED:,} more")
    told = [f"An archive of {pluralize(len(files), 'file')}:\n" + "\n".join(lines)]
    left, texts, cut = TOTAL, 0, False
    failed: list[str] = []
    for entry in files:
        if texts == READ or left <= 0:
            break
        if entry.flag_bits & 1:
            continue
        try:
            text, size = _text(package, entry.filename)
        except Unusable:
            failed.append(shorten(_shown_name(entry), 60))
            text, size = None, 4096
        left -= size
        if text is not None:
            texts += 1
            cut = cut or entry.file_size > LARGEST
            told.append(f"=== {_shown_name(entry)} ===\n{text}")
    locked = all(entry.flag_bits & 1 for entry in files)
    others = len(files) - texts - len(failed)
    notes = [LOCKED] if locked else [SKIPPED.format(others=pluralize(others, "other file"))] if others else []
    if failed:
        more = [f"{len(failed) - NAMED:,} more"] if len(failed) > NAMED else []
        notes.append(FAILED.format(names=join_names(failed[:NAMED] + more)))
    if cut:
        notes.append(CUT)
    return {"kind": "archive", "text": "\n\n".join(told), "note": " ".join(notes)}


def _text(package: Package, name: str) -> tuple[str | None, int]:
    """Returns a file's text (None: it is not text), and how many bytes were unpacked. Raises `Unusable`."""
    begin = package.read(name, 4096)
    if file_types.detect_type(begin) != file_types.PLAIN or decode(begin) is None:
        return None, len(begin)
    found = package.read(name, LARGEST)
    return decode(found), len(found)


def _shown_name(entry: ZipInfo) -> str:
    """Returns a file's name. A Mac writes it in UTF-8 without saying so."""
    name = entry.filename
    if not entry.flag_bits & UTF8_NAME:
        with suppress(UnicodeError):
            name = unicodedata.normalize("NFC", name.encode("cp437").decode())
    return clean_file_name(name)


def clean_file_name(name: str) -> str:
    """Returns a file name on one line. It is only displayed."""
    return "".join(c if c.isprintable() else "·" for c in name)[:200]
