"""Ids of search results: m123 is a message, d7.2 is part 2 of a document, and an artefact begins with its kind's
letter, such as k45 for a memory. Pure."""

from __future__ import annotations

import re

from relay.memory.derivations import artefacts

ID = re.compile(r"\[?\s*([a-z])([0-9]{1,18})(?:\.([0-9]{1,9}))?\s*\]?", re.IGNORECASE)


def letters() -> dict[str, str]:
    """Returns the letter of each kind of entry."""
    return {"message": "m", **{one.kind: one.letter for one in artefacts.KINDS}, "part": "d"}


def id_of(kind: str, number: int, part: int = 0) -> str:
    """Returns the id of an index entry."""
    return f"{letters()[kind]}{number}.{part}" if kind == "part" else f"{letters()[kind]}{number}"


def read_id(text: str) -> tuple[str, int, int] | None:
    """Parses an id into kind, number and part (0: none); None if it is invalid."""
    match = ID.fullmatch(text.strip())
    if match is None:
        return None
    letter, number, part = match.groups()
    kind = next((kind for kind, one in letters().items() if one == letter.lower()), None)
    if kind is None or (part is not None) != (kind == "part"):
        return None
    return kind, int(number), int(part or 0)
