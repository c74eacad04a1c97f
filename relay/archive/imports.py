"""Takes an export into a space, beside what is there; again and again, it adds each row once."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from relay.archive.export import SCHEMA
from relay.archive.imported import usable
from relay.core.errors import DatabaseError, DatabaseUnavailable, RelayError
from relay.core.models import Space
from relay.memory.store import Store

LINES = "relay-export.jsonl"
ROWS, BYTES = 200, 400_000
"""How much is given to the database at once, at most (or one row)."""
LONGEST_LINE = 2**26
"""Bytes. A message with all that it said before, the longest of rows, stays far below."""
PARTS = {
    "session": "sessions",
    "message": "messages",
    "document": "documents",
    "summary": "summaries",
    "memory": "memories",
}
SCHEMAS = (SCHEMA, "relay-export/1")
"""What can be taken in: in the first, memories were facts and learnings only."""
CITED = ("source", "message", "from_message", "through_message")
"""What names a message in other rows."""

Json = dict[str, Any]


class ImportRefused(RelayError):
    """An export cannot be taken in as it is."""


class Altered(Exception):
    """A row of the file is none that an export holds."""


@dataclass(frozen=True, slots=True)
class Checked:
    """An export that was read as a whole."""

    path: Path
    space: Space
    setting: Json
    """What `relay_import_space` takes: threads, personas, places, choices."""
    cited: frozenset[int]
    """The messages that something else refers to."""


def check(path: Path) -> Checked:
    """Reads a whole export (`relay-export.jsonl`, or the archive that the chat sends); changes nothing.

    Raises `ImportRefused` when it is none, not whole, or says something of another chat than that whose memory it is.
    """
    rows = _rows(path)
    space = _space(path, next(rows, {}))
    setting: Json = {"thread": [], "persona": [], "place": [], "choices": []}
    known: dict[str, set[int]] = {"thread": set(), "session": set()}
    cited: set[int] = set()
    last, seen = Json(), 0
    try:
        for row in rows:
            seen, last = seen + 1, row
            if row["type"] in setting:
                _check_setting(path, space, row)
                setting[row["type"]].append(row)
            if row["type"] in known:
                known[row["type"]].add(row["id"])
            if row["type"] in ("session", "message", "document", "summary") and row["thread"] not in known["thread"]:
                raise _broken(path)
            if row["type"] in ("message", "summary") and row["session"] not in known["session"]:
                raise _broken(path)
            cited |= {row[name] for name in CITED if row.get(name) is not None}
            cited |= set(row.get("evidence") or ())
    except (KeyError, TypeError):
        raise _broken(path) from None
    if last.get("type") != "end" or last.get("rows") != seen:
        raise _broken(path)
    given = {
        "threads": setting["thread"],
        "personas": setting["persona"],
        "places": setting["place"],
        "choices": setting["choices"][0].get("choices") if setting["choices"] else None,
    }
    return Checked(path, space, given, frozenset(cited))


@dataclass(slots=True)
class Import:
    """One export on its way into a space."""

    store: Store
    export: Checked
    user_id: int | None = None
    """Whose memory it becomes, when not that of the person from whom it is."""
    told: Callable[[str, int], None] = lambda part, seen: None
    """Hears now and then how many rows of a part were seen."""
    added: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    _space_id: int = 0
    _ids: dict[str, dict[int, int]] = field(default_factory=dict)
    """For each kind of row, the ids here by those in the file; of messages only those that are cited."""
    _replaced: dict[int, int] = field(default_factory=dict)
    """Memories of the file, and what replaced them there."""
    _taken: dict[int, str] = field(default_factory=dict)
    """The memories of the moment that came last: those made in one moment may come in several batches."""

    def becomes(self) -> Space:
        """Whose memory it becomes. Raises `ImportRefused` when a group's would become a person's."""
        if self.user_id is None:
            return self.export.space
        if self.export.space.kind != "private":
            raise ImportRefused("That is the memory of a group, which goes to the group: leave --user out.")
        return Space("private", owner_id=self.user_id)

    async def run(self) -> Space:
        """Adds what is not there yet; returns the space. May be run again after a break. Raises as `becomes`, and what
        says that no more was added when the file holds something that no export holds."""
        space = self.becomes()
        try:
            await self._add(space)
        except DatabaseUnavailable:
            raise
        except (DatabaseError, Altered) as error:
            why = f" ({error})" if isinstance(error, DatabaseError) else ""
            raise ImportRefused(
                f"{self.export.path} was altered: it holds what no export holds{why}. What came before that was added; "
                "run it again with an export as Relay wrote it, and the rest is."
            ) from None
        return space

    async def _add(self, space: Space) -> None:
        with _reading_rows():
            rows = {
                name: [self._moved(row) for row in rows] if isinstance(rows, list) else rows
                for name, rows in self.export.setting.items()
            }
        made = await self.store.import_space(space, rows)
        self._space_id = made["space_id"]
        self._ids = {kind: {} for kind in PARTS}
        self._ids["thread"] = {row["id"]: new for row, new in zip(rows["threads"], made["ids"], strict=True)}
        await self._pass(("session", "message", "document", "summary"))
        await self._pass(("memory",))
        await self._link()
        await self.store.import_finish(self._space_id)

    async def _pass(self, kinds: tuple[str, ...]) -> None:
        """Gives the rows of these kinds to the database, in the order of the file."""
        batch, size = list[Json](), 0
        for row in _rows(self.export.path):
            if row.get("type") not in kinds:
                continue
            length = len(json.dumps(row, ensure_ascii=False))
            # A summary may build on the one just before it, whose id must be known.
            full = len(batch) == ROWS or size + length > BYTES or row["type"] == "summary"
            if batch and (full or batch[0]["type"] != row["type"]):
                await self._give(batch)
                batch, size = [], 0
            batch.append(row)
            size += length
        if batch:
            await self._give(batch)

    async def _link(self) -> None:
        """Links memories to what replaced them, once all are there."""
        with _reading_rows():
            links = [
                {"id": self._ids["memory"][old], "replaced_by": self._ids["memory"][new]}
                for old, new in self._replaced.items()
                if old in self._ids["memory"] and new in self._ids["memory"]
            ]
        for start in range(0, len(links), ROWS):
            await self.store.import_links(self._space_id, links[start : start + ROWS])

    async def _give(self, batch: list[Json]) -> None:
        kind = batch[0]["type"]
        more = {"taken": list(self._taken)} if kind == "memory" else {}
        with _reading_rows():
            linked = [self._moved(self._linked(row)) for row in batch]
            rows = [usable(row) for row in linked] if kind == "message" else linked
            ids = [row["id"] for row in batch]
            hash(tuple(ids))
            times = [row["created_at"] for row in batch] if kind == "memory" else []
        done = await self.store.import_rows(PARTS[kind], self._space_id, rows, **more)
        if kind == "memory":
            made = dict(zip(done["ids"], times, strict=True))
            self._taken = {id: at for id, at in (self._taken | made).items() if at == times[-1]}
        self.added[PARTS[kind]] += done["added"]
        self.seen[PARTS[kind]] += len(batch)
        self.told(PARTS[kind], self.seen[PARTS[kind]])
        for row, id, new in zip(batch, ids, done["ids"], strict=True):
            if new is not None and (kind != "message" or id in self.export.cited):
                self._ids[kind][id] = new
            if row.get("replaced_by") is not None:
                self._replaced[id] = row["replaced_by"]

    def _linked(self, row: Json) -> Json:
        """A row that refers to rows here; what it refers to and is not in the file, it refers to no more."""
        kinds = {
            "thread": "thread",
            "session": "session",
            "source": "message",
            "message": "message",
            "previous": "summary",
            "from_message": "message",
            "through_message": "message",
        }
        there: Json = {name: self._ids[kind].get(row[name]) for name, kind in kinds.items() if name in row}
        if row["type"] == "summary":  # it tells by numbers from where to where it goes, whether these are there or not
            there = {name: 0 if new is None and name != "previous" else new for name, new in there.items()}
        if row.get("evidence"):
            there["evidence"] = [new for old in row["evidence"] if (new := self._ids["message"].get(old)) is not None]
        return row | there

    def _moved(self, row: Json) -> Json:
        """A row of one person as another's."""
        old = self.export.space.owner_id
        if self.user_id is None or old is None:
            return row
        owned = ("user_id", "subject_id", "author_id", "chat_id", "promoted_by")
        row = row | {name: self.user_id for name in owned if row.get(name) == old}
        for name in ("changes", "reactions"):
            if name in row:
                row[name] = [self._moved(one) for one in row[name]]
        return row


@contextmanager
def _reading_rows() -> Iterator[None]:
    """What goes wrong here is the file's doing, and no fault of ours."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Altered from None


def _space(path: Path, row: Json) -> Space:
    """Whose memory it is, as the header says."""
    schema = str(row.get("schema") or "")
    if not schema.startswith("relay-export/"):
        raise ImportRefused(f"{path} is not an export of Relay.")
    if schema not in SCHEMAS:
        raise ImportRefused(f"{path} was made by a newer Relay ({row.get('relay')}). Upgrade this one first.")
    match row.get("space"):
        case {"kind": "private", "owner_id": int(owner), "chat_id": None} if owner is not True and 0 < owner < 2**63:
            return Space("private", owner_id=owner)
        case {"kind": "group", "owner_id": None, "chat_id": int(chat)} if -(2**63) <= chat < 0:
            return Space("group", chat_id=chat)
    raise ImportRefused(f"{path} does not say whose memory it is, as an export does. Nothing was changed.")


def _check_setting(path: Path, space: Space, row: Json) -> None:
    """What holds for everybody in a chat comes only with the memory of that chat. A private one has no places."""
    own = {"persona": space.owner_id or space.chat_id, "place": space.chat_id}
    if row["type"] in own and (own[row["type"]] is None or row["chat_id"] != own[row["type"]]):
        raise ImportRefused(f"{path} changes another chat than that whose memory it is. Nothing was changed.")


def _rows(path: Path) -> Iterator[Json]:
    """The rows of an export, the header first."""
    first = True
    try:
        with _opened(path) as file:
            while line := file.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise ImportRefused(f"{path} has a line of more than {LONGEST_LINE >> 20} MB, as no export has.")
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise _broken(path)
                first = False
                yield row
    except (ValueError, KeyError, IndexError, struct.error, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error):
        raise ImportRefused(f"{path} is not an export of Relay.") if first else _broken(path) from None
    except OSError as error:
        raise ImportRefused(f"{path} cannot be read: {error.strerror or error}.") from None


def _opened(path: Path) -> IO[bytes]:
    """The file's lines; of an archive, those of the file in it."""
    if path.suffix.lower() == ".zip":
        archive = zipfile.ZipFile(path)
        if archive.getinfo(LINES).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise zipfile.BadZipFile
        return archive.open(LINES)
    return path.open("rb")


def _broken(path: Path) -> ImportRefused:
    return ImportRefused(f"{path} is cut off or was altered: it does not hold all that it held. Nothing was changed.")
