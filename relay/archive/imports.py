"""Imports an export into a space. Every row is added once, however often the import runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from relay.archive.backup_file import printable
from relay.archive.export import SCHEMA
from relay.archive.export_file import (
    ImportRefused,
    Owner,
    RawRow,
    RowLinks,
    broken_file_error,
    header_of,
    links_of,
    owner_of,
    read_linked_rows,
    rows_of,
)
from relay.archive.imported import LINKED, list_cited, renumber, usable
from relay.core.errors import DatabaseError, DatabaseUnavailable
from relay.core.frozen import frozen
from relay.core.models import Space
from relay.memory.contexts.space_settings import valid_settings
from relay.memory.derivations.artefacts import artefact_kind, list_exported_kinds
from relay.memory.store import Store

ROWS, BYTES = 200, 400_000
"""The largest batch for the database, in rows and bytes, unless a single row is larger."""
PARTS = {
    "session": "sessions",
    "message": "messages",
    "document": "documents",
    "summary": "summaries",
    "keepit": "keepits",
    "memory": "memories",
    "session_link": "session_links",
    "context_setting": "context_settings",
    "feedback": "feedback",
    "preference_decision": "preference_decisions",
}
IN_THREAD = ("session", "message", "document", "summary", "keepit")
"""The types of rows that belong to a thread."""
TOGETHER = PARTS.keys() - {"summary"}
"""The types of rows that can be passed in batches."""
SCHEMAS = (SCHEMA, "relay-export/2", "relay-export/1")
"""Supported formats: the second had no contexts, and in the first all memories were facts or learnings."""
SETTING = {"thread": "threads", "persona": "personas", "place": "places"}
OWNED = ("user_id", "subject_id", "author_id", "chat_id", "promoted_by", "created_by", "linked_by", "validated_by")
"""Fields that name a person."""


class InvalidRow(Exception):
    """A row of the file is not a valid row of an export."""


@frozen
class CheckedExport:
    """A fully read export."""

    path: Path
    space: Space
    threads: tuple[RawRow, ...]
    personas: tuple[RawRow, ...]
    places: tuple[RawRow, ...]
    choices: RawRow | None
    cited: frozenset[int]
    """Messages that other rows reference."""


def check(path: Path) -> CheckedExport:
    """Reads a whole export (`relay-export.jsonl`, or the archive sent in the chat) without changing anything. Raises
    `ImportRefused` if it is invalid, incomplete, or has settings of a chat that isn't its owner's."""
    rows = rows_of(path)
    space = _space(path, next(rows, {}))
    setting: dict[str, list[RawRow]] = {kind: [] for kind in (*SETTING, "choices")}
    known: dict[str, set[int | None]] = {"thread": set(), "session": set()}
    cited: set[int] = set()
    last, seen = RowLinks(""), 0
    for row, links in read_linked_rows(path, rows):
        seen, last = seen + 1, links
        if links.type in setting:
            _check_setting(path, space, links)
            setting[links.type].append(row)
        if links.type in known:
            known[links.type].add(links.id)
        if links.type in IN_THREAD and links.thread not in known["thread"]:
            raise broken_file_error(path)
        if links.type in ("message", "summary") and links.session not in known["session"]:
            raise broken_file_error(path)
        cited |= links.cited | list_cited(row)
    if last.type != "end" or last.rows != seen:
        raise broken_file_error(path)
    choices = setting.pop("choices")
    given = {SETTING[kind]: tuple(found) for kind, found in setting.items()}
    return CheckedExport(path, space, **given, choices=_choices(path, choices), cited=frozenset(cited))


def _choices(path: Path, rows: list[RawRow]) -> RawRow | None:
    found = rows[0].get("choices") if rows else None
    if found is not None and not isinstance(found, dict):
        raise broken_file_error(path)
    return found


@dataclass(slots=True)
class Import:
    """An import into a space."""

    store: Store
    export: CheckedExport
    user_id: int | None = None
    """The new owner, if it is not the person who exported the memory."""
    told: Callable[[str, int], None] = lambda part, seen: None
    """Called with progress: how many rows of a part were read."""
    added: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    _space_id: int = 0
    _ids: dict[str, dict[int, int]] = field(default_factory=dict)
    """For each kind of row, ids here by ids in the file; for messages only those that are referenced."""
    _replaced: dict[int, int] = field(default_factory=dict)
    """Ids of the file's memories, with those of their replacements in the file."""
    _taken: dict[int, str] = field(default_factory=dict)
    """Memories with the latest time so far, because those of one time may be in several batches."""

    def becomes(self) -> Space:
        """Returns the new owner. Raises `ImportRefused` if a group's memory would become a person's."""
        if self.user_id is None:
            return self.export.space
        if self.export.space.kind != "private":
            raise ImportRefused("This is a group's memory. It can only be imported into a group: leave out --user.")
        return Space("private", owner_id=self.user_id)

    async def run(self) -> Space:
        """Adds missing rows; returns the space. Can be repeated after an interruption. Raises the errors of `becomes`,
        and an error that says nothing more was added if the file has invalid rows."""
        space = self.becomes()
        try:
            await self._add(space)
        except DatabaseUnavailable:
            raise
        except (DatabaseError, InvalidRow) as error:
            why = f" ({str(error).removesuffix('.')})" if isinstance(error, DatabaseError) else ""
            added = "The rows before it were added. To add the rest, import the original export."
            raise ImportRefused(
                f"{self.export.path} was altered: it contains an invalid row{why}. "
                f"{added if self._space_id else 'Nothing was changed.'}"
            ) from None
        return space

    async def _add(self, space: Space) -> None:
        export = self.export
        with _blame_file():
            rows = {name: [self._reassign(row) for row in getattr(export, name)] for name in SETTING.values()}
        made = await self.store.import_space(space, {**rows, "choices": export.choices})
        self._space_id = made.space_id
        self._ids = {kind: {} for kind in (*PARTS, *(one.kind for one in list_exported_kinds()))}
        old = [links_of(row).id for row in export.threads]
        self._ids["thread"] = {id: new for id, new in zip(old, made.ids, strict=True) if id is not None}
        await self._pass(IN_THREAD)
        await self._pass(("memory",))
        for kind in list_exported_kinds():
            await self._pass((kind.kind,))
        await self._pass(("session_link", "context_setting", "feedback", "preference_decision"))
        await self._link()
        await self.store.import_finish(self._space_id)

    async def _pass(self, kinds: tuple[str, ...]) -> None:
        """Imports the rows of these kinds in the order of the file."""
        batch, size = list[tuple[RawRow, RowLinks]](), 0
        rows = rows_of(self.export.path)
        next(rows)
        for row, links in read_linked_rows(self.export.path, rows):
            if links.type not in kinds:
                continue
            length = len(json.dumps(row, ensure_ascii=False))
            # An artefact may build on the one just before it, so that one's id must be known.
            full = len(batch) >= ROWS or size + length > BYTES or links.type not in TOGETHER
            if batch and ((full and not _is_second(batch, links)) or batch[0][1].type != links.type):
                await self._give(batch)
                batch, size = [], 0
            batch.append((row, links))
            size += length
        if batch:
            await self._give(batch)

    async def _link(self) -> None:
        """Links memories to their replacements, once all exist."""
        ids = self._ids["memory"]
        found = [(ids[old], ids[new]) for old, new in self._replaced.items() if old in ids and new in ids]
        links = [{"id": old, "replaced_by": new} for old, new in found]
        for start in range(0, len(links), ROWS):
            await self.store.import_links(self._space_id, links[start : start + ROWS])

    async def _give(self, batch: list[tuple[RawRow, RowLinks]]) -> None:
        kind = batch[0][1].type
        with _blame_file():
            rows = [self._reassign(self._renumber(row, links)) for row, links in batch]
            if kind == "message":
                rows = [usable(row) for row in rows]
            elif kind == "context_setting":
                rows = [{**row, "settings": valid_settings(row["settings"])} for row in rows]
        taken = list(self._taken) if kind == "memory" else []
        done = await self.store.import_rows(PARTS.get(kind, kind), self._space_id, rows, taken)
        artefact = artefact_kind(kind)
        part = PARTS.get(kind) or (artefact.plural if artefact else kind)
        if kind == "memory":
            times = [links.created_at or "" for _, links in batch]
            made = {id: at for id, at in zip(done.ids, times, strict=True) if id is not None}
            self._taken = {id: at for id, at in (self._taken | made).items() if at == times[-1]}
        self.added[part] += done.added
        self.seen[part] += len(batch)
        self.told(part, self.seen[part])
        for (_, links), new in zip(batch, done.ids, strict=True):
            if links.id is None:
                continue
            if new is not None and (kind != "message" or links.id in self.export.cited):
                self._ids[kind][links.id] = new
            if links.replaced_by is not None:
                self._replaced[links.id] = links.replaced_by

    def _renumber(self, row: RawRow, links: RowLinks) -> RawRow:
        """Translates a row's references to ids here, and drops those that the file lacks."""
        there: dict[str, object] = {
            name: self._ids[kind].get(getattr(links, name)) for name, kind in LINKED.items() if name in row
        }
        if links.type == "summary":  # its numbers are informational and need not exist here
            there = {name: 0 if new is None and name != "previous" else new for name, new in there.items()}
        if links.evidence:
            ids = self._ids["message"]
            there["evidence"] = [ids[old] for old in links.evidence if old in ids]
        if links.inputs:
            read = [one.split(":") for one in links.inputs]
            known = [(kind, self._ids.get(kind, {}).get(int(old))) for kind, old in read]
            there["inputs"] = [f"{kind}:{new}" for kind, new in known if new is not None]
        if artefact_kind(links.type) and "row" in row:
            there["row"] = renumber(row["row"], self._ids)
        return {**row, **there}

    def _reassign(self, row: RawRow) -> RawRow:
        """Reassigns a row from one person to another."""
        old = self.export.space.owner_id
        if self.user_id is None or old is None:
            return row
        moved = {**row, **{name: self.user_id for name in OWNED if row.get(name) == old}}
        for name in ("changes", "reactions"):
            if name in moved:
                moved[name] = [self._reassign(one) for one in moved[name]]
        if isinstance(moved.get("row"), dict):  # of an artefact
            moved["row"] = self._reassign(moved["row"])
        return moved


@contextmanager
def _blame_file() -> Iterator[None]:
    """Reports failures as the file's fault."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InvalidRow from None


def _is_second(batch: list[tuple[RawRow, RowLinks]], links: RowLinks) -> bool:
    """Tests whether a message is the second of two answers to choose from. They share their time, so only a batch with
    both tells them apart."""
    times = [one.created_at for _, one in batch[-2:]]
    return links.type == "message" and times[-1:] == [links.created_at] and times.count(links.created_at) == 1


def _space(path: Path, row: RawRow) -> Space:
    """Returns whose memory it is, from the header."""
    header, owner = header_of(row), owner_of(row)
    if not header.schema.startswith("relay-export/"):
        raise ImportRefused(f"{path} is not an export of Relay.")
    if header.schema not in SCHEMAS:
        raise ImportRefused(f"{path} was made by a newer Relay ({printable(header.relay)}). Upgrade this one first.")
    match owner:
        case Owner("private", int(person), None) if 0 < person < 2**63:
            return Space("private", owner_id=person)
        case Owner("group", None, int(chat)) if -(2**63) <= chat < 0:
            return Space("group", chat_id=chat)
    raise ImportRefused(f"{path} is not a valid export: its owner is missing. Nothing was changed.")


def _check_setting(path: Path, space: Space, row: RowLinks) -> None:
    """Settings for everyone in a chat come only with that chat's memory. A private chat has none."""
    own = {"persona": space.owner_id or space.chat_id, "place": space.chat_id}
    if row.type in own and (own[row.type] is None or row.chat_id != own[row.type]):
        raise ImportRefused(f"{path} has settings of a chat that isn't its owner's. Nothing was changed.")
