"""What a space holds, page by page, and what an import made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ExportedSpace:
    """What belongs to a space as a whole; each row is a line of an export."""

    source: str
    """Which database this is."""
    threads: tuple[Mapping[str, Any], ...]
    personas: tuple[Mapping[str, Any], ...]
    places: tuple[Mapping[str, Any], ...]
    choices: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class ExportPage:
    """Some lines of an export."""

    rows: tuple[Mapping[str, Any], ...]
    last: list[Any] | None
    """The key of the last one."""
    end: bool


@dataclass(frozen=True, slots=True)
class ImportedSpace:
    """A space into which an export is taken."""

    space_id: int
    ids: tuple[int, ...]
    """Of its threads here, in the order in which they were given."""


@dataclass(frozen=True, slots=True)
class ImportedRows:
    """What became of some rows."""

    ids: tuple[int | None, ...]
    """Their numbers here, in order; None: not taken in."""
    added: int
    """How many were not there before."""
