"""Tests what `relay doctor` reports about a database that was damaged by hand."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from relay.clients.postgres.database import Postgres
from relay.core.settings import Settings
from relay.memory import migrations
from relay.surfaces.cli.doctor.finding import Finding
from relay.surfaces.cli.doctor.storage import DatabaseReport, look
from tests.integration.conftest import TEMPLATE, Opened, Server, Sql
from tests.sampled import sampled
from tests.standins.supabase import SupabaseProject


def given(**settings: str) -> Settings:
    """Returns settings that only name a database."""
    values: dict[str, Any] = {"_env_file": None, **settings}
    return Settings(**values)


def found(seen: DatabaseReport) -> dict[str, Finding]:
    return {one.name: one for one in seen.findings}


@pytest.fixture
def backend(embedded: Server) -> Any:
    """A server reached through DATABASE_URL."""
    from tests.integration.conftest import Direct

    return Direct(embedded, pooled=True)


@pytest.fixture
def settings(opened: Opened) -> Settings:
    return given(DATABASE_URL=opened.server.url(opened.name))


async def test_a_healthy_database_gets_only_ok_findings(settings: Settings) -> None:
    seen = await look(settings)
    assert [(one.name, one.state) for one in seen.findings] == [
        (name, "ok") for name in ("database", "schema", "extensions", "access", "work")
    ]
    assert "PostgreSQL 18" in found(seen)["database"].said
    assert seen.work is not None
    assert not seen.work.working


BROKEN = {
    "grant execute on function public.relay_ping() to public": ("access", "failed", "public may call relay_ping"),
    "grant usage on schema relay to public": ("access", "failed", "public may use the schema relay"),
    "grant select on relay.message to public": ("access", "failed", "read or change the table message"),
    "alter table relay.memory disable row level security": ("access", "failed", "memory has no row-level security"),
    "drop function public.relay_examine()": ("schema", "failed", "some functions are missing"),
    "drop function public.relay_ping()": ("schema", "failed", "the function relay_ping is missing"),
}
"""Damage that `relay db migrate --again` repairs, with what is reported about it."""


@pytest.mark.parametrize("statement", sampled(BROKEN, 3))
async def test_a_manual_change_is_reported_and_repaired(
    settings: Settings, opened: Opened, sql: Sql, statement: str
) -> None:
    name, state, said = BROKEN[statement]
    await sql(statement)
    finding = found(await look(settings))[name]
    assert (finding.state, said in finding.said) == (state, True), finding
    assert "relay db migrate --again" in finding.fix
    assert isinstance(opened.port, Postgres)
    assert not await migrations.migrate(opened.port, opened.port.run)
    assert await migrations.migrate(opened.port, opened.port.run, again=True)
    assert {one.state for one in (await look(settings)).findings} == {"ok"}


OTHERS = {
    "update relay.function_file set hash = 'old' where name = 'turn'": (
        "schema", "warning", "older than this Relay's", "`relay db migrate`",
    ),
    "insert into relay.migration (version, name, breaking) values (9999, 'x', true)": (
        "schema", "failed", "upgraded by a newer Relay", "Upgrade Relay",
    ),
    "insert into relay.migration (version, name, breaking) values (9999, 'x', false)": (
        "schema", "ok", "version 9999, newer than this Relay's", "",
    ),
    "insert into relay.move (source_id, state) values (gen_random_uuid(), 'copying')": (
        "schema", "failed", "`relay move` or `restore` into this database is under way", "run the same command",
    ),
    "drop table relay.duty cascade": ("schema", "failed", "the table duty is missing", "Restore a backup"),
    "drop extension pg_trgm cascade": ("extensions", "failed", "pg_trgm is missing", "create extension pg_trgm"),
    "insert into relay.incident (kind, detail) values ('poll', 'no poll for 5 min')": (
        "work", "warning", "no poll for 5 min", "/status",
    ),
    "insert into relay.turn (kind, bot_id, status, done_at) values ('message', 1, 'failed', now())": (
        "work", "warning", "1 message could not be answered in the last day", "ask again",
    ),
    "insert into relay.inbox (bot_id, update_id, status, received_at) values (1, 1, 'pending', now() - interval '1 h')":
        ("work", "warning", "1 message waiting, the oldest for 60 min", "`relay run`"),
}  # fmt: skip


@pytest.mark.parametrize("statement", OTHERS)
async def test_other_problems_are_reported_with_a_fix(settings: Settings, sql: Sql, statement: str) -> None:
    name, state, said, fix = OTHERS[statement]
    await sql(statement)
    finding = found(await look(settings))[name]
    assert (finding.state, said in finding.said, fix in finding.fix) == (state, True, True), finding


async def test_a_running_relay_is_detected(settings: Settings, sql: Sql) -> None:
    await sql("insert into relay.duty (name, lease_until) values ('poll', now() + interval '1 min')")
    work = (await look(settings)).work
    assert work is not None
    assert work.working


async def test_a_database_without_relay_is_left_unchanged(embedded: Server) -> None:
    name = embedded.create()
    try:
        seen = found(await look(given(DATABASE_URL=embedded.url(name))))
        assert (seen["database"].state, seen["schema"].state) == ("ok", "skipped")
        assert "the first start creates it" in seen["schema"].said
        client = Postgres(embedded.url(name))
        await client.open()
        assert (await migrations.present(client)).version == 0
        await client.close()
    finally:
        embedded.drop(name)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"password": "not-the-password"}, "wrong user or password"),
        ({"path": "/nothing"}, "unknown user or database"),
        ({"host": "127.0.0.1:9"}, "nothing answers at that host and port"),
        ({"host": "localhost:9"}, "nothing answers at that host and port"),
    ],
)
async def test_an_unreachable_database_is_reported_without_its_password(
    embedded: Server, change: dict[str, str], said: str
) -> None:
    role, password = embedded.owner_url.partition("://")[2].partition("@")[0].split(":")
    url = embedded.url(TEMPLATE).replace(password, change.get("password", password))
    if "path" in change:
        url = url.replace(f"/{TEMPLATE}", change["path"])
    if "host" in change:
        url = f"postgresql://{role}:{password}@{change['host']}/x"
    seen = found(await look(given(DATABASE_URL=url)))
    assert seen["database"].state == "failed"
    assert said in seen["database"].said
    assert "DATABASE_URL" in seen["database"].fix
    assert {seen[name].state for name in ("schema", "access", "work")} == {"skipped"}
    assert not [one for one in seen.values() if password in one.said + one.fix or "not-the-password" in one.said]


async def test_the_doctor_does_not_create_the_embedded_database(tmp_path: Path) -> None:
    seen = found(await look(given(RELAY_DATA_DIR=str(tmp_path / "data"))))
    assert seen["database"].state == "skipped"
    assert not (tmp_path / "data").exists()


# Supabase over REST alone


def over_rest(project: SupabaseProject, key: str = "") -> Settings:
    return given(SUPABASE_URL=project.url, SUPABASE_SERVICE_ROLE_KEY=key or project.service_key)


async def test_a_healthy_project_and_one_open_to_the_anon_key_are_distinguished(project: SupabaseProject) -> None:
    seen = await look(over_rest(project))
    assert {one.state for one in seen.findings} == {"ok"}, seen
    project.sql("grant execute on function public.relay_people() to anon")
    try:
        finding = found(await look(over_rest(project)))["access"]
        assert (finding.state, finding.said) == ("failed", "anon may call relay_people")
        assert "`relay db sql`" in finding.fix
    finally:
        project.sql(migrations.print_sql(), "project")
    assert found(await look(over_rest(project)))["access"].state == "ok"


async def test_a_paused_project_and_a_refused_key_are_reported(project: SupabaseProject) -> None:
    project.pause()
    finding = found(await look(over_rest(project)))["database"]
    assert finding.said.startswith("The Supabase project is paused")
    assert finding.fix.startswith("Wake it at supabase.com/dashboard")
    project.resume()
    finding = found(await look(over_rest(project, project.anon_key)))["database"]
    assert "is set to the anon key" in finding.said
    assert "service role" in finding.fix
    key = project.service_key
    await asyncio.to_thread(project.rotate_keys)
    finding = found(await look(over_rest(project, key)))["database"]
    assert (finding.state, "does not accept the key" in finding.said) == ("failed", True)
    assert not [secret for secret in project.secrets if secret in finding.said + finding.fix]


async def test_an_incomplete_pair_of_supabase_settings_is_reported(project: SupabaseProject) -> None:
    finding = found(await look(given(SUPABASE_URL=project.url)))["database"]
    assert "SUPABASE_SERVICE_ROLE_KEY is not" in finding.said


async def test_a_project_without_relay_is_reported(project: SupabaseProject) -> None:
    await asyncio.to_thread(project.forget_relay)
    try:
        seen = found(await look(over_rest(project)))
        assert (seen["database"].state, seen["schema"].state) == ("ok", "failed")
        assert "`relay db sql`" in seen["schema"].fix
    finally:
        await asyncio.to_thread(project.migrate)
