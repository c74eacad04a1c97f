"""Applies `migrations/`: numbered files once and in order, function files whenever their text has changed. Everything
is a list of SQL scripts, each safe to repeat; `relay db sql` prints the same list."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import field
from pathlib import Path

from relay.core.errors import SchemaError
from relay.core.frozen import frozen
from relay.core.ports import Database
from relay.memory.calls.base import decode_row

Run = Callable[[str], Awaitable[None]]
"""Executes one SQL script in its own transaction."""

LOCK = 7_301_984_221
BOOTSTRAP = f"""select pg_advisory_xact_lock({LOCK});
create schema if not exists relay;
create schema if not exists extensions;
create table if not exists relay.migration (
    version integer primary key, name text not null, breaking boolean not null,
    applied_at timestamptz not null default now());
create table if not exists relay.function_file (
    name text primary key, hash text not null, applied_at timestamptz not null default now());
"""


@frozen
class Migration:
    """A numbered file. `-- breaking` as its first line shuts out older versions of Relay."""

    version: int
    name: str
    sql: str

    @property
    def breaking(self) -> bool:
        return self.sql.startswith("-- breaking")


@frozen
class Schema:
    """The contents of `migrations/`: numbered files, function files by name, and access rights."""

    migrations: tuple[Migration, ...]
    functions: dict[str, str]
    access: str

    @property
    def version(self) -> int:
        return self.migrations[-1].version

    @property
    def hashes(self) -> dict[str, str]:
        """Returns the hash of each function file and of the access rights, as the database stores it."""
        files = self.functions | {"access": self.access}
        return {name: hashlib.sha256(sql.encode()).hexdigest()[:16] for name, sql in files.items()}

    def scripts(self) -> list[str]:
        """Returns all scripts in order; repeating them changes nothing."""
        functions = self.functions | {"access": self.access}
        return [
            BOOTSTRAP,
            *(_make_repeatable(migration) for migration in self.migrations),
            # One script, so that no new function exists without its revokes (Supabase grants it to everyone).
            "\n".join(_function_script(name, sql, self.hashes[name]) for name, sql in functions.items())
            + _forget_others(functions),
        ]


def load() -> Schema:
    """Reads `migrations/`, from the installed package or from the checkout beside it."""
    here = Path(__file__).parents[1]
    root = here / "migrations" if (here / "migrations").is_dir() else here.parent / "migrations"
    numbered = [
        Migration(int(path.name[:4]), path.stem[5:], path.read_text("utf-8"))
        for path in sorted(root.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    ]
    functions = {path.stem: path.read_text("utf-8") for path in sorted((root / "functions").glob("*.sql"))}
    return Schema(tuple(numbered), functions, (root / "access.sql").read_text("utf-8"))


def _make_repeatable(migration: Migration) -> str:
    return f"""do $relay_once$ begin
perform pg_advisory_xact_lock({LOCK});
if not exists (select from relay.migration where version = {migration.version}) then
execute $relay_sql$
{migration.sql}
$relay_sql$;
insert into relay.migration (version, name, breaking)
values ({migration.version}, '{migration.name}', {str(migration.breaking).lower()});
end if;
end $relay_once$;
"""  # noqa: S608 — our own files


def _function_script(name: str, sql: str, digest: str) -> str:
    return f"""select pg_advisory_xact_lock({LOCK});
set local check_function_bodies = off;
{sql}
insert into relay.function_file (name, hash) values ('{name}', '{digest}')
on conflict (name) do update set hash = excluded.hash, applied_at = now();
"""  # noqa: S608 — our own files


def _forget_others(functions: Iterable[str]) -> str:
    """Forgets applied files with other names: a version that has them applies them again."""
    names = ", ".join(f"'{name}'" for name in functions)
    return f"delete from relay.function_file where name not in ({names});\n"  # noqa: S608 — our own files


@frozen
class PresentSchema:
    """The schema of a database."""

    version: int = 0
    """0: never migrated."""
    breaking: int = 0
    """The newest migration that older versions can't use."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """The hash of each function file."""
    moving: bool = False
    """A move or restore into it is unfinished."""


async def present(database: Database) -> PresentSchema:
    """Returns the schema that the database has."""
    try:
        return decode_row(PresentSchema, await database.call("schema"))
    except SchemaError:
        return PresentSchema()


def check(found: PresentSchema, schema: Schema) -> bool:
    """Tests whether the database is up to date. Raises `SchemaError` if only a newer Relay can use it."""
    if found.breaking > schema.version:
        raise SchemaError(
            f"This database was upgraded by a newer Relay (schema {found.version}; this one knows "
            f"{schema.version}). Upgrade Relay, or restore a backup from before the upgrade."
        )
    if found.version > schema.version:
        return True
    stored = found.functions
    return found.version == schema.version and all(stored.get(n) == h for n, h in schema.hashes.items())


async def migrate(database: Database, run: Run, again: bool = False) -> bool:
    """Brings the database up to date. Returns whether anything was done. Safe to repeat. `again`: also reapply an
    up-to-date schema, whose functions and grants someone has changed by hand."""
    schema = load()
    found = await present(database)
    if check(found, schema) and not (again and found.version == schema.version):
        return False
    bootstrap, *scripts = schema.scripts()
    if not found.version:  # there is no data that an earlier script could have saved: one commit instead of thirty
        scripts = ["\n".join(scripts)]
    for script in (bootstrap, *scripts):
        await run(script)
    return True


def print_sql() -> str:
    """Returns all SQL as one text for a SQL editor; safe to repeat. It has no comments and hardly any indentation:
    Supabase's editor takes 0.98 MB."""
    body = "\n".join(f"begin;\n{script}\ncommit;\n" for script in load().scripts())
    body = re.sub(r"(?m)^ +", " ", re.sub(r"(?m)^ *--.*\n", "", body))
    return re.sub(r"\n{3,}", "\n\n", body)
