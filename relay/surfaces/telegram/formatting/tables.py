"""Converts tables: to aligned text if it fits on a phone, otherwise to a list per row. Works on the parser's events."""

import unicodedata
from itertools import chain, zip_longest
from typing import Any

COLUMNS = 40
"""The most columns of monospace text that a phone shows without wrapping."""

Event = Any
"""A parser event: its payload, alone or with its range of UTF-8 bytes in the source."""
Cell = list[Event]


def payload_of(event: Event) -> tuple[str, Any]:
    payload = event[0] if isinstance(event, tuple) else event
    return (payload, None) if isinstance(payload, str) else next(iter(payload.items()))


def name_of(tag: Any) -> str:
    return tag if isinstance(tag, str) else str(next(iter(tag)))


def _visible(cell: Cell) -> str:
    found = []
    for key, value in map(payload_of, cell):
        if key in ("Text", "Code", "InlineMath", "DisplayMath"):
            found.append(value)
        elif key == "HardBreak":
            found.append(" ")
    return "".join(found).strip()


def _columns(text: str) -> int:
    """Counts the columns of `text` in monospace."""
    if text.isascii():
        return len(text)
    widths = {"W": 2, "F": 2}
    return sum(0 if unicodedata.combining(c) else widths.get(unicodedata.east_asian_width(c), 1) for c in text)


def table_events(rows: list[list[Cell]]) -> list[Event]:
    """Converts a table to aligned text if it is narrow and loses nothing, otherwise each row to a list."""
    texts = [[_visible(cell) for cell in row] for row in rows]
    widths = [max(map(_columns, column)) for column in zip_longest(*texts, fillvalue="")]
    plain = not any(
        key in ("InlineMath", "DisplayMath") or (key == "Start" and name_of(value) == "Link")
        for key, value in map(payload_of, chain.from_iterable(chain.from_iterable(rows)))
    )
    if plain and sum(widths) + 3 * (len(widths) - 1) <= COLUMNS:
        lines = [
            " | ".join(text + " " * (width - _columns(text)) for text, width in zip(row, widths, strict=False))
            for row in texts
        ]
        lines.insert(1, "-+-".join("-" * width for width in widths))
        code = "\n".join(line.rstrip() for line in lines)
        return [{"Start": {"CodeBlock": {"Fenced": ""}}}, {"Text": code}, {"End": "CodeBlock"}]
    return list(chain.from_iterable(_row(texts[0], row) for row in rows[1:] or rows))


def _row(headers: list[str], row: list[Cell]) -> list[Event]:
    events: list[Event] = [{"Start": "Paragraph"}, {"Start": "Strong"}, *row[0], {"End": "Strong"}]
    for header, cell in zip(headers[1:], row[1:], strict=False):
        if _visible(cell):
            events += ["SoftBreak", {"Text": f"• {header}: " if header else "• "}, *cell]
    return [*events, {"End": "Paragraph"}]
