"""Copies a database into another. A copy can be resumed and is compared at the end; the source is only read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from relay.archive.move_rows import BegunMove, Digest, MovedTable, MovePage, MoveState, StoredRows, TableSum
from relay.core.errors import RelayError, SchemaError
from relay.core.frozen import frozen
from relay.core.ports import Database
from relay.core.program import RELAY
from relay.core.tasks import cancel
from relay.memory.calls.base import Row, decode_row
from relay.memory.retrying_database import call_until_reached

MOST_ROWS = 2_000
DIGEST_ROWS = 20_000
LEAST_BYTES, FIRST_BYTES, MOST_BYTES = 16_384, 131_072, 524_288
"""The sizes of a page in bytes: the smallest, the first and the largest. The size is adjusted to how long storing a
page takes."""
HINT = "The copied rows stay. Run the same command again to continue."


class MoveRefused(RelayError):
    """The move can't be made now."""


class MoveDiffers(RelayError):
    """The two sides are not the same after a move."""


class Watcher(Protocol):
    """Observes progress."""

    def report(self, step: str, table: str, rows: int, of: int) -> None:
        """Called when `step` (Copying, Reading, Checking, Storing, Comparing) has reached `rows` of about `of` rows of
        a table."""
        ...

    def say(self, sentence: str) -> None:
        """Called with a notable event."""
        ...


@frozen
class ComparedTable:
    """A table on both sides."""

    table: str
    rows: int
    same: bool


@dataclass(slots=True)
class PageSize:
    """The size of a page in bytes, adjusted to how long storing one takes."""

    bytes: int = FIRST_BYTES

    def adjust(self, seconds: float) -> None:
        """Halves or doubles the size after a page that took long, or little."""
        if seconds > 0.7:
            self.bytes = max(LEAST_BYTES, self.bytes // 2)
        elif seconds < 0.2:
            self.bytes = min(MOST_BYTES, self.bytes * 2)


async def sum_table(
    call: Callable[..., Awaitable[Any]], table: str, told: Callable[[int, bool], None] = lambda rows, end: None
) -> TableSum:
    """Returns a table's row count and summed checksums. `call`: calls a function of the database. `told` is called with
    the rows so far, and whether these are all."""
    total, after = TableSum(), None
    while True:
        page = decode_row(Digest, await call("move_digest", table=table, after=after, most_rows=DIGEST_ROWS))
        total.rows, total.sum, after = total.rows + page.rows, total.sum + page.sum, page.last
        told(total.rows, page.end)
        if page.end:
            return total


async def read_ahead(
    read: Callable[[list[str] | None], Awaitable[MovePage]], after: list[str] | None = None
) -> AsyncGenerator[MovePage, None]:
    """Yields a table's pages that have rows, from a key on. The next page is read while one is used."""
    coming = asyncio.ensure_future(read(after))
    try:
        while (page := await coming).rows:
            if not page.end:
                coming = asyncio.ensure_future(read(page.last))
            yield page
            if page.end:
                return
    finally:
        await cancel(coming)


@dataclass(slots=True)
class Transfer:
    """A move from `source` to `target`; both have this Relay's schema."""

    source: Database
    target: Database
    watcher: Watcher
    source_id: str = ""
    finished: bool = False
    """Whether the move was finished before, so that it only compares."""
    _size: PageSize = field(default_factory=PageSize)

    async def run(self, replace: bool = False) -> list[ComparedTable]:
        """Moves, or resumes an interrupted move. `replace`: the target's data may be deleted. Raises `MoveRefused`,
        `MoveDiffers` if the copy differs from the source, and the database's errors. It can be run again after any
        of them."""
        here, there = await self._states()
        self.source_id = here.id
        begun = await self._call(self.target, "move_begin", source=self.source_id, replace=replace)
        if begun is False:
            raise MoveRefused("Relay was just started on the target. Stop it and run this again.")
        if begun is None:
            raise MoveRefused(_explain_occupied(here, there))
        move = decode_row(BegunMove, begun)
        self.finished, done = move.state == "done", sum(table.rows for table in move.progress.values())
        if self.finished:
            self.watcher.say(f"This move was finished on {_minute(move.done_at)}. Comparing again.")
        elif done:
            self.watcher.say(f"Continuing the move of {_minute(move.began_at)}: {done:,} rows are already copied.")
        if not self.finished:
            for table in here.tables:
                await self._copy(table, move.progress.get(table.name) or StoredRows(0))
        compared = [await self._compare(table) for table in here.tables]
        if different := [table.table for table in compared if not table.same]:
            await self._call(self.target, "move_restart", source=self.source_id)
            raise MoveDiffers(_different(different, self.finished))
        numbers = (await self._fetch(MoveState, self.source, "move_state")).numbers
        await self._call(self.target, "move_finish", source=self.source_id, numbers=numbers)
        return compared

    async def _states(self) -> tuple[MoveState, MoveState]:
        """Returns both sides' descriptions. Raises `MoveRefused` if a move can't begin."""
        here = await self._fetch(MoveState, self.source, "move_state")
        there = await self._fetch(MoveState, self.target, "move_state")
        if here.id == there.id:
            raise MoveRefused("The source and the target are the same database, or one is a copy of the other.")
        if here.unfinished:
            raise MoveRefused(
                "A move into the source was not finished, so its data is incomplete. Finish that move first, or move "
                "from the original database."
            )
        for state, side in ((here, "source"), (there, "target")):
            if state.leased:
                raise MoveRefused(
                    f"Relay is running on the {side}. Stop it and run this again. (If it was killed, wait "
                    f"{state.leased_seconds} s until its leases expire.)"
                )
        shapes = [{table.name: table.columns for table in state.tables} for state in (here, there)]
        if shapes[0] != shapes[1]:
            raise SchemaError(f"The source and the target have different schemas. Run `{RELAY} db migrate` on both.")
        return here, there

    async def _copy(self, table: MovedTable, progress: StoredRows) -> None:
        """Copies a table from where `progress` is."""
        name, after, rows = table.name, progress.after, progress.rows
        self.watcher.report("Copying", name, rows, max(rows, table.size))
        async with aclosing(read_ahead(partial(self._page, name), after)) as pages:
            async for page in pages:
                rows = await self._store(name, after, page)
                after = page.last
                self.watcher.report("Copying", name, rows, max(rows, table.size))
        self.watcher.report("Copying", name, rows, rows)

    async def _page(self, table: str, after: list[str] | None) -> MovePage:
        more = {"most_rows": MOST_ROWS, "most_bytes": self._size.bytes}
        return await self._fetch(MovePage, self.source, "move_page", table=table, after=after, **more)

    async def _store(self, table: str, after: list[str] | None, page: MovePage) -> int:
        """Stores a page; returns how many of the table's rows are stored."""
        began = time.monotonic()
        given = {"source": self.source_id, "table": table, "after": after, "page": asdict(page)}
        there = await self._fetch(StoredRows, self.target, "move_insert", **given)
        if there.after != page.last:
            raise MoveRefused(f"Another `{RELAY} move` is already writing to the target.")
        self._size.adjust(time.monotonic() - began)
        return there.rows

    async def _compare(self, table: MovedTable) -> ComparedTable:
        def told(rows: int, end: bool) -> None:
            self.watcher.report("Comparing", table.name, rows, rows if end else max(rows, table.size))

        ours, theirs = await asyncio.gather(
            sum_table(partial(self._call, self.source), table.name, told),
            sum_table(partial(self._call, self.target), table.name),
        )
        return ComparedTable(table.name, ours.rows, ours == theirs)

    async def _fetch(self, row: type[Row], side: Database, function: str, **arguments: Any) -> Row:
        return decode_row(row, await self._call(side, function, **arguments))

    async def _call(self, side: Database, function: str, **arguments: Any) -> Any:
        """Calls a function, retrying while the database can't be reached."""
        return await call_until_reached(side, function, arguments, self.watcher.say, HINT)


def _minute(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M}" if at else "an unknown day"


def _explain_occupied(here: MoveState, there: MoveState) -> str:
    """Explains why a target with data is refused."""
    came_from = next((move for move in here.moves if move.source_id == there.id), None)
    unfinished = next((move for move in there.moves if move.state != "done"), None)
    if came_from:
        what = (
            f"This data was moved from the target on {_minute(came_from.done_at)[:10]}. The target still contains it "
            "(and anything that a bot has added since)."
        )
    elif unfinished:
        what = f"Another move into the target of {unfinished.began_at:%Y-%m-%d} was not finished."
    else:
        held = f"about {messages:,} messages" if (messages := there.sizes.get("message")) else "no messages yet"
        what = f"The target already contains data ({held})."
    return f"{what} Nothing was changed. To delete all of it for good, add --replace."


def _different(tables: list[str], finished_before: bool) -> str:
    names = ", ".join(tables)
    if finished_before:
        return (
            f"The move was finished, but one of the sides has changed since then: {names}. To delete the target's data "
            "and move again, add --replace."
        )
    return (
        f"The two sides differ: {names}. The source has probably changed since then. (Is a bot still running on it?) "
        "Stop it and run this again; the move starts over. Until then, keep using the source."
    )
