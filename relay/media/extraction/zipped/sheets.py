"""Converts spreadsheets to text, with calamine."""

from __future__ import annotations

import io
from datetime import date, datetime, time
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook, PasswordError

from relay.media.extraction.failure import LOCKED, Unusable
from relay.media.extraction.parts import MOST

BROKEN = "It's a damaged spreadsheet."


def read(content: bytes) -> dict[str, Any]:
    """Returns `{kind, text, note}`: each sheet under its name, one line per row with content. Raises `Unusable`."""
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
    except PasswordError:
        raise Unusable(LOCKED) from None
    except CalamineError:
        raise Unusable(BROKEN) from None
    lines: list[str] = []
    length = 0
    for name in book.sheet_names:
        if length > MOST:
            break
        lines.append(f"\n## {name}\n")
        try:
            rows = book.get_sheet_by_name(name).iter_rows()
        except CalamineError:  # a chart
            continue
        for row in rows:
            if row.count("") == len(row):
                continue  # a single distant cell makes millions of empty ones
            if line := " | ".join(_format_cell(cell) for cell in row).rstrip(" |"):
                lines.append(line)
                length += len(line) + 1
            if length > MOST:
                break
    return {"kind": "spreadsheet", "text": "\n".join(lines) if length else "", "note": ""}


def _format_cell(cell: Any) -> str:
    """Formats a cell on one line. Numbers have at most fifteen digits, as in spreadsheets; whole ones no decimals."""
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else f"{cell:.15g}"
    if isinstance(cell, (date, datetime, time)):
        return cell.isoformat()
    return " ".join(str(cell).split())
