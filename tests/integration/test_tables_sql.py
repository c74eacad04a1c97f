"""Checks that every table declares what it holds and how its texts are erased, by the database's catalogue."""

from __future__ import annotations

import re

import psycopg
import pytest

from tests.integration.conftest import TEMPLATE, Server
from tests.integration.inside import Json

COLUMNS = """select c.relname, array_agg(a.attname::text) filter (where format_type(a.atttypid, null) = any (%s)),
        array_agg(a.attname::text)
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'relay'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition group by 1"""
TEXTS = ["text", "text[]", "jsonb", "jsonb[]", "tsvector", "vector", "halfvec", "bit varying"]
CLASSES = {"local", "canonical", "operational", "derived"}
ERASED = {"deleted", "blanked", "swept", "remade", "kept"}
RETIRED = {"summary_due", "title_due"}
"""Tables of older versions, now empty."""


@pytest.fixture
def catalogue(embedded: Server) -> tuple[dict[str, Json], dict[str, tuple[set[str], set[str]]], str]:
    """Returns the tables' declarations, their text columns and all columns, and the bodies of the erasing functions."""
    with psycopg.connect(embedded.url(TEMPLATE, superuser=True)) as connection:
        declared = dict(connection.execute("select name, declared from relay.declared_tables()").fetchall())
        rows = connection.execute(COLUMNS.encode(), [TEXTS]).fetchall()
        [(erasing,)] = connection.execute(
            "select string_agg(prosrc, ' ') from pg_proc where prosrc ~ '(delete from|update) '"
        ).fetchall()
    return declared, {str(name): (set(texts or ()), set(every)) for name, texts, every in rows}, str(erasing)


Catalogue = tuple[dict[str, Json], dict[str, tuple[set[str], set[str]]], str]


def test_every_table_is_declared(catalogue: Catalogue) -> None:
    declared, columns, _ = catalogue
    assert set(columns) == set(declared)
    assert {one["class"] for one in declared.values()} <= CLASSES


def test_everything_a_table_declares_exists(catalogue: Catalogue) -> None:
    declared, columns, _ = catalogue
    for name, one in declared.items():
        texts, every = columns[name]
        assert set(one.get("words", ())) <= texts, name
        assert {one["space"]} <= every if "space" in one else True, name
        assert set(one.get("off_record", {}).get("instead", ())) <= every, name
        if one.get("regroup") == "follow" or one.get("erased") == "swept":
            assert "space_id" in every, name


def test_words_are_erased_or_the_table_says_why_not(catalogue: Catalogue) -> None:
    declared, _, erasing = catalogue
    for name, one in declared.items():
        if "words" not in one:
            continue
        assert one.get("erased") in ERASED, name
        if one["erased"] == "kept":
            assert one["why"], name
        if one["erased"] == "deleted" and name not in RETIRED and "artefact" not in one:
            assert re.search(rf"\bdelete from (relay\.)?{name}\b", erasing), name
        if one["erased"] == "blanked":
            assert re.search(rf"\bupdate (relay\.)?{name}\b", erasing), name


def test_canonical_tables_of_a_space_are_exported(catalogue: Catalogue) -> None:
    declared, _, _ = catalogue
    for name, one in declared.items():
        if one["class"] == "canonical" and "space" in one:
            assert one.get("exported"), name


def test_every_text_column_is_declared(catalogue: Catalogue) -> None:
    declared, columns, _ = catalogue
    unknown = {
        f"{name}.{text}"
        for name, (texts, _) in columns.items()
        if declared[name]["class"] != "local" and name not in RETIRED
        for text in texts - set(declared[name].get("words", ())) - set(declared[name].get("other", ()))
    }
    assert unknown == set()
