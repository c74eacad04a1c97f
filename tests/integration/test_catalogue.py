"""Checks, by the database's catalogue, that the functions that move a group's rows handle every table."""

from __future__ import annotations

import re

import psycopg
import pytest

from tests.integration.conftest import TEMPLATE, Server

MERGED = {
    "space_id": ("merge_spaces", "move_memories", "merge_feedback"),
    "thread_id": ("merge_threads", "merge_judging", "refold_space"),
}
"""The functions that move a space's or a thread's rows to another one."""
RETIRED = {"summary_due", "title_due"}
"""Tables of older versions, now empty."""
COUNTED = {"lexeme", "lexeme_change"}
"""Tables that follow the entries by a trigger."""
TABLES = """select c.table_name from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where table_schema = 'relay' and t.table_type = 'BASE TABLE' and c.column_name = %s"""
DECLARED = {
    "space_id": "select name from relay.declared_tables() where declared ->> 'regroup' = 'follow'"
    " union select name from relay.artefact_kinds()",
    "thread_id": "select name from relay.artefact_kinds()",
}
"""Tables that declare it themselves."""
BODIES = "select string_agg(prosrc, ' ') from pg_proc where proname = any (%s)"


@pytest.mark.parametrize("column", MERGED)
def test_a_group_that_gets_another_id_keeps_the_rows_of_every_table(embedded: Server, column: str) -> None:
    with psycopg.connect(embedded.url(TEMPLATE, superuser=True)) as connection:
        tables = {str(name) for (name,) in connection.execute(TABLES.encode(), [column])}
        declared = {str(name) for (name,) in connection.execute(DECLARED[column].encode())}
        [(body,)] = connection.execute(BODIES.encode(), [list(MERGED[column])])
    taken = declared | set(re.findall(r"\b(?:update|delete from) (\w+)", body))
    assert {"turn", "memory"} < tables
    assert tables - COUNTED - RETIRED <= taken
