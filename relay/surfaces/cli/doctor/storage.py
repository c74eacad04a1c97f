"""Checks the database: reachable, new enough, complete, closed to others, and its queue. Changes nothing."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from relay.core.errors import DatabaseError, SchemaError, SettingsError
from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.memory import migrations
from relay.memory.rows.operations import Examination, WorkState
from relay.memory.store import Store
from relay.runtime.storage import TWO_WAYS, Storage, open_storage
from relay.surfaces.cli.doctor.finding import Finding, failed, of_error, ok, skipped, warning

NAMES = ("database", "schema", "extensions", "access", "work")
NEEDS = ("DATABASE_URL", "SUPABASE_URL", "SUPABASE_SERVICE_ROLE_KEY", "RELAY_DATA_DIR")
SECONDS = 90.0
OLDEST = 15
SLOW_MS = 500
LATE_SECONDS = 300
AGAIN = f"`{RELAY} db migrate --again` puts it right."
TWO_WAYS_AGAIN = f"Paste what `{RELAY} db sql` prints into the project's SQL editor: that puts it right."


@dataclass(frozen=True, slots=True)
class Look:
    """What was found, and what other checks ask of it: `work` is None where the database could not tell."""

    findings: list[Finding]
    work: WorkState | None = None
    since: str = ""


async def look(settings: Settings) -> Look:
    """Opens the configured database and checks it, without changes."""
    try:
        if not settings.supabase_url and not settings.database_url and not _made(settings):
            return _not_there("Relay's own; made at the first start")
        async with open_storage(settings) as opened:
            return await _inside(opened, settings)
    except (DatabaseError, SettingsError) as error:
        return _not_there(of_error("database", error, _way_out(settings)))


def _made(settings: Settings) -> bool:
    from relay.clients.embedded.cluster import Cluster

    return Cluster(settings.data_dir).exists


def _way_out(settings: Settings) -> str:
    if settings.supabase_url:
        return "Look at the project's dashboard, and check SUPABASE_URL and the key."
    if settings.database_url:
        return "Check that the server runs, that this machine reaches it, and DATABASE_URL."
    return f"The server's log is {settings.data_dir / 'postgres.log'}."


def _not_there(first: Finding | str) -> Look:
    """The findings without a database."""
    if isinstance(first, str):
        first = skipped("database", first)
    return Look([first, *(skipped(name, "not looked at: the database comes first") for name in NAMES[1:])])


async def _inside(opened: Storage, settings: Settings) -> Look:
    store = Store(opened.database, "")
    found = await migrations.present(opened.database)
    begun = time.monotonic()
    with contextlib.suppress(SchemaError):
        await opened.database.call("ping")
    milliseconds = (time.monotonic() - begun) * 1000
    schema = _schema(found, opened, settings)
    again = AGAIN if opened.run is not None or settings.database_url else TWO_WAYS_AGAIN
    seen: Examination | None = None
    work: WorkState | None = None
    try:
        seen = await store.examine()
        if schema.state == "ok":
            schema = _complete(seen, again) or schema
        work = await store.examine_work()
    except DatabaseError as error:
        if schema.state == "ok":
            gone = isinstance(error, SchemaError)
            schema = failed("schema", "some functions are gone", again) if gone else of_error("schema", error, again)
    findings = [
        _server(opened, seen, milliseconds),
        schema,
        *((_extensions(seen), _access(seen, again)) if seen is not None else _later("extensions", "access")),
        work_of(work) if work is not None else _later("work")[0],
    ]
    return Look(findings, work, str(seen.since.isoformat() if seen and seen.since else ""))


def _later(*names: str) -> tuple[Finding, ...]:
    return tuple(skipped(name, "not looked at: the schema comes first") for name in names)


def _server(opened: Storage, seen: Examination | None, milliseconds: float) -> Finding:
    number = seen.number if seen else int(getattr(opened.database, "server", 0))
    version = f"PostgreSQL {number // 10000}.{number % 10000}"
    if number and number // 10000 < OLDEST:
        return failed("database", f"{version} is too old", f"Relay needs PostgreSQL {OLDEST} or newer.")
    size = f", {seen.bytes / 1e6:,.0f} MB" if seen else ""
    place = opened.label.partition(",")[0]
    said = f"{place}, {version if number else 'reachable'}{size}, answers in {milliseconds:,.0f} ms"
    if milliseconds > SLOW_MS:
        return warning("database", said, "Each answer asks it several times: a database nearer by makes Relay quicker.")
    return ok("database", said)


def _schema(found: migrations.Present, opened: Storage, settings: Settings) -> Finding:
    """Checks that its tables and functions are this version's."""
    schema = migrations.load()
    try:
        current = migrations.check(found, schema)
    except SchemaError as error:
        return of_error("schema", error)
    if found.moving:
        fix = "Run it again, with the source in the settings: it goes on from there."
        return failed("schema", f"`{RELAY} move` into this database was interrupted", fix)
    if current:
        newer = f", newer than this Relay's {schema.version}, which it fits" if found.version > schema.version else ""
        return ok("schema", f"version {found.version}{newer}")
    state = f"version {found.version} is older than this Relay's" if found.version else "not there yet"
    if opened.run is None and not settings.database_url:
        return failed("schema", state, TWO_WAYS)
    if not found.version:
        return skipped("schema", "not there yet; made at the first start")
    return warning("schema", f"{state}; the next start changes it", f"`{RELAY} db migrate` does it now.")


def _complete(seen: Examination, again: str) -> Finding | None:
    """Finds tables and functions that were removed by hand."""
    schema = migrations.load()
    made = [one.sql for one in schema.migrations]
    renamed = dict(pair for sql in made for pair in re.findall(r"alter table relay\.(\w+) rename to (\w+);", sql))
    tables = {renamed.get(name, name) for name in _named(r"create table (?:if not exists )?relay\.(\w+)", made)}
    functions = _named(r"create or replace function (?:relay|public)\.(\w+)", list(schema.functions.values()))
    if gone := sorted(tables - set(seen.tables)):
        fix = "Restore a backup: its rows are gone with it."
        return failed("schema", f"the table {gone[0]} is gone{_others(gone)}", fix)
    if gone := sorted(functions - set(seen.functions)):
        return failed("schema", f"the function {gone[0]} is gone{_others(gone)}", again)
    return None


def _named(pattern: str, texts: list[str]) -> set[str]:
    return {name for text in texts for name in re.findall(pattern, text, re.IGNORECASE)}


def _others(names: Sequence[str]) -> str:
    return f", and {len(names) - 1} more" if len(names) > 1 else ""


def _extensions(seen: Examination) -> Finding:
    needed = sorted(_named(r"create extension if not exists (\w+)", [one.sql for one in migrations.load().migrations]))
    there = seen.extensions
    if gone := [name for name in needed if name not in there]:
        commands = " ".join(f"create extension {name} schema extensions;" for name in gone)
        said = f"{' and '.join(gone)} {'is' if len(gone) == 1 else 'are'} missing, so searching does not work"
        return failed("extensions", said, f"In its SQL editor or psql: {commands}")
    return ok("extensions", ", ".join(f"{name} {there[name]}" for name in needed))


def _access(seen: Examination, again: str) -> Finding:
    if doors := seen.open:
        return failed("access", f"{doors[0]}{_others(doors)}", again)
    return ok("access", "closed to everybody but Relay")


def work_of(work: WorkState) -> Finding:
    """Checks the queue: present incidents, failed jobs, waiting messages."""
    if incidents := work.incidents:
        more = f" And {len(incidents) - 1} more." if len(incidents) > 1 else ""
        return warning("work", f"{incidents[0]}{more}", "/status in a chat with the bot tells more.")
    if set_aside := work.set_aside:
        said = f"{set_aside} {'answer was' if set_aside == 1 else 'answers were'} given up in the last day"
        return warning("work", said, "Relay's log tells why; the people concerned have a Retry button.")
    if work.parked:
        jobs = ", ".join(f"{one.jobs} × {one.kind} ({one.last_error})" for one in work.parked)
        return warning("work", f"background jobs failed for good in the last week: {jobs}", "Relay's log tells more.")
    if work.waiting and (work.waiting_seconds or 0) > LATE_SECONDS:
        minutes = int((work.waiting_seconds or 0) // 60)
        said = f"{work.waiting} messages wait, the oldest for {minutes} min"
        return warning("work", said, f"`{RELAY} run` answers them; if it runs, its log tells what holds it up.")
    return ok("work", f"{work.waiting} messages wait, nothing was given up in the last day")
