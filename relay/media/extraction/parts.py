"""Splits a long text into parts. Pure."""

from __future__ import annotations

import re

MOST = 1_500_000
"""How many characters of a text are stored."""
PART = 6_000
"""How many characters a part has, approximately."""
BREAKS = ("\n\n", "\n", ". ", " ")
"""Where a text may be split, best first."""


def cut(text: str) -> tuple[list[str], int, int]:
    """Returns a text's parts, how many characters they hold, and how many the text has."""
    text = tidy(text)
    full, text = len(text), text[:MOST]
    parts, start = [], 0
    while start < len(text):
        end = start + PART
        if end < len(text):
            end = _break(text, start, end)
        if part := text[start:end].strip():
            parts.append(part)
        start = end
    return parts, len(text), full


def _break(text: str, start: int, end: int) -> int:
    """Returns where the part beginning at `start` ends: at a break in its second half, else at `end`."""
    for one in BREAKS:
        found = text.rfind(one, start + PART // 2, end)
        if found >= 0:
            return found + len(one)
    return end


def tidy(text: str) -> str:
    """Returns a text without characters that can't be stored or shown, soft hyphens (they hide words from searches)
    and long gaps."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f\xad\ud800-\udfff\ufeff\ufffe\uffff]", "", text)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip(" \t") for line in text.split("\n"))).strip()
