"""The kinds of artefacts: what is derived from messages and shown, searched, exported and erased with them.

A kind is declared twice: by its table, which says how the database reads it (`migrations/functions/artefact.sql`), and
here, which says how people and the model see it. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArtefactKind:
    """A kind of artefact."""

    kind: str
    """Its name, in the database and in exports."""
    letter: str
    """Of its ids, such as k45."""
    icon: str
    plural: str
    own_lines: bool = False
    """Exports write it in a form of its own, not as the row that it is."""


MEMORY = ArtefactKind("memory", "k", "🧠", "memories", own_lines=True)
SUMMARY = ArtefactKind("summary", "s", "📋", "summaries", own_lines=True)
KINDS: tuple[ArtefactKind, ...] = (MEMORY, SUMMARY)
"""All of them, each after those that it is made from."""


def artefact_kind(kind: str) -> ArtefactKind | None:
    """The kind of a name; None for what is no artefact."""
    return next((one for one in KINDS if one.kind == kind), None)


def exported_as_rows() -> tuple[ArtefactKind, ...]:
    """The kinds that an export writes as the rows that they are."""
    return tuple(one for one in KINDS if not one.own_lines)
