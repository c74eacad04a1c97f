"""Checks access rights on a Supabase whose default privileges grant everything: only the service role has access."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import errors

from relay.memory import migrations
from tests.integration.conftest import Server

PUBLIC_ROLES = ("anon", "authenticated")
ROLES = (*PUBLIC_ROLES, "service_role")

SUPABASE = """
create schema if not exists extensions;
grant usage on schema extensions to anon, authenticated, service_role;
grant usage on schema public to anon, authenticated, service_role;
alter default privileges for role relay in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges for role relay in schema public grant all on functions to anon, authenticated, service_role;
alter default privileges for role relay in schema public grant all on sequences to anon, authenticated, service_role;
alter default privileges for role relay grant execute on functions to public;
"""

FUNCTIONS = """select p.oid::regprocedure::text from pg_proc p
    where p.pronamespace = 'relay'::regnamespace
        or (p.pronamespace = 'public'::regnamespace and p.proname like 'relay%')
    order by 1"""
TABLES = """select c.oid::regclass::text from pg_class c
    where c.relnamespace = 'relay'::regnamespace and c.relkind in ('r', 'v', 'm', 'p') order by 1"""
MAY_CALL = """select r.rolname || ' may call ' || p.oid::regprocedure from pg_proc p, pg_roles r
    where r.rolname = any (%s) and (p.pronamespace = 'relay'::regnamespace
            or (p.pronamespace = 'public'::regnamespace and p.proname like 'relay%%'))
        and has_function_privilege(r.rolname, p.oid, 'execute') order by 1"""
MAY_TOUCH = """select r.rolname || ' may ' || what || ' ' || c.oid::regclass from pg_class c, pg_roles r,
        unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) as what
    where r.rolname = any (%s) and c.relnamespace = 'relay'::regnamespace and c.relkind in ('r', 'v', 'm', 'p')
        and has_table_privilege(r.rolname, c.oid, what) order by 1"""


class Project:
    """A database as Supabase sets it up."""

    def __init__(self, server: Server, name: str) -> None:
        self._server = server
        self.name = name

    def ask(self, statement: str, *values: Any, role: str | None = None, superuser: bool = True) -> list[Any]:
        with psycopg.connect(self._server.url(self.name, superuser), autocommit=True) as connection:
            if role:
                connection.execute(f"set role {role}".encode())
            cursor = connection.execute(statement.encode(), values or None)
            return [row[0] for row in cursor.fetchall()] if cursor.description else []

    def holes(self) -> list[str]:
        """Returns everything that the public roles may do."""
        roles = list(PUBLIC_ROLES)
        schema = self.ask(
            "select r || ' may use schema relay' from unnest(%s::text[]) as r"
            " where has_schema_privilege(r, 'relay', 'usage')",
            roles,
        )
        return [*self.ask(MAY_CALL, roles), *self.ask(MAY_TOUCH, roles), *schema]


@pytest.fixture(scope="module")
def template(server: Server) -> Iterator[str]:
    """A migrated database that had Supabase's roles and default privileges before."""
    for role in ROLES:
        server.command(
            f"do $$ begin create role {role} nologin{' bypassrls' if role == 'service_role' else ''};"
            " exception when duplicate_object then null; end $$"
        )
    made = Project(server, server.create())
    made.ask(SUPABASE)
    made.ask(migrations.print_sql(), superuser=False)
    yield made.name
    server.drop(made.name)
    for role in ROLES:
        server.command(f"drop role if exists {role}")


@pytest.fixture
def project(server: Server, template: str) -> Iterator[Project]:
    """A copy of the template for one test."""
    made = Project(server, server.create(template))
    yield made
    server.drop(made.name)


def test_public_roles_have_no_access_rights(project: Project) -> None:
    assert len(project.ask(FUNCTIONS)) > 40
    assert len(project.ask(TABLES)) > 14
    assert project.holes() == []


@pytest.mark.parametrize(
    "statement",
    [
        "grant execute on function public.relay_list_memories(jsonb, jsonb, integer, integer) to anon",
        "grant execute on function relay.find_space(jsonb) to authenticated",
        "grant execute on function public.relay_ping() to public",
        "grant select on relay.message to anon",
        "grant usage on schema relay to authenticated",
    ],
)
def test_a_restored_grant_is_detected_and_revoked_again(project: Project, statement: str) -> None:
    project.ask(statement)
    assert project.holes() != []
    project.ask(migrations.load().access, superuser=False)
    assert project.holes() == []


def test_a_function_created_later_is_closed_too(project: Project) -> None:
    project.ask(
        "create function public.relay_later() returns jsonb language sql as $$ select '1'::jsonb $$", superuser=False
    )
    assert project.holes() != []
    project.ask(migrations.load().access, superuser=False)
    assert project.holes() == []


@pytest.mark.parametrize("role", PUBLIC_ROLES)
def test_the_public_roles_are_refused(project: Project, role: str) -> None:
    for statement in (
        "select public.relay_ping()",
        "select public.relay_soul()",
        """select public.relay_list_memories('{"kind": "private", "owner_id": 1}', '{}', 0, 10)""",
        "select text from relay.message",
        "select relay.find_space('{}')",
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            project.ask(statement, role=role)


def test_the_service_role_may_call_everything(project: Project) -> None:
    assert len(project.ask(MAY_CALL, ["service_role"])) == len(project.ask(FUNCTIONS))
    assert project.ask("select public.relay_soul() ->> 'version'", role="service_role") == ["1"]
    space = """'{"kind": "private", "owner_id": 1}'"""
    assert project.ask(f"select relay.ensure_space({space})", role="service_role") == [1]
    new = f"select public.relay_new_session({space}, 1, 0, 'x') ->> 'messages'"
    assert project.ask(new, role="service_role") == ["0"]


def test_row_security_is_on_for_every_table_with_no_policy(project: Project) -> None:
    off = """select relname from pg_class
        where relnamespace = 'relay'::regnamespace and relkind = 'r' and not relrowsecurity"""
    assert project.ask(off) == []
    assert project.ask("select policyname from pg_policies where schemaname = 'relay'") == []


def test_row_security_holds_after_a_wrong_grant(project: Project) -> None:
    project.ask("grant usage on schema relay to anon; grant select on all tables in schema relay to anon")
    assert project.ask("select count(*) from relay.soul", role="anon") == [0]
    assert project.ask("select count(*) from relay.soul", role="service_role") == [1]


def test_every_function_has_a_fixed_search_path_and_is_not_security_definer(project: Project) -> None:
    loose = """select p.oid::regprocedure::text from pg_proc p
        where (p.pronamespace = 'relay'::regnamespace or p.proname like 'relay\\_%')
            and (p.prosecdef or not coalesce(p.proconfig @> array['search_path=relay, extensions, pg_temp'], false))"""
    assert project.ask(loose) == []


def test_the_public_schema_contains_only_functions_of_relay(project: Project) -> None:
    assert project.ask("select relname from pg_class where relnamespace = 'public'::regnamespace") == []
    others = "select proname from pg_proc where pronamespace = 'public'::regnamespace and proname not like 'relay\\_%'"
    assert project.ask(others) == []
    assert project.ask("select typname from pg_type where typnamespace = 'public'::regnamespace") == []
