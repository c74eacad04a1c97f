"""Reads the file of an export, row by row."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from relay.archive.export_rows import RawRow, RowLinks, links_of
from relay.core.errors import RelayError

LINES = "relay-export.jsonl"
LONGEST_LINE = 2**26
"""The most bytes of a line. The longest kind of row, a message with all its earlier wordings, is far smaller."""


class ImportRefused(RelayError):
    """An export can't be imported as it is."""


def read_linked_rows(path: Path, rows: Iterator[RawRow]) -> Iterator[tuple[RawRow, RowLinks]]:
    """Yields the rows after the header with their references."""
    for row in rows:
        try:
            links = links_of(row)
        except ValueError:
            raise broken_file_error(path) from None
        yield row, links


def rows_of(path: Path) -> Iterator[RawRow]:
    """Yields the rows of an export, header first."""
    first = True
    try:
        with _open_lines(path) as file:
            while line := file.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise ImportRefused(f"{path} has a line of more than {LONGEST_LINE >> 20} MB, as no export has.")
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise broken_file_error(path)
                first = False
                yield row
    except (ValueError, KeyError, IndexError, struct.error, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error):
        raise ImportRefused(f"{path} is not an export of Relay.") if first else broken_file_error(path) from None
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {error.strerror or error}.") from None


def _open_lines(path: Path) -> IO[bytes]:
    """Yields the file's lines; for an archive, those of the export in it."""
    if path.suffix.lower() == ".zip":
        archive = zipfile.ZipFile(path)
        if archive.getinfo(LINES).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise zipfile.BadZipFile
        return archive.open(LINES)
    return path.open("rb")


def broken_file_error(path: Path) -> ImportRefused:
    """Returns the error for a file that is not whole."""
    return ImportRefused(f"{path} is incomplete or was altered. Nothing was changed.")
