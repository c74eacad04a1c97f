"""Zip archives: a list of what is in them, and the texts among it. Archives within are not opened, no file is made."""

from __future__ import annotations

from typing import Any

from relay.media.extraction import file_types
from relay.media.extraction.failure import Unusable
from relay.media.extraction.text import decoded
from relay.media.extraction.zipped.package import Package

LISTED = 500
READ = 300
"""Files that are read, of those that are texts."""
LARGEST = 2**20
"""Bytes that are read of each."""
TOTAL = 6 * 2**20
LOCKED = "Its files are protected by a password: I only see their names."
SKIPPED = "I read the texts in it, and did not open {count} other files."


def read(package: Package) -> dict[str, Any]:
    """`{kind, text, note}`. Raises `Unusable` when there is nothing in it."""
    files = [entry for entry in package.entries if not entry.is_dir()]
    if not files:
        raise Unusable("It is an empty archive.")
    lines = [f"- {shown(entry.filename)} ({entry.file_size:,} bytes)" for entry in files[:LISTED]]
    if len(files) > LISTED:
        lines.append(f"- and {len(files) - LISTED:,} more")
    told = [f"An archive of {len(files):,} files:\n" + "\n".join(lines)]
    left, texts = TOTAL, 0
    for entry in files:
        if texts == READ or left <= 0:
            break
        if entry.flag_bits & 1:
            continue
        text, size = _text(package, entry.filename)
        left -= size
        if text is not None:
            texts += 1
            told.append(f"=== {shown(entry.filename)} ===\n{text}")
    locked = all(entry.flag_bits & 1 for entry in files)
    others = len(files) - texts
    note = LOCKED if locked else SKIPPED.format(count=others) if others else ""
    return {"kind": "archive", "text": "\n\n".join(told), "note": note}


def _text(package: Package, name: str) -> tuple[str | None, int]:
    """A file in it, if that is a text, and how many bytes were unpacked for that."""
    try:
        begin = package.read(name, 4096)
        if file_types.sort_of(begin) != file_types.PLAIN or decoded(begin) is None:
            return None, len(begin)
        found = package.read(name, LARGEST)
    except Unusable:
        return None, 4096
    return decoded(found), len(found)


def shown(name: str) -> str:
    """The name of a file in an archive on one line. It is only shown: no file is ever made by it."""
    return "".join(c if c.isprintable() else "·" for c in name)[:200]
