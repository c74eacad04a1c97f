"""migrations/: what holds of the files themselves, whatever database they meet."""

from __future__ import annotations

import re

import pytest

from relay.memory import migrations
from relay.memory.migrations import Present

SCHEMA = migrations.load()
FUNCTION = re.compile(r"create or replace function ((?:relay|public)\.\w+)\s*\((.*?)\)\s*returns(.*?)\$\$", re.S | re.I)


def functions() -> list[tuple[str, str, str]]:
    """(name, arguments, what stands between them and the body) of every function."""
    return [match for sql in SCHEMA.functions.values() for match in FUNCTION.findall(sql)]


def test_migrations_are_numbered_without_gap() -> None:
    assert [migration.version for migration in SCHEMA.migrations] == list(range(1, len(SCHEMA.migrations) + 1))
    assert SCHEMA.version == len(SCHEMA.migrations)


def test_every_function_is_found() -> None:
    text = "\n".join(SCHEMA.functions.values())
    assert len(functions()) == len(re.findall(r"\bcreate (?:or replace )?function\b", text, re.I)) > 40


@pytest.mark.parametrize("name", sorted(SCHEMA.functions))
def test_every_function_has_a_fixed_search_path_and_no_borrowed_rights(name: str) -> None:
    for function, _, head in FUNCTION.findall(SCHEMA.functions[name]):
        assert "set search_path = relay, extensions, pg_temp" in head, function
        assert "security definer" not in head.lower(), function


def test_functions_in_public_are_ours_by_name_and_return_json() -> None:
    for name, arguments, head in functions():
        if name.startswith("public."):
            assert name.startswith("public.relay_"), name
            assert head.split()[0] == "jsonb", name
            for argument in filter(None, (part.strip() for part in arguments.split(","))):
                assert argument.startswith("p_"), (name, argument)


def test_no_name_twice() -> None:
    names = [name for name, _, _ in functions()]
    assert len(names) == len(set(names))


def test_no_file_closes_the_quotes_it_travels_in() -> None:
    for migration in SCHEMA.migrations:
        assert "$relay_sql$" not in migration.sql
        assert "$relay_once$" not in migration.sql


def test_nothing_runs_sql_that_it_is_given() -> None:
    """There is no "run this SQL" function: what is executed is made by format() of names from the catalogue."""
    for name, sql in SCHEMA.functions.items():
        for found in re.findall(r"(?<!')\bexecute\b(?! function)[^;]*;", sql, re.I):
            assert "format(" in found or "execute relay.move_query(" in found, (name, found)


def test_the_hash_follows_the_text() -> None:
    changed = migrations.Schema(SCHEMA.migrations, SCHEMA.functions | {"soul": "select 1"}, SCHEMA.access + " ")
    different = {name for name in SCHEMA.hashes if SCHEMA.hashes[name] != changed.hashes[name]}
    assert different == {"soul", "access"}


def test_who_may_what_comes_last() -> None:
    assert SCHEMA.access in SCHEMA.scripts()[-1]


def test_the_printed_sql_is_whole_transactions() -> None:
    text = migrations.printed()
    assert (
        len(re.findall(r"^begin;$", text, re.M)) == len(re.findall(r"^commit;$", text, re.M)) == len(SCHEMA.scripts())
    )
    assert "pg_advisory_lock(" not in text


@pytest.mark.parametrize(
    ("found", "current"),
    [
        (Present(), False),
        (Present(SCHEMA.version, 1, SCHEMA.hashes), True),
        (Present(SCHEMA.version, 0, SCHEMA.hashes | {"soul": "old"}), False),
        (Present(SCHEMA.version, 0, SCHEMA.hashes | {"removed": "x"}), True),
        (Present(SCHEMA.version + 1), True),
    ],
)
def test_what_is_up_to_date(found: Present, current: bool) -> None:
    assert migrations.check(found, SCHEMA) is current
