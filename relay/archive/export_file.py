"""The file of an export, and its rows. Only fields that Relay reads are declared; others pass unchanged."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from relay.core.errors import RelayError
from relay.core.frozen import frozen

RawRow = Mapping[str, Any]
"""A row as the database writes it and reads it again."""
Id = Annotated[int, Field(strict=True)]
InputName = Annotated[str, Field(pattern=r"^[a-z_]+:[0-9]{1,18}$")]
"""What an artefact was made from, such as message:12."""
LINES = "relay-export.jsonl"
LONGEST_LINE = 2**26
"""The most bytes of a line. The longest kind of row, a message with all its earlier wordings, is far smaller."""


@frozen
class ExportHeader:
    """The first row."""

    schema: str = ""
    relay: str = ""
    exported_at: str = ""


@frozen
class RowLinks:
    """A row's type and references, by the numbers of the source database."""

    type: str
    id: Id | None = None
    thread: Id | None = None
    session: Id | None = None
    source: Id | None = None
    message: Id | None = None
    from_message: Id | None = None
    through_message: Id | None = None
    previous: Id | None = None
    replaced_by: Id | None = None
    evidence: tuple[Id, ...] | None = None
    inputs: tuple[InputName, ...] | None = None
    chat_id: Id | None = None
    created_at: str | None = None
    rows: Id | None = None
    """In the last row: how many rows precede it."""

    @property
    def cited(self) -> set[int]:
        """Returns the messages that the row references."""
        named = {self.source, self.message, self.from_message, self.through_message, *(self.evidence or ())}
        read = {int(one.partition(":")[2]) for one in self.inputs or () if one.startswith("message:")}
        return {one for one in named if one is not None} | read


@frozen
class Owner:
    """The person or group whose memory an export contains."""

    kind: str
    owner_id: Id | None
    chat_id: Id | None


@frozen
class PersonaRow:
    text: str
    author: str | None = None


@frozen
class ThreadRow:
    chat_id: int
    topic_id: int
    topic: str | None = None


@frozen
class SessionRow:
    id: int
    title: str | None = None
    started_at: str | None = None


@frozen
class VersionRow:
    """A message's earlier wording."""

    text: str
    replaced_at: str


@frozen
class ReactionRow:
    emoji: str
    removed_at: str | None = None


@frozen
class MessageRow:
    session: int
    role: str
    text: str
    status: str
    created_at: str
    name: str | None = None
    blocks: Any = None
    versions: tuple[VersionRow, ...] = ()
    reactions: tuple[ReactionRow, ...] = ()


@frozen
class SummaryRow:
    text: str
    created_at: str
    author_id: int | None = None


@frozen
class CompressionRow:
    """A compressed version of a session."""

    name: str
    created_at: str
    input_messages: int = 0
    output_tokens: int | None = None


@frozen
class CompositionRow:
    name: str
    created_at: str
    total_tokens: int | None = None
    composition_part: tuple[Any, ...] = ()


@frozen
class EventRow:
    """Something that happened to a reminder."""

    kind: str
    at: str
    detail: str | None = None


@frozen
class ReminderRow:
    """A reminder, or an intent, which comes up when something is mentioned."""

    text: str
    status: str = ""
    rule: str = ""
    next_at: str | None = None
    about: str = ""
    reminder_event: tuple[EventRow, ...] = ()
    """What happened to it, oldest first."""


@frozen
class ChangeRow:
    """A change to a memory."""

    action: str
    created_at: str
    before: str | None = None
    """The earlier text."""


@frozen
class MemoryRow:
    kind: str
    content: str
    status: str
    created_at: str
    subject: str | None = None
    category: str | None = None
    tags: tuple[str, ...] | None = None
    pinned: bool = False
    valid_until: str | None = None
    changes: tuple[ChangeRow, ...] = ()


_LINKS, _OWNER = TypeAdapter(RowLinks), TypeAdapter(Owner)
_HEADER = TypeAdapter(ExportHeader)


def links_of(row: RawRow) -> RowLinks:
    """Returns a row's type and references. Raises `ValueError` if it is not a row of an export."""
    return _LINKS.validate_python(row)


def header_of(row: RawRow) -> ExportHeader:
    """Returns the header; an empty one if the row is not a header."""
    try:
        return _HEADER.validate_python(row)
    except ValidationError:
        return ExportHeader()


def owner_of(row: RawRow) -> Owner | None:
    """Returns whose memory a header names; None if it names none."""
    try:
        return _OWNER.validate_python(row.get("space"))
    except ValidationError:
        return None


class ImportRefused(RelayError):
    """This export can't be imported."""


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
                    raise ImportRefused(f"{path} has a line of over {LONGEST_LINE >> 20} MB, which no export has.")
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise ValueError
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
