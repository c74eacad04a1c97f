"""Tests Relay's schema in a Supabase project: examined over REST, created by connection string or SQL editor."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from relay.clients.supabase.database import PAUSED
from relay.core.errors import DatabaseUnavailable, SchemaError, SettingsError
from relay.core.settings import Settings
from relay.memory import migrations
from relay.runtime.storage import bring_up_to_date, open_storage, prepare_schema
from tests.standins.supabase import SupabaseProject


def settings(project: SupabaseProject, **more: Any) -> Settings:
    named = {"SUPABASE_URL": project.url, "SUPABASE_SERVICE_ROLE_KEY": project.service_key}
    return Settings(_env_file=None, **{**named, "DATABASE_URL": "", **more})


async def test_an_older_schema_is_refused_with_both_ways_to_upgrade(project: SupabaseProject) -> None:
    async with open_storage(settings(project)) as opened:
        assert await prepare_schema(opened, settings(project), wait=True) is False
        project.sql("update relay.function_file set hash = 'old' where name = 'turn'")
        try:
            with pytest.raises(SchemaError, match=r"older than this Relay.*`relay db migrate`.*`relay db sql`"):
                await prepare_schema(opened, settings(project), wait=True)
        finally:
            await asyncio.to_thread(project.sql, hashes())
        assert await prepare_schema(opened, settings(project), wait=True) is False


def hashes() -> str:
    """Returns a statement that corrects the hash of a function file."""
    return f"update relay.function_file set hash = '{migrations.load().hashes['turn']}' where name = 'turn'"  # noqa: S608


async def test_a_newer_schema_is_accepted_unless_it_is_breaking(project: SupabaseProject) -> None:
    async with open_storage(settings(project)) as opened:
        project.sql("insert into relay.migration (version, name, breaking) values (9998, 'more', false)")
        try:
            assert await prepare_schema(opened, settings(project), wait=True) is False, (
                "additive changes must be accepted"
            )
            project.sql("insert into relay.migration (version, name, breaking) values (9999, 'other', true)")
            with pytest.raises(SchemaError, match="upgraded by a newer Relay"):
                await prepare_schema(opened, settings(project), wait=True)
        finally:
            project.sql("delete from relay.migration where version > 9000")


async def test_a_project_without_relay_can_be_set_up_in_both_ways(project: SupabaseProject) -> None:
    await asyncio.to_thread(project.forget_relay)
    try:
        async with open_storage(settings(project)) as opened:
            with pytest.raises(SchemaError, match=r"not there yet.*`relay db migrate`.*`relay db sql`"):
                await prepare_schema(opened, settings(project), wait=True)
            for _ in range(2):  # in the SQL editor: one text, run by its owner, any number of times
                await asyncio.to_thread(project.sql, migrations.print_sql(), "project")
            await asyncio.to_thread(project.reloaded, 200)
            assert await prepare_schema(opened, settings(project), wait=True) is False
        await asyncio.to_thread(project.forget_relay)
        both = settings(project, DATABASE_URL=project.database_url)
        async with open_storage(both) as opened:
            assert opened.label == "Supabase"
            assert await bring_up_to_date(opened, both) is True
            assert await bring_up_to_date(opened, both) is False
    finally:
        await asyncio.to_thread(project.migrate)
    assert project.sql("select body from public.note") == [("a note of the user's own",)]
    assert project.sql("select said from public.turn") == [
        ("a table of the user's own, with the name of one of Relay's",)
    ]
    ((acl,),) = project.sql("select has_function_privilege('anon', 'public.whoami()', 'execute')")
    assert acl, "the user's own functions must stay unchanged"


async def test_a_connection_string_of_another_database_is_detected(
    project: SupabaseProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.runtime.storage.RELOAD_SECONDS", 0.4)
    await asyncio.to_thread(project.database.create, "another")
    await asyncio.to_thread(project.forget_relay)
    try:
        both = settings(project, DATABASE_URL=project.database.url("another"))
        async with open_storage(both) as opened:
            with pytest.raises(SchemaError, match="Do both name the same project"):
                await bring_up_to_date(opened, both)
    finally:
        project.database.execute("postgres", "drop database another with (force)")
        await asyncio.to_thread(project.migrate)


async def test_incomplete_supabase_settings_are_refused(project: SupabaseProject) -> None:
    for missing, other in (
        ("SUPABASE_SERVICE_ROLE_KEY", "SUPABASE_URL"),
        ("SUPABASE_URL", "SUPABASE_SERVICE_ROLE_KEY"),
    ):
        with pytest.raises(SettingsError, match=f"{other} is set but {missing} is not"):
            async with open_storage(settings(project, **{missing: ""})):
                pass


async def test_a_wrong_key_is_reported_as_a_wrong_setting_at_the_start(project: SupabaseProject) -> None:
    key = project.service_key
    project.rotate_keys()
    wrong = settings(project, SUPABASE_SERVICE_ROLE_KEY=key)
    async with open_storage(wrong) as opened:
        with pytest.raises(SettingsError, match="does not accept the key"):
            await prepare_schema(opened, wrong, wait=True)


async def test_only_the_bot_waits_at_the_start_for_a_paused_project(project: SupabaseProject) -> None:
    project.pause()
    async with open_storage(settings(project)) as opened:
        with pytest.raises(DatabaseUnavailable) as raised:
            await prepare_schema(opened, settings(project), wait=False)
        assert str(raised.value) == PAUSED
        waiting = asyncio.create_task(prepare_schema(opened, settings(project), wait=True))
        await asyncio.sleep(0.3)
        project.resume()
        assert await asyncio.wait_for(waiting, 5) is False
