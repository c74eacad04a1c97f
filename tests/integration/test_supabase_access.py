"""Checks access rights in a Supabase project: the public keys can't use any table or function."""

from __future__ import annotations

import json
import re
from http.client import HTTPConnection
from typing import Any

import pytest

from relay.memory import migrations
from tests.sampled import sampled
from tests.standins.supabase import SupabaseProject

STRANGERS = ("anon", "authenticated")
FUNCTIONS = """
select p.proname, coalesce(p.proargnames[1:p.pronargs], '{}') from pg_proc p
where p.pronamespace = 'public'::regnamespace and p.proname like 'relay\\_%' order by 1
"""
TABLES = "select relname from pg_class where relnamespace = 'relay'::regnamespace and relkind in ('r', 'p', 'v', 'm')"


def ask(project: SupabaseProject, role: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Sends a request with a role's key. Returns the status and the JSON of the answer."""
    key = project.gateway.keys.tokens[role]
    connection = HTTPConnection(project.url.removeprefix("http://"), timeout=20)
    try:
        headers |= {"apikey": key, "Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request("GET" if body is None else "POST", f"/rest/v1{path}", json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None
    finally:
        connection.close()


def functions(project: SupabaseProject) -> list[tuple[str, list[str]]]:
    """Returns all of Relay's functions with the names of their arguments, from the catalogue."""
    return [(name, list(arguments)) for name, arguments in project.sql(FUNCTIONS)]


def open_functions(project: SupabaseProject, role: str) -> list[str]:
    """Returns the functions that don't refuse a role's key."""
    found = []
    for name, arguments in functions(project):
        status, told = ask(project, role, f"/rpc/{name}", dict.fromkeys(arguments))
        refused = status in (401, 403) and isinstance(told, dict) and told.get("code") == "42501"
        if not refused or "permission denied for function" not in told["message"]:
            found.append(name)
    return found


def open_tables(project: SupabaseProject, role: str) -> list[str]:
    """Returns the tables that a role's key can read, write or even see over HTTP."""
    found = []
    for (name,) in project.sql(TABLES):
        for body in (None, {}):
            # PostgREST doesn't serve this schema to anyone, and the schema that it serves has no table of that name.
            elsewhere = {"Accept-Profile": "relay", "Content-Profile": "relay"}
            status, told = ask(project, role, f"/{name}", body, **elsewhere)
            if status != 406 or told["code"] != "PGRST106":
                found.append(name)
            status, told = ask(project, role, f"/{name}", body)
            if name != "turn" and (status != 404 or told["code"] != "42P01"):  # the project's user has a table `turn`
                found.append(name)
    return found


def privileges(project: SupabaseProject) -> list[str]:
    """Returns the public roles' privileges on the schema, its tables, sequences, columns and functions."""
    return [
        f"{role}: {privilege} on {name}"
        for role, privilege, name in project.sql(
            """
            select r, 'usage', 'schema relay' from unnest(array['anon', 'authenticated']) r
            where has_schema_privilege(r, 'relay', 'usage, create')
            union all
            select r, 'any', c.oid::regclass::text from unnest(array['anon', 'authenticated']) r, pg_class c
            where c.relnamespace = 'relay'::regnamespace and case c.relkind
                when 'S' then has_sequence_privilege(r, c.oid, 'usage, select, update')
                when 'i' then false
                else has_table_privilege(r, c.oid, 'select, insert, update, delete, truncate, references, trigger')
                    or has_any_column_privilege(r, c.oid, 'select, insert, update, references') end
            union all
            select r, 'execute', p.oid::regprocedure::text from unnest(array['anon', 'authenticated']) r, pg_proc p
            where (p.pronamespace = 'relay'::regnamespace
                    or (p.pronamespace = 'public'::regnamespace and p.proname like 'relay\\_%'))
                and has_function_privilege(r, p.oid, 'execute')
            """
        )
    ]


@pytest.mark.parametrize("role", STRANGERS)
def test_every_function_is_refused_over_http(project: SupabaseProject, role: str) -> None:
    assert len(functions(project)) > 30
    assert open_functions(project, role) == []


@pytest.mark.parametrize("role", [*STRANGERS, "service_role"])
def test_no_table_is_reached_over_http(project: SupabaseProject, role: str) -> None:
    assert len(project.sql(TABLES)) > 10
    assert open_tables(project, role) == []


def test_the_database_catalogue_shows_no_public_privileges(project: SupabaseProject) -> None:
    assert privileges(project) == []


@pytest.mark.parametrize("role", STRANGERS)
def test_a_restored_grant_is_detected(project: SupabaseProject, role: str) -> None:
    project.sql(f"grant execute on function public.relay_status(jsonb) to {role}")
    try:
        assert open_functions(project, role) == ["relay_status"]
        assert privileges(project) == [f"{role}: execute on relay_status(jsonb)"]
    finally:
        project.sql(f"revoke execute on function public.relay_status(jsonb) from {role}")
    assert privileges(project) == []


@pytest.mark.parametrize(
    "grant",
    sampled(
        [
            "grant select on relay.message to {role}",
            "grant usage on schema relay to {role}",
            "grant update (text) on relay.message to {role}",
            "grant usage on sequence relay.message_id_seq to {role}",
            "grant execute on function relay.find_space(jsonb) to {role}",
        ],
        5,
    ),
)
@pytest.mark.parametrize("role", STRANGERS)
def test_migrating_again_revokes_extra_grants(project: SupabaseProject, role: str, grant: str) -> None:
    project.sql(grant.format(role=role), "project")
    assert len(privileges(project)) == 1
    project.sql(migrations.print_sql(), "project")
    assert privileges(project) == []


def test_row_level_security_protects_even_after_a_wrong_grant(project: SupabaseProject) -> None:
    unprotected = "select relname from pg_class where relnamespace = 'relay'::regnamespace and relkind in ('r', 'p')"
    assert project.sql(f"{unprotected} and not relrowsecurity") == []
    assert project.sql("select * from pg_policies where schemaname = 'relay'") == []
    every = "usage on schema relay to anon; {} select on all tables in schema relay {} anon"
    project.sql("grant " + every.format("grant", "to"))
    try:
        assert project.sql("select count(*) from relay.soul") == [(1,)]
        assert project.sql("set role anon; select count(*) from relay.soul") == [(0,)]
    finally:
        project.sql("revoke usage on schema relay from anon; revoke select on all tables in schema relay from anon")


def test_a_function_created_later_is_closed_by_the_access_script(project: SupabaseProject) -> None:
    project.sql(
        "create function public.relay_new(p_x integer default 1) returns jsonb language sql return to_jsonb(p_x)",
        "project",
    )
    try:
        assert len(privileges(project)) == 2, "Supabase's default privileges must grant it to both roles"
        project.sql(migrations.load().access, "project")
        project.postgrest.until(lambda status: status == 200, "/rpc/relay_new", project.service_key)
        assert privileges(project) == []
        for role in STRANGERS:
            assert open_functions(project, role) == []
    finally:
        project.sql("drop function public.relay_new(integer); notify pgrst, 'reload schema'")


def test_functions_are_never_open_between_two_scripts(project: SupabaseProject) -> None:
    """A migration that stops after any script leaves no function open."""
    project.database.create("broken_off")
    try:
        for script in migrations.load().scripts():
            project.database.execute("broken_off", f"begin; {script}; commit", "project")
            ((count,),) = project.database.execute(
                "broken_off",
                "select count(*) from pg_proc where proname like 'relay\\_%' and has_function_privilege('anon', oid, "
                "'execute') and pronamespace = 'public'::regnamespace",
            )
            assert count == 0
    finally:
        project.database.execute("postgres", "drop database broken_off with (force)")


def test_functions_run_with_the_callers_rights_and_a_fixed_search_path(project: SupabaseProject) -> None:
    found = project.sql(
        "select proname, prosecdef, proconfig::text, pronamespace::regnamespace::text from pg_proc "
        "where pronamespace = 'relay'::regnamespace "
        "or (proname like 'relay\\_%' and pronamespace = 'public'::regnamespace)"
    )
    assert [name for name, definer, _, _ in found if definer] == []
    assert [name for name, _, settings, _ in found if "search_path=" not in (settings or "")] == []
    names = [(schema, name) for name, _, _, schema in found]
    assert len(names) == len(set(names)), "PostgREST cannot choose between overloads"


def test_the_api_description_shows_nothing_of_relay_to_strangers(project: SupabaseProject) -> None:
    for role in STRANGERS:
        status, told = ask(project, role, "/")
        assert status == 200
        assert "/note" in told["paths"], "the user's own tables must still be shown"
        assert not [path for path in told["paths"] if "relay" in path]


def test_updates_and_deletes_always_have_a_where_clause(project: SupabaseProject) -> None:
    """Supabase loads `safeupdate` for its API, which rejects a statement without WHERE."""
    for name, text in migrations.load().functions.items():
        for statement in re.sub(r"--[^\n]*", "", text).split(";"):
            trigger = re.match(r"\s*create or replace trigger\b", statement)
            if not trigger and re.search(r"(?<!do )(?<!for )\bupdate\s+\w|\bdelete\s+from\b", statement):
                assert re.search(r"\bwhere\b", statement), f"{name}: {statement}"
