"""The files in migrations/, checked without a database."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from relay.core.errors import SchemaError
from relay.memory import migrations
from relay.memory.migrations import PresentSchema

SCHEMA = migrations.load()
FUNCTION = re.compile(r"create or replace function ((?:relay|public)\.\w+)\s*\((.*?)\)\s*returns(.*?)\$\$", re.S | re.I)


def functions() -> list[tuple[str, str, str]]:
    """(name, arguments, text between them and the body) of every function."""
    return [match for sql in SCHEMA.functions.values() for match in FUNCTION.findall(sql)]


def test_migrations_are_numbered_without_gap() -> None:
    assert [migration.version for migration in SCHEMA.migrations] == list(range(1, len(SCHEMA.migrations) + 1))
    assert SCHEMA.version == len(SCHEMA.migrations)


def test_every_function_is_found() -> None:
    text = "\n".join(SCHEMA.functions.values())
    assert len(functions()) == len(re.findall(r"\bcreate (?:or replace )?function\b", text, re.I)) > 40


@pytest.mark.parametrize("name", sorted(SCHEMA.functions))
def test_every_function_has_a_fixed_search_path_and_its_callers_rights(name: str) -> None:
    for function, _, head in FUNCTION.findall(SCHEMA.functions[name]):
        assert "set search_path = relay, extensions, pg_temp" in head, function
        assert "security definer" not in head.lower(), function


def test_public_functions_start_with_relay_and_return_json() -> None:
    for name, arguments, head in functions():
        if name.startswith("public."):
            assert name.startswith("public.relay_"), name
            assert head.split()[0] == "jsonb", name
            for argument in filter(None, (part.strip() for part in arguments.split(","))):
                assert argument.startswith("p_"), (name, argument)


def test_function_names_are_unique() -> None:
    names = [name for name, _, _ in functions()]
    assert len(names) == len(set(names))


def test_no_migration_closes_the_quotes_around_it() -> None:
    for migration in SCHEMA.migrations:
        assert "$relay_sql$" not in migration.sql
        assert "$relay_once$" not in migration.sql


def test_no_function_runs_sql_from_its_arguments() -> None:
    """No function runs SQL that it is given: what it executes comes from format() and names from the catalogue."""
    for name, sql in SCHEMA.functions.items():
        for found in re.findall(r"(?<!')\bexecute\b(?! function)[^;]*;", sql, re.I):
            (variable,) = re.findall(r"execute (\w+) using", found) or [""]
            (built,) = re.findall(rf"\b{variable} constant text := ([^;]*);", sql) if variable else [found]
            assert re.search(r"format\(|relay\.move_(query|insertion)\(", built), (name, found)


def test_the_hash_follows_the_text() -> None:
    changed = migrations.Schema(SCHEMA.migrations, SCHEMA.functions | {"soul": "select 1"}, SCHEMA.access + " ")
    different = {name for name in SCHEMA.hashes if SCHEMA.hashes[name] != changed.hashes[name]}
    assert different == {"soul", "access"}


def test_access_rights_are_applied_last() -> None:
    assert SCHEMA.access in SCHEMA.scripts()[-1]


def test_the_printed_sql_is_whole_transactions() -> None:
    text = migrations.print_sql()
    assert (
        len(re.findall(r"^begin;$", text, re.M)) == len(re.findall(r"^commit;$", text, re.M)) == len(SCHEMA.scripts())
    )
    assert "pg_advisory_lock(" not in text


def test_the_printed_sql_is_taken_by_supabases_editor() -> None:
    """It refuses more than 0.98 MB: "Query is too large to be run via the SQL Editor". It sends the text as JSON."""
    assert len(json.dumps({"query": migrations.print_sql()}, ensure_ascii=False).encode()) < 0.98 * 2**20


def test_versions_that_cannot_read_a_context_are_shut_out() -> None:
    """Those before contexts read other fields of it. On a newer database they set every message aside."""
    breaking = max(migration.version for migration in SCHEMA.migrations if migration.breaking)
    assert breaking == 36
    before = replace(SCHEMA, migrations=SCHEMA.migrations[:34])
    with pytest.raises(SchemaError, match="Upgrade Relay, or restore a backup from before"):
        migrations.check(PresentSchema(SCHEMA.version, breaking), before)


@pytest.mark.parametrize(
    ("found", "current"),
    [
        (PresentSchema(), False),
        (PresentSchema(SCHEMA.version, 1, SCHEMA.hashes), True),
        (PresentSchema(SCHEMA.version, 0, SCHEMA.hashes | {"soul": "old"}), False),
        (PresentSchema(SCHEMA.version, 0, SCHEMA.hashes | {"removed": "x"}), True),
        (PresentSchema(SCHEMA.version + 1), True),
    ],
)
def test_a_schema_is_current_only_if_version_and_hashes_agree(found: PresentSchema, current: bool) -> None:
    assert migrations.check(found, SCHEMA) is current
