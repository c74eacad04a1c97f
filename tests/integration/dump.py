"""Dumps a database as text, to search it for words that must be gone."""

from __future__ import annotations

from tests.integration.conftest import Sql

TABLES = """
select c.relname from pg_class c
where c.relnamespace = 'relay'::regnamespace and c.relkind = 'r' order by c.relname"""


async def dump(sql: Sql) -> dict[str, str]:
    """Returns every row of every table with all its columns: texts, JSON, arrays and text search vectors."""
    rows = {}
    for (table,) in await sql(TABLES):
        found = await sql(f'select t::text from relay."{table}" t')  # noqa: S608
        rows[table] = "\n".join(row for (row,) in found).lower()
    return rows


async def holding(sql: Sql, *words: str) -> dict[str, list[str]]:
    """Returns the tables that hold at least one of these words (ignoring case), each with the words that it holds."""
    everything = await dump(sql)
    found = {table: [word for word in words if word.lower() in text] for table, text in everything.items()}
    return {table: held for table, held in found.items() if held}
