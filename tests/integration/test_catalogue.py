"""What each table must be known to, by the database's own catalogue: a new one is forgotten nowhere."""

from __future__ import annotations

import re

import psycopg
import pytest

from tests.integration.conftest import TEMPLATE, Server

MERGED = {
    "space_id": (
        "merge_spaces",
        "move_memories",
        "merge_feedback",
    ),
    "thread_id": ("merge_threads", "merge_judging", "refold_space"),
}
"""What takes the rows of a space, and of a thread, over into another one."""
RETIRED = {"summary_due", "title_due"}
"""Tables of older versions, which are empty now."""
COUNTED = {"lexeme", "lexeme_change"}
"""Follows the entries, by their trigger."""
TABLES = """select c.table_name from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where table_schema = 'relay' and t.table_type = 'BASE TABLE' and c.column_name = %s"""
DECLARED = {
    "space_id": "select name from relay.declared_tables() where declared ->> 'regroup' = 'follow'",
    "thread_id": "select name from relay.artefact_kinds()",
}
"""Tables that say so themselves."""
BODIES = "select string_agg(prosrc, ' ') from pg_proc where proname = any (%s)"


@pytest.mark.parametrize("column", MERGED)
def test_a_group_that_gets_another_id_takes_the_rows_of_every_table_along(embedded: Server, column: str) -> None:
    with psycopg.connect(embedded.url(TEMPLATE, superuser=True)) as connection:
        tables = {str(name) for (name,) in connection.execute(TABLES.encode(), [column])}
        declared = {str(name) for (name,) in connection.execute(DECLARED[column].encode())}
        [(body,)] = connection.execute(BODIES.encode(), [list(MERGED[column])])
    taken = declared | set(re.findall(r"\b(?:update|delete from) (\w+)", body))
    assert {"turn", "memory"} < tables
    assert tables - COUNTED - RETIRED <= taken
