"""A space's content page by page, and the results of an import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.core.frozen import frozen


@frozen
class ExportedSpace:
    """The rows that belong to a space as a whole; each is a line of an export."""

    source: str
    """Identifies the database."""
    threads: tuple[Mapping[str, Any], ...]
    personas: tuple[Mapping[str, Any], ...]
    places: tuple[Mapping[str, Any], ...]
    choices: Mapping[str, Any] | None


@frozen
class ExportPage:
    """A page of an export's lines."""

    rows: tuple[Mapping[str, Any], ...]
    last: list[Any] | None
    """The key of the last line."""
    end: bool


@frozen
class ImportedSpace:
    """The space into which an export is imported."""

    space_id: int
    ids: tuple[int, ...]
    """The ids of its threads here, in the given order."""


@frozen
class ImportedRows:
    """The result of importing some rows."""

    ids: tuple[int | None, ...]
    """Their ids here, in order; None: the row was not imported."""
    added: int
    """How many rows were new."""
