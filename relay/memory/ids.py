"""Ids of search results: m123 a message, k45 a memory, s6 a summary, d7.2 part 2 of a document. Pure."""

from __future__ import annotations

import re

LETTERS = {"message": "m", "memory": "k", "summary": "s", "part": "d"}
KINDS = {letter: kind for kind, letter in LETTERS.items()}
ID = re.compile(r"\[?\s*(?:([mks])([0-9]{1,18})|(d)([0-9]{1,18})\.([0-9]{1,9}))\s*\]?", re.IGNORECASE)


def id_of(kind: str, number: int, part: int = 0) -> str:
    """Returns the id of an index entry."""
    return f"{LETTERS[kind]}{number}.{part}" if kind == "part" else f"{LETTERS[kind]}{number}"


def read_id(text: str) -> tuple[str, int, int] | None:
    """Parses an id into kind, number and part (0: none); None if it is invalid."""
    match = ID.fullmatch(text.strip())
    if match is None:
        return None
    letter, number, paper, document, part = match.groups()
    kind = KINDS[(letter or paper).lower()]
    return kind, int(number or document), int(part or 0)
