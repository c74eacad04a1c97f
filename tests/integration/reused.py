"""Databases that one test after another uses. Each test finds its database as a migration leaves it, but with open
connections, whose caches and plans are warm: on new connections, the first calls take most of a test's time."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any, ClassVar, Self

import psycopg
from psycopg.pq import TransactionStatus

PREPARE = """
create schema reused;
create sequence reused.changes;
create function reused.note_change() returns event_trigger language plpgsql security definer as $$
    begin perform nextval('reused.changes'); end $$;
do $do$ declare
    tables regclass[] := array(
        select oid from pg_class where relnamespace = 'relay'::regnamespace and relkind = 'r' order by oid);
    one regclass;
    columns text;
    filled boolean;
    script text := '';
begin
    foreach one in array tables loop
        script := script || format('delete from %s; ', one);
    end loop;
    foreach one in array tables loop
        execute format('select exists (select from %s)', one) into filled;
        continue when not filled;
        select string_agg(quote_ident(attname), ', ') into columns from pg_attribute
            where attrelid = one and attnum > 0 and not attisdropped and attgenerated = '';
        execute format('create table reused.%I as select %s from %s', one::oid::text, columns, one);
        script := script || format('insert into %s (%s) overriding system value select * from reused.%I; ',
            one, columns, one::oid::text);
    end loop;
    select script || string_agg(format('perform setval(%L, %s, %L); ', format('%I.%I', schemaname, sequencename),
        coalesce(last_value, start_value), last_value is not null), '') into script
        from pg_sequences where schemaname = 'relay';
    execute format('create function reused.empty() returns void language plpgsql as %L', 'begin ' || script || 'end');
end $do$;
create event trigger note_command on ddl_command_end execute function reused.note_change();
create event trigger note_drop on sql_drop execute function reused.note_change();
set session_replication_role = replica;
set lock_timeout = '2s';
"""
"""Writes a function that deletes all rows but those that migrations inserted, and counts changes of the schema from
now on. In this session, no trigger of Relay's runs."""

AS_MADE = """
select not (select is_called from reused.changes)
    and not exists (select from pg_statistic where starelid >= 16384)
    and not exists (
        select from pg_database d left join pg_db_role_setting on setdatabase = d.oid
        where datname = current_database() and (setdatabase is not null or datacl is not null))
    and not exists (
        select from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and pid <> all(%s))
    and (
        select sum(pg_relation_size(oid)) < 16 * 1024 * 1024 from pg_class
        where relnamespace = 'relay'::regnamespace and relkind = 'r')
"""
"""Whether a test left the schema and the settings alone, analyzed no table, left no other connection and wrote little:
emptied tables keep their size."""

RESET = """
set session authorization default; reset all; close all; select pg_advisory_unlock_all(); discard temp;
discard sequences
"""


class KeptConnection(psycopg.AsyncConnection[Any]):
    """A connection that the next test gets when it is closed."""

    kept: ClassVar[defaultdict[str, list[KeptConnection]]] = defaultdict(list)
    """Connections that nobody uses, by URL."""
    url = ""

    @classmethod
    async def connect(cls, conninfo: str = "", **options: Any) -> Self:  # type: ignore[override]
        while idle := cls.kept[conninfo]:
            connection: Any = idle.pop()
            if not connection.closed:
                connection.lock = asyncio.Lock()  # the present one belongs to the event loop of another test
                return connection
        made = await super().connect(conninfo, **options)
        made.url = conninfo
        return made

    async def close(self) -> None:
        if not self.closed and self.info.transaction_status == TransactionStatus.IDLE:
            await self.execute(RESET, prepare=False)
            self.kept[self.url].append(self)
        else:
            await super().close()

    @classmethod
    def pids(cls, *urls: str) -> list[int]:
        """Returns the server processes of the kept connections."""
        return [connection.info.backend_pid for url in urls for connection in cls.kept[url] if not connection.closed]

    @classmethod
    def close_all(cls, *urls: str) -> None:
        for url in urls:
            for connection in cls.kept.pop(url, []):
                connection.pgconn.finish()


class Reused:
    """A migrated database. `urls`: where tests connect to it; the first one is the superuser's."""

    def __init__(self, name: str, *urls: str) -> None:
        self.name = name
        self._urls = urls
        self._connection = psycopg.connect(urls[0], autocommit=True)
        self._connection.execute(PREPARE)

    def empty(self) -> bool:
        """Makes the database as it was. Returns whether that was possible."""
        ours = [self._connection.info.backend_pid, *KeptConnection.pids(*self._urls)]
        try:
            if self._connection.execute(AS_MADE, (ours,)).fetchone() != (True,):
                return False
            self._connection.execute("select reused.empty()")
        except psycopg.Error:
            return False
        return True

    def close(self) -> None:
        KeptConnection.close_all(*self._urls)
        self._connection.close()
