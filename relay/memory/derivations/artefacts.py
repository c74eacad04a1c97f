"""The kinds of artefacts. An artefact is derived from messages, and is shown, searched, exported and erased with them.

A kind is declared twice: in SQL by its table, which says how the database reads it
(`migrations/functions/artefact.sql`), and here, which says how people and the model see it. Pure.
"""

from __future__ import annotations

import re

from relay.core.frozen import frozen

ID = re.compile(r"\[?\s*([a-z])([0-9]{1,18})(?:\.([0-9]{1,9}))?\s*\]?", re.IGNORECASE)


@frozen
class ArtefactKind:
    """A kind of artefact."""

    kind: str
    """Its name, in the database and in exports."""
    letter: str
    """The letter of its ids, such as k for k45. m is for messages and d for documents."""
    icon: str
    plural: str
    own_lines: bool = False
    """Exports write it in a separate form, not as a row of its table."""


MEMORY = ArtefactKind("memory", "k", "🧠", "memories", own_lines=True)
SUMMARY = ArtefactKind("summary", "s", "📋", "summaries", own_lines=True)
VERSION = ArtefactKind("version", "v", "🗜", "versions")
COMPOSITION = ArtefactKind("composition", "c", "🧩", "compositions")
REMINDER = ArtefactKind("reminder", "r", "⏰", "reminders")
INTENT = ArtefactKind("intent", "i", "💡", "standing intents")
KINDS: tuple[ArtefactKind, ...] = (MEMORY, SUMMARY, VERSION, COMPOSITION, REMINDER, INTENT)
"""All kinds, each after those that it is made from."""


def artefact_kind(kind: str) -> ArtefactKind | None:
    """Returns the kind with a name; None if it is not an artefact."""
    return next((one for one in KINDS if one.kind == kind), None)


def list_exported_kinds() -> tuple[ArtefactKind, ...]:
    """Returns the kinds that an export writes as rows of their tables."""
    return tuple(one for one in KINDS if not one.own_lines)


def letters() -> dict[str, str]:
    """Returns the letter of each kind of entry."""
    return {"message": "m", **{one.kind: one.letter for one in KINDS}, "part": "d"}


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
