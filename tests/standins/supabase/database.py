"""The Postgres of a Supabase project before Relay is installed: its roles, default privileges and extensions."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import urlsplit

import psycopg

ROLES = """
create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;
create role authenticator login noinherit password '{password}';
grant anon, authenticated, service_role to authenticator;
alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
alter role authenticator set statement_timeout = '8s';
alter role authenticator set lock_timeout = '8s';
create role project login createrole createdb bypassrls noinherit password '{password}';
grant anon, authenticated, service_role, authenticator to project;
alter role project set search_path = "$user", public, extensions;
"""
"""`project` is the role that Supabase calls postgres: not a superuser, but the owner of the database."""

PREPARE = """
create schema extensions;
alter schema extensions owner to project;
grant usage on schema extensions to anon, authenticated, service_role;
create extension vector schema extensions;
create extension pg_trgm schema extensions;
grant usage on schema public to anon, authenticated, service_role;
{defaults}
alter default privileges for role project in schema public grant all on tables to postgres;
set role project;
create table public.note (id bigint generated always as identity primary key, owner text not null, body text not null);
create table public.turn (id bigint primary key, said text);
insert into public.note (owner, body) values ('me', 'a note of the user''s own');
insert into public.turn (id, said) values (1, 'a table of the user''s own, with the name of one of Relay''s');
alter table public.note enable row level security;
create policy everyone_reads on public.note for select to anon, authenticated using (true);
create function public.whoami() returns jsonb language sql stable as $$
    select jsonb_build_object('role', current_user, 'statement_timeout', current_setting('statement_timeout')) $$;
create function public.snooze(seconds double precision) returns void language sql as $$ select pg_sleep(seconds) $$;
reset role;
"""

DEFAULTS = """
alter default privileges for role {role} in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges for role {role} in schema public grant all on sequences to anon, authenticated, service_role;
alter default privileges for role {role} in schema public grant all on functions to anon, authenticated, service_role;
"""

FORGET = """
drop schema if exists relay cascade;
do $$ declare one regprocedure; begin
    for one in select oid::regprocedure from pg_proc
        where pronamespace = 'public'::regnamespace and proname like 'relay\\_%'
    loop execute 'drop function ' || one; end loop;
end $$;
"""

EMPTY = """
set session_replication_role = replica;
do $$ declare
    one regclass;
begin
    for one in select oid::regclass from pg_class
        where relnamespace = 'relay'::regnamespace and relkind = 'r'
            and relname not in ('migration', 'function_file', 'identity')
    loop
        execute format('delete from %s', one);
    end loop;
    perform setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
        from pg_sequences where schemaname = 'relay' and last_value is not null;
end $$;
reset session_replication_role;
"""
"""No trigger runs. Truncating would take 0.1 s, since it recreates the files of all tables and indexes."""


class ProjectDatabase:
    """A server with projects, which are databases prepared like Supabase's. `superuser_url` is any database of it."""

    def __init__(self, superuser_url: str) -> None:
        self.superuser_url = superuser_url
        self.password = secrets.token_urlsafe(16)
        self._soul: str | None = None
        self._connections: dict[str, psycopg.Connection[Any]] = {}

    def prepare_server(self) -> None:
        """Creates the server's roles, and turns off durability: the data needn't survive a power cut."""
        for setting in ("fsync = off", "synchronous_commit = off", "full_page_writes = off"):
            self.execute("postgres", f"alter system set {setting}")
        self.execute("postgres", "select pg_reload_conf()")
        self.execute("postgres", ROLES.format(password=self.password))

    def create(self, name: str) -> None:
        """Creates a project with tables and functions of its user."""
        self.execute("postgres", f"create database {name} owner project")
        defaults = "".join(DEFAULTS.format(role=role) for role in ("project", "postgres"))
        self.execute(name, PREPARE.replace("{defaults}", defaults))

    def url(self, name: str, role: str = "project") -> str:
        """Returns a connection string. `postgres` is the superuser."""
        parts = urlsplit(self.superuser_url)
        if role != "postgres":
            parts = parts._replace(netloc=f"{role}:{self.password}@{parts.netloc.rpartition('@')[2]}")
        return parts._replace(path=f"/{name}").geturl()

    def execute(self, name: str, statements: str, role: str = "postgres") -> list[tuple[object, ...]]:
        """Runs statements one by one, as a SQL editor does, and returns the rows of the last one."""
        with psycopg.connect(self.url(name, role), autocommit=True) as connection:
            cursor = connection.execute(statements.encode())
            while cursor.nextset():
                pass
            return cursor.fetchall() if cursor.description else []

    def empty(self, name: str) -> None:
        """Deletes all data from Relay's tables, except what a migration inserted."""
        if self._soul is None:
            ((first,),) = self.execute(name, "select to_jsonb(s)::text from relay.soul s where version = 1")
            self._soul = str(first)
        insert = "insert into relay.soul select * from jsonb_populate_record(null::relay.soul, %s::jsonb || %s)"
        try:
            self._kept(name).execute(EMPTY)
        except psycopg.OperationalError:  # a test ended the server's connections
            self._connections.pop(name).close()
            self._kept(name).execute(EMPTY)
        self._kept(name).execute(insert, (self._soul, '{"active": true}'))

    def _kept(self, name: str) -> psycopg.Connection[Any]:
        """A connection to a project for `empty` only: a new one takes 30 ms to find out about all tables."""
        if name not in self._connections:
            self._connections[name] = psycopg.connect(self.url(name, "postgres"), autocommit=True)
        return self._connections[name]

    def forget(self, name: str) -> None:
        """Removes Relay from a project."""
        self.execute(name, FORGET)
