"""Tests migrations on a real Postgres: applied once, applied again, refused, and limited to Relay's own schema."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from relay.clients.postgres.database import Postgres
from relay.clients.postgres.errors import find_unsuitable
from relay.core.errors import AccessRefused, DatabaseError, DatabaseUnavailable, SchemaError
from relay.memory import migrations
from relay.memory.store import Store
from tests.integration.conftest import Opened, Server
from tests.integration.turn_driver import ADA, TurnDriver, fact, private

Rows = list[tuple[Any, ...]]

CATALOGUE = """
select 'function', p.oid::regprocedure::text,
    md5(regexp_replace(regexp_replace(pg_get_functiondef(p.oid), '(?n)^ *--.*\\n', '', 'g'), '(?n)^ +', ' ', 'g')),
    p.proacl::text
from pg_proc p where p.pronamespace = 'relay'::regnamespace or p.proname like 'relay\\_%'
union all
select 'column', c.oid::regclass || '.' || a.attname, format_type(a.atttypid, a.atttypmod) || a.attnotnull,
    c.relacl::text
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
where c.relnamespace = 'relay'::regnamespace
union all
select 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid), null
from pg_constraint where connamespace = 'relay'::regnamespace
union all
select 'security', oid::regclass::text, relrowsecurity::text, null
from pg_class where relnamespace = 'relay'::regnamespace and relkind = 'r'
union all
select 'migration', version::text, name || breaking, null from relay.migration
union all
select 'file', name, hash, null from relay.function_file
union all
select 'soul', version::text, text, null from relay.soul
order by 1, 2"""


@asynccontextmanager
async def client(server: Server, name: str) -> AsyncIterator[Postgres]:
    opened = Postgres(server.url(name))
    await opened.open()
    try:
        yield opened
    finally:
        await opened.close()


def ask(server: Server, name: str, statement: str, superuser: bool = True) -> Rows:
    with psycopg.connect(server.url(name, superuser), autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


async def test_a_new_database_is_migrated_once_with_two_scripts(server: Server, empty: str) -> None:
    ran: list[str] = []
    async with client(server, empty) as database:

        async def run(script: str) -> None:
            ran.append(script)
            await database.run(script)

        assert await migrations.present(database) == migrations.PresentSchema()
        assert await migrations.migrate(database, run) is True
        assert len(ran) == 2
        before = ask(server, empty, CATALOGUE)
        assert await migrations.migrate(database, run) is False
        assert len(ran) == 2
        found = await migrations.present(database)
        assert found.version == migrations.load().version
        assert found.functions == migrations.load().hashes
    assert ask(server, empty, CATALOGUE) == before
    owners = "select distinct pg_get_userbyid(proowner) from pg_proc where proname like 'relay\\_%'"
    assert ask(server, empty, owners) == [("relay",)]
    assert ask(server, empty, "select rolsuper from pg_roles where rolname = 'relay'") == [(False,)]


async def test_running_all_scripts_again_changes_nothing(opened: Opened, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "hello", actions=[fact(ADA, "likes tea")])
    before = ask(opened.server, opened.name, CATALOGUE)
    async with client(opened.server, opened.name) as database:
        for script in migrations.load().scripts():
            await database.run(script)
    assert ask(opened.server, opened.name, CATALOGUE) == before
    assert await driver.known(private(ADA)) == ["likes tea"]


async def test_several_processes_can_migrate_at_once(server: Server, empty: str) -> None:
    async with client(server, empty) as database:
        results = await asyncio.gather(
            *(migrations.migrate(database, database.run) for _ in range(4)), return_exceptions=True
        )
        assert not [result for result in results if isinstance(result, BaseException)], results
        assert await migrations.migrate(database, database.run) is False


async def test_a_changed_function_file_is_applied_again(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = migrations.load()
    changed = schema.functions["soul"].replace("order by", "order by") + (
        "\ncreate or replace function public.relay_ping() returns jsonb\n"
        "language sql stable set search_path = relay, extensions, pg_temp as $$ select '\"changed\"'::jsonb $$;\n"
    )
    files = {"soul": changed, "status": schema.functions["status"]}
    newer = replace(schema, functions=schema.functions | {"zz_last": files["soul"]})
    monkeypatch.setattr(migrations, "load", lambda: newer)
    async with client(opened.server, opened.name) as database:
        assert await database.call("ping") != "changed"
        assert await migrations.migrate(database, database.run) is True
        assert await database.call("ping") == "changed"
        assert await migrations.migrate(database, database.run) is False
        monkeypatch.setattr(migrations, "load", lambda: schema)
        assert await migrations.migrate(database, database.run) is False


async def test_an_edited_function_file_is_applied_again(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = migrations.load()
    edited = schema.functions["status"].replace("select to_jsonb(now())", "select to_jsonb(42)")
    monkeypatch.setattr(migrations, "load", lambda: replace(schema, functions=schema.functions | {"status": edited}))
    async with client(opened.server, opened.name) as database:
        assert await migrations.migrate(database, database.run) is True
        assert await database.call("ping") == 42


async def test_a_migration_killed_before_setting_access_rights_is_completed(
    server: Server, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last script sets access rights; a process killed just before it must not count as up to date."""
    scripts = migrations.load().scripts()
    async with client(server, empty) as database:
        for script in scripts[:-1]:
            await database.run(script)
        assert await migrations.migrate(database, database.run) is True
    secured = (
        "select bool_and(relrowsecurity) from pg_class where relnamespace = 'relay'::regnamespace and relkind = 'r'"
    )
    assert ask(server, empty, secured) == [(True,)]


async def test_a_migration_killed_anywhere_is_completed(server: Server, empty: str) -> None:
    scripts = migrations.load().scripts()
    async with client(server, empty) as database:
        for count in range(1, len(scripts), 8):
            for script in scripts[:count]:
                await database.run(script)
        assert await migrations.migrate(database, database.run) is True
        assert await migrations.migrate(database, database.run) is False


async def test_a_failing_script_leaves_nothing_behind(server: Server, empty: str) -> None:
    schema = migrations.load()
    broken = migrations.Migration(9000, "broken", "create table relay.half (id int); select 1/0;")
    async with client(server, empty) as database:
        for script in replace(schema, migrations=(*schema.migrations, broken)).scripts()[: len(schema.migrations) + 1]:
            await database.run(script)
        with pytest.raises(DatabaseError):
            await database.run(replace(schema, migrations=(broken,)).scripts()[1])
    assert ask(server, empty, "select to_regclass('relay.half')") == [(None,)]
    assert ask(server, empty, "select max(version) from relay.migration") == [(schema.version,)]


async def test_a_newer_schema_with_only_additions_is_accepted(opened: Opened) -> None:
    ask(
        opened.server,
        opened.name,
        "insert into relay.migration (version, name, breaking) values (9000, 'added', false)",
    )
    ask(opened.server, opened.name, "update relay.function_file set hash = 'newer'")
    async with client(opened.server, opened.name) as database:
        assert await migrations.migrate(database, database.run) is False
    assert ask(opened.server, opened.name, "select distinct hash from relay.function_file") == [("newer",)]


async def test_a_newer_schema_with_breaking_changes_is_refused(opened: Opened) -> None:
    ask(
        opened.server, opened.name, "insert into relay.migration (version, name, breaking) values (9000, 'moved', true)"
    )
    ask(
        opened.server,
        opened.name,
        "insert into relay.migration (version, name, breaking) values (9001, 'added', false)",
    )
    async with client(opened.server, opened.name) as database:
        with pytest.raises(SchemaError, match=r"newer Relay \(schema 9001; this one knows \d+\)\. Upgrade Relay"):
            await migrations.migrate(database, database.run)


async def test_a_failed_migration_says_what_the_database_said(server: Server, empty: str) -> None:
    async with client(server, empty) as database:
        with pytest.raises(DatabaseError, match=r'could not be upgraded: schema "relay" does not exist') as raised:
            await database.run("alter table relay.gone add column x integer")
    assert "db migrate" not in str(raised.value), "that is what failed"


async def test_the_servers_time_limit_does_not_hold_for_migrations(server: Server, empty: str) -> None:
    """Supabase ends statements after two minutes."""
    server.command(f"alter database {empty} set statement_timeout = '20ms'")
    async with client(server, empty) as database:
        await database.run("select pg_sleep(0.1)")


def test_a_breaking_migration_is_marked_in_its_first_line() -> None:
    assert migrations.Migration(2, "x", "-- breaking\nselect 1").breaking
    assert not migrations.Migration(2, "x", "select 1 -- breaking").breaking


async def test_the_printed_sql_does_the_same_as_migrate(server: Server, empty: str) -> None:
    text = migrations.print_sql()
    other = server.create()
    try:
        async with client(server, other) as database:
            await migrations.migrate(database, database.run)
        for _ in range(2):
            ask(server, empty, text, superuser=False)
            assert ask(server, empty, CATALOGUE) == ask(server, other, CATALOGUE)
        async with client(server, empty) as database:
            assert await migrations.migrate(database, database.run) is False
    finally:
        server.drop(other)


async def test_other_programs_tables_are_left_unchanged(server: Server, empty: str) -> None:
    ask(
        server,
        empty,
        """create table public.message (id int primary key, text text);
        create table public.turn (id int); create table public.thread (id int); create table public.soul (x text);
        insert into public.message values (1, 'mine');
        create function public.relaying() returns int language sql as 'select 7';
        create function public.find_space(jsonb) returns bigint language sql as 'select 7::bigint';
        grant select on public.message to public;
        grant all on schema public to relay""",
    )
    look = """select c.oid::regclass::text, c.relacl::text, c.relrowsecurity, c.relowner from pg_class c
        where relnamespace = 'public'::regnamespace
        union all select p.oid::regprocedure::text, p.proacl::text, p.prosecdef, p.proowner from pg_proc p
        where pronamespace = 'public'::regnamespace and proname not like 'relay\\_%' order by 1"""
    before = ask(server, empty, look)
    async with client(server, empty) as database:
        await migrations.migrate(database, database.run)
        driver = TurnDriver(Store(database, "00000000-0000-0000-0000-000000000001"))
        done = await driver.exchange(ADA, "hello", actions=[fact(ADA, "likes tea")])
        assert done.told.changes[0].content == "likes tea"
    assert ask(server, empty, look) == before
    assert ask(server, empty, "select * from public.message") == [(1, "mine")]


async def test_a_migrated_database_works_with_any_search_path_of_its_role(opened: Opened) -> None:
    ask(opened.server, opened.name, f"alter database {opened.name} set search_path = ''")
    async with client(opened.server, opened.name) as database:
        driver = TurnDriver(Store(database, "00000000-0000-0000-0000-000000000001"))
        await driver.exchange(ADA, "I like strong green tea", actions=[fact(ADA, "likes tea")])
        await driver.exchange(ADA, "again", actions=[fact(ADA, "Likes tea!")], topic_id=5)
        assert await driver.known(private(ADA)) == ["Likes tea!"]
        assert await migrations.migrate(database, database.run) is False


async def test_calling_a_missing_function_suggests_relay_db_migrate(server: Server, empty: str) -> None:
    async with client(server, empty) as database:
        with pytest.raises(SchemaError, match="relay db migrate"):
            await database.call(
                "claim", bot_id=1, worker="00000000-0000-0000-0000-000000000001", limit=1, lease_seconds=1
            )


async def test_every_function_has_only_one_overload(opened: Opened) -> None:
    """PostgREST can't choose between functions with the same name."""
    twice = "select proname from pg_proc where proname like 'relay\\_%' group by proname having count(*) > 1"
    assert ask(opened.server, opened.name, twice) == []


async def test_every_argument_and_result_is_compatible_with_rest(opened: Opened) -> None:
    """Arguments are named p_… and the result is JSON, so that both clients can call each function."""
    odd = """select proname from pg_proc where pronamespace = 'public'::regnamespace and proname like 'relay\\_%'
        and (prorettype <> 'jsonb'::regtype
            or exists (select from unnest(proargnames) as a where a not like 'p\\_%'))"""
    assert ask(opened.server, opened.name, odd) == []


async def test_usage_from_before_the_spend_table_is_counted(server: Server, empty: str) -> None:
    async with client(server, empty) as database:
        await database.run(migrations.BOOTSTRAP)
        earlier = [one for one in migrations.load().migrations if one.version < 6]
        for one in earlier:
            await database.run(one.sql)
        await database.run(
            """insert into relay.space (kind, owner_id) values ('private', 1001);
            insert into relay.thread (space_id, chat_id) values (1, 1001);
            insert into relay.session (thread_id, space_id) values (1, 1);
            insert into relay.turn (kind, bot_id, user_id, space_id, assistant_message_id, model, usage, created_at)
            values ('message', 7, 1001, 1, 5, 'big', '{"input_tokens": 3, "output_tokens": 4}', '2026-01-02T03:04:05Z'),
                ('message', 7, 1001, 1, null, 'big', null, now()), ('message', 7, 1001, 1, 6, 'big', 'null', now());
            insert into relay.summary (thread_id, session_id, text, from_message_id, through_message_id, message_count,
                model, settings, usage, tainted)
            values (1, 1, 's', 1, 2, 2, 'small', '{}', '{"cache_read_input_tokens": 9}', false)"""
        )
        for one in migrations.load().migrations:
            if one not in earlier:
                await database.run(one.sql)
    assert ask(
        server,
        empty,
        "select what, done, user_id, space_id, model, input, cached, output, at < '2026-01-03' from relay.spend"
        " order by at",
    ) == [("answer", True, 1001, 1, "big", 3, 0, 4, True), ("summary", True, 1001, 1, "small", 0, 9, 0, False)]


async def test_every_sql_function_refers_only_to_existing_objects(opened: Opened) -> None:
    found = await opened.sql(
        "select pg_get_functiondef(p.oid) from pg_proc p join pg_language l on l.oid = p.prolang and l.lanname = 'sql' "
        "where p.pronamespace = 'relay'::regnamespace or p.proname like 'relay\\_%'"
    )
    assert len(found) > 100
    for (definition,) in found:
        await opened.sql(definition)  # migrations define functions without checking their bodies


@pytest.mark.parametrize(
    ("before", "says", "after"),
    [
        (
            "",
            "Run `create extension vector schema extensions` in this database as a superuser",
            "create extension vector schema extensions",
        ),
        (
            "create extension vector",
            "Run `alter extension vector set schema extensions` in this database as a superuser",
            "alter extension vector set schema extensions",
        ),
        (
            "create extension pg_trgm; create extension vector",
            "`alter extension pg_trgm set schema extensions`",
            "alter extension pg_trgm set schema extensions; alter extension vector set schema extensions",
        ),
    ],
)
async def test_the_steps_required_of_a_superuser_are_explained_and_sufficient(
    server: Server, before: str, says: str, after: str
) -> None:
    """This concerns a person's own server, where the database's owner is no superuser."""
    name = "relay_test_by_hand"
    server.command(f"create database {name} owner relay")
    try:
        server.command(before or "select 1", name)
        async with client(server, name) as opened:
            with pytest.raises(DatabaseError, match=says):
                await migrations.migrate(opened, opened.run)
            server.command(after, name)
            assert await migrations.migrate(opened, opened.run)
    finally:
        server.drop(name)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("create extension nothere", "does not have the extension nothere"),
        ("create schema relay", "user has no right to create Relay's schema.*`grant create on database postgres to`"),
    ],
)
async def test_an_unsuitable_server_is_explained(server: Server, script: str, says: str) -> None:
    async with client(server, "postgres") as opened:
        with pytest.raises(DatabaseError, match=says):
            await opened.run(script)


async def test_a_database_that_cannot_hold_every_text_is_refused(server: Server) -> None:
    """Debian's server makes such databases if it was installed without a UTF-8 locale."""
    name = "relay_test_ascii"
    server.command(f"create database {name} owner relay template template0 encoding 'SQL_ASCII' locale 'C'")
    try:
        with pytest.raises(AccessRefused, match=r"encoding SQL_ASCII\. Relay needs one in UTF8"):
            await Postgres(server.url(name)).open()
    finally:
        server.drop(name)


def test_a_server_that_is_too_old_is_refused() -> None:
    assert "14.9 is too old" in str(find_unsuitable(140009, "UTF8"))
    assert find_unsuitable(150000, "UTF8") is None
    assert find_unsuitable(0, None) is None, "a pooler said nothing"


async def test_a_hanging_migration_is_cancelled_and_rolled_back(
    server: Server, empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.clients.postgres.database.SCRIPT_SECONDS", 0.5)
    async with client(server, empty) as database:
        with pytest.raises(DatabaseUnavailable, match="did not answer in time"):
            await database.run("create table public.half_done (id int); select pg_sleep(60)")
    assert ask(server, empty, "select to_regclass('public.half_done')") == [(None,)]
    left = "select count(*) from pg_stat_activity where query like '%pg_sleep(60)%' and state = 'active'"
    assert ask(server, empty, left + " and pid <> pg_backend_pid()") == [(0,)]
