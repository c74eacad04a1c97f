"""Checks the database: reachable, new enough, complete, closed to others, and its queue. Changes nothing."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Sequence

from relay.clients.embedded.cluster import Cluster
from relay.core.errors import DatabaseError, SchemaError, SettingsError
from relay.core.frozen import frozen
from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.core.text import pluralize
from relay.memory import migrations
from relay.memory.rows.operations import Examination, WorkState
from relay.memory.store import Store
from relay.runtime.storage import TWO_WAYS, Storage, open_storage
from relay.surfaces.cli.doctor.finding import Finding, failed, of_error, ok, skip_until, skipped, warning

NAMES = ("database", "schema", "extensions", "access", "work")
NEEDS = ("DATABASE_URL", "SUPABASE_URL", "SUPABASE_SERVICE_ROLE_KEY", "RELAY_DATA_DIR")
SECONDS = 90.0
SLOW_MS = 500
LATE_SECONDS = 300
AGAIN = f"`{RELAY} db migrate --again` repairs it."
TWO_WAYS_AGAIN = f"Paste the output of `{RELAY} db sql` into the project's SQL editor to repair it."


@frozen
class DatabaseReport:
    """The findings, and what other checks need: `work` is None if the database could not be read."""

    findings: list[Finding]
    work: WorkState | None = None
    since: str = ""


async def look(settings: Settings) -> DatabaseReport:
    """Opens the configured database and checks it, without changes."""
    try:
        if not settings.supabase_url and not settings.database_url and not Cluster(settings.data_dir).exists:
            return _skip_rest("Relay's own; created at the first start")
        async with open_storage(settings) as opened:
            return await _check_inside(opened, settings)
    except (DatabaseError, SettingsError) as error:
        return _skip_rest(of_error("database", error, _suggest_fix(settings)))


def _suggest_fix(settings: Settings) -> str:
    if settings.supabase_url:
        return "Check the project's dashboard, SUPABASE_URL, and the key."
    if settings.database_url:
        return "Check DATABASE_URL, and that the server is running and reachable from this machine."
    return f"The server's log is {settings.data_dir / 'postgres.log'}."


def _skip_rest(first: Finding | str) -> DatabaseReport:
    """The findings without a database."""
    why = "fix the database first"
    if isinstance(first, str):
        first, why = skipped("database", first), "there is no database yet"
    return DatabaseReport([first, *(skipped(name, f"not checked: {why}") for name in NAMES[1:])])


async def _check_inside(opened: Storage, settings: Settings) -> DatabaseReport:
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
            schema = _find_missing(seen, again) or schema
        work = await store.examine_work()
    except DatabaseError as error:
        if schema.state == "ok":
            gone = isinstance(error, SchemaError)
            schema = failed("schema", "some functions are missing", again) if gone else of_error("schema", error, again)
    findings = [
        _server(opened, seen, milliseconds),
        schema,
        *([_extensions(seen), _access(seen, again)] if seen else skip_until("the schema", ("extensions", "access"))),
        *([check_work(work)] if work else skip_until("the schema", ["work"])),
    ]
    return DatabaseReport(findings, work, str(seen.since.isoformat() if seen and seen.since else ""))


def _server(opened: Storage, seen: Examination | None, milliseconds: float) -> Finding:
    number = seen.number if seen else int(getattr(opened.database, "server", 0))
    version = f"PostgreSQL {number // 10000}.{number % 10000}"
    size = f", {seen.bytes / 1e6:,.0f} MB" if seen else ""
    place = opened.label.partition(",")[0]
    said = f"{place}, {version if number else 'reachable'}{size}, answers in {milliseconds:,.0f} ms"
    if milliseconds > SLOW_MS:
        return warning(
            "database", said, "Each answer takes several queries. A database closer to this machine makes Relay faster."
        )
    return ok("database", said)


def _schema(found: migrations.PresentSchema, opened: Storage, settings: Settings) -> Finding:
    """Checks that the tables and functions belong to this version."""
    schema = migrations.load()
    try:
        current = migrations.check(found, schema)
    except SchemaError as error:
        return of_error("schema", error)
    if found.moving:
        said = f"a `{RELAY} move` or `restore` into this database is under way or was interrupted"
        return failed("schema", said, "If it was interrupted, run the same command again.")
    if current:
        newer = f", newer than this Relay's {schema.version} but compatible" if found.version > schema.version else ""
        return ok("schema", f"version {found.version}{newer}")
    state = f"version {found.version} is older than this Relay's" if found.version else "not created yet"
    if opened.run is None and not settings.database_url:
        return failed("schema", state, TWO_WAYS)
    if not found.version:
        return skipped("schema", "not created yet; the first start creates it")
    return warning("schema", f"{state}; the next start upgrades it", f"`{RELAY} db migrate` upgrades it now.")


def _find_missing(seen: Examination, again: str) -> Finding | None:
    """Finds tables and functions that were removed by hand."""
    schema = migrations.load()
    made = [one.sql for one in schema.migrations]
    renamed = dict(pair for sql in made for pair in re.findall(r"alter table relay\.(\w+) rename to (\w+);", sql))
    tables = {renamed.get(name, name) for name in _find_names(r"create table (?:if not exists )?relay\.(\w+)", made)}
    functions = _find_names(r"create or replace function (?:relay|public)\.(\w+)", list(schema.functions.values()))
    if gone := sorted(tables - set(seen.tables)):
        fix = "Restore a backup. The rows of the table are lost."
        return failed("schema", f"the table {gone[0]} is missing{_count_others(gone)}", fix)
    if gone := sorted(functions - set(seen.functions)):
        return failed("schema", f"the function {gone[0]} is missing{_count_others(gone)}", again)
    return None


def _find_names(pattern: str, texts: list[str]) -> set[str]:
    return {name for text in texts for name in re.findall(pattern, text, re.IGNORECASE)}


def _count_others(names: Sequence[str]) -> str:
    return f", and {len(names) - 1} more" if len(names) > 1 else ""


def _extensions(seen: Examination) -> Finding:
    needed = sorted(
        _find_names(r"create extension if not exists (\w+)", [one.sql for one in migrations.load().migrations])
    )
    there = seen.extensions
    if gone := [name for name in needed if name not in there]:
        commands = " ".join(f"create extension {name} schema extensions;" for name in gone)
        said = f"{' and '.join(gone)} {'is' if len(gone) == 1 else 'are'} missing, so search does not work"
        return failed("extensions", said, f"Run in psql or the project's SQL editor: {commands}")
    return ok("extensions", ", ".join(f"{name} {there[name]}" for name in needed))


def _access(seen: Examination, again: str) -> Finding:
    if openings := seen.open:
        return failed("access", f"{openings[0]}{_count_others(openings)}", again)
    return ok("access", "only Relay has access")


def check_work(work: WorkState) -> Finding:
    """Checks the queue: present incidents, failed jobs, waiting messages."""
    if incidents := work.incidents:
        more = f" And {len(incidents) - 1} more." if len(incidents) > 1 else ""
        return warning("work", f"{incidents[0]}{more}", "/status in a chat with the bot shows more.")
    if set_aside := work.set_aside:
        said = f"{pluralize(set_aside, 'message')} could not be answered in the last day"
        return warning("work", said, "Relay's log says why. Their senders can ask again.")
    if work.parked:
        jobs = ", ".join(f"{one.jobs} × {one.kind} ({one.last_error})" for one in work.parked)
        return warning("work", f"background jobs failed for good in the last week: {jobs}", "Relay's log says why.")
    if work.waiting and (work.waiting_seconds or 0) > LATE_SECONDS:
        minutes = int((work.waiting_seconds or 0) // 60)
        said = f"{pluralize(work.waiting, 'message')} waiting, the oldest for {minutes} min"
        return warning("work", said, f"`{RELAY} run` answers them. If it is running, its log says what is wrong.")
    return ok("work", f"{pluralize(work.waiting, 'message')} waiting; all others of the last day were answered")
