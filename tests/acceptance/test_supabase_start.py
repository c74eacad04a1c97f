"""Starting on Supabase with wrong keys, wrong schemas, or an unreachable project. Also `relay db` there."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from relay.memory import migrations
from tests.acceptance.shared_relay import SharedRelay
from tests.acceptance.supabase_relay import open_supabase_relay, supabase_settings
from tests.leaks import searched
from tests.sampled import sampled
from tests.standins.supabase import SupabaseProject


async def ended(shared_relay: SharedRelay) -> tuple[int, str]:
    """Starts a bot that must fail by itself. Returns its exit code and log."""
    await shared_relay.relay.start()
    process = shared_relay.relay.process
    assert process is not None
    async with asyncio.timeout(30):
        code = await process.wait()
    told = shared_relay.relay.output()
    assert "Traceback" not in told
    assert not shared_relay.tg.calls("getUpdates"), "messages at Telegram stay there"
    return code, told


async def relay(folder: Path, *words: str, **settings: str) -> tuple[int, str]:
    """Runs a command. Returns its exit code and output."""
    prefixes = ("RELAY_", "TELEGRAM_", "ANTHROPIC_", "DATABASE_", "SUPABASE_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "relay", *words, cwd=folder, env=inherited | settings,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    async with asyncio.timeout(60):
        output, _ = await process.communicate()
    return process.returncode or 0, searched(output.decode(), settings)


# Wrong settings: exit code 2


@pytest.mark.parametrize("kind", sampled(["anon_key", "user_key", "publishable_key"], 3))
async def test_a_public_key_is_refused(project: SupabaseProject, kind: str) -> None:
    key = getattr(project, kind)
    async with open_supabase_relay(project, start=False, SUPABASE_SERVICE_ROLE_KEY=key) as own_relay:
        code, told = await ended(own_relay)
    assert code == 2
    assert "SUPABASE_SERVICE_ROLE_KEY is set to the" in told
    assert "Project → Settings → API keys" in told
    assert key not in told


async def test_a_rotated_key_is_reported(project: SupabaseProject) -> None:
    async with open_supabase_relay(project, start=False) as own_relay:
        await asyncio.to_thread(project.rotate_keys)
        code, told = await ended(own_relay)
    assert code == 2
    assert "does not accept the key (HTTP 401): it may have been rotated" in told


@pytest.mark.parametrize("missing", ["SUPABASE_URL", "SUPABASE_SERVICE_ROLE_KEY"])
async def test_address_and_key_are_required_together(project: SupabaseProject, missing: str) -> None:
    async with open_supabase_relay(project, start=False, **{missing: ""}) as own_relay:
        code, told = await ended(own_relay)
    assert code == 2
    assert f"but {missing} is not" in told


async def test_an_address_that_is_not_a_supabase_project_is_reported(project: SupabaseProject) -> None:
    project.fail(404, body="<html>Not found</html>")
    async with open_supabase_relay(project, start=False) as own_relay:
        project.fail(404, body="<html>Not found</html>")
        code, told = await ended(own_relay)
    assert code == 2
    assert "SUPABASE_URL is not the address of a Supabase project" in told


async def test_a_wrong_key_is_reported_even_if_telegram_is_unreachable(project: SupabaseProject) -> None:
    async with open_supabase_relay(project, start=False) as own_relay:
        own_relay.tg.fault("getMe", "disconnect", times=-1)
        await asyncio.to_thread(project.rotate_keys)
        code, _ = await ended(own_relay)
    assert code == 2


# Wrong schemas: exit code 1


async def test_a_project_without_relays_tables_is_reported(project: SupabaseProject) -> None:
    async with open_supabase_relay(project, start=False) as own_relay:
        await asyncio.to_thread(project.forget_relay)
        try:
            code, told = await ended(own_relay)
            assert code == 1
            assert "in the Supabase project are not there yet" in told
            assert "`relay db migrate` with the project's connection string" in told
            assert "`relay db sql`" in told
        finally:
            await asyncio.to_thread(project.migrate)


async def test_an_older_and_a_newer_schema_are_reported(project: SupabaseProject) -> None:
    async with open_supabase_relay(project, start=False) as own_relay:
        digest = migrations.load().hashes["turn"]
        project.sql("update relay.function_file set hash = 'old' where name = 'turn'")
        try:
            code, told = await ended(own_relay)
            assert code == 1
            assert "older than this Relay" in told
        finally:
            project.sql(f"update relay.function_file set hash = '{digest}' where name = 'turn'")  # noqa: S608
        project.sql("insert into relay.migration (version, name, breaking) values (9999, 'other', true)")
        try:
            code, told = await ended(own_relay)
            assert code == 1
            assert "upgraded by a newer Relay" in told
        finally:
            project.sql("delete from relay.migration where version = 9999")
        chat = own_relay.guest()
        word = await own_relay.asked(chat)
        await own_relay.relay.start()
        await own_relay.answered(chat, word)
        assert own_relay.times(chat, word) == 1


# Waiting for an unreachable project


@pytest.mark.parametrize("fault", ["paused", "disconnect"])
async def test_startup_waits_for_an_unavailable_project(project: SupabaseProject, fault: int | str) -> None:
    async with open_supabase_relay(project, start=False) as own_relay:
        if fault == "paused":
            project.pause()
        else:
            project.fail(fault)
        chat = own_relay.guest()
        word = await own_relay.asked(chat)
        await own_relay.relay.start()
        await own_relay.tg.wait_for(
            lambda: own_relay.relay.log.exists() and "waiting for the database" in own_relay.relay.output()
        )
        assert own_relay.tg.pending_updates
        project.recover()
        await own_relay.answered(chat, word)
        assert own_relay.times(chat, word) == 1
        assert "Traceback" not in own_relay.relay.output()


async def test_sigterm_ends_the_wait_for_the_project(project: SupabaseProject) -> None:
    async with open_supabase_relay(project, start=False) as own_relay:
        project.pause()
        await own_relay.relay.start()
        await own_relay.tg.wait_for(
            lambda: own_relay.relay.log.exists() and "waiting for the database" in own_relay.relay.output()
        )
        async with asyncio.timeout(5):
            assert await own_relay.relay.stop() == 0
        assert "Traceback" not in own_relay.relay.output()


# Both settings, and the command line


async def test_startup_migrates_if_the_connection_string_is_set(project: SupabaseProject) -> None:
    async with open_supabase_relay(project, start=False, DATABASE_URL=project.database_url) as own_relay:
        await asyncio.to_thread(project.forget_relay)
        chat = own_relay.guest()
        word = await own_relay.asked(chat)
        await own_relay.relay.start()
        try:
            await own_relay.answered(chat, word)
        finally:
            await asyncio.to_thread(project.migrate)
        assert '"storage": "Supabase"' in own_relay.relay.output()
        assert "database migrated" in own_relay.relay.output()
        assert project.calls("intake"), "data goes over REST"


async def test_an_up_to_date_project_is_used_without_the_connection_string(project: SupabaseProject) -> None:
    nowhere = "postgresql://somebody:secretpassword@127.0.0.1:9/nothing"
    async with open_supabase_relay(project, start=False, DATABASE_URL=nowhere) as own_relay:
        chat = own_relay.guest()
        word = await own_relay.asked(chat)
        await own_relay.relay.start()
        await own_relay.answered(chat, word)
        assert "secretpassword" not in own_relay.relay.output()


@pytest.mark.slow("test_migrate.py and test_supabase_schema.py")
async def test_db_commands_work_with_supabase(project: SupabaseProject, tmp_path: Path) -> None:
    both = supabase_settings(project, DATABASE_URL=project.database_url, HOME=str(tmp_path))
    over_rest = both | {"DATABASE_URL": ""}
    version = migrations.load().version
    code, told = await relay(tmp_path, "db", "status", **over_rest)
    assert code == 0
    assert json.loads(told) == {"storage": "Supabase", "database": version, "relay": version, "up_to_date": True}
    await asyncio.to_thread(project.forget_relay)
    try:
        code, told = await relay(tmp_path, "db", "status", **over_rest)
        assert json.loads(told) == {"storage": "Supabase", "database": 0, "relay": version, "up_to_date": False}
        code, told = await relay(tmp_path, "db", "migrate", **over_rest)
        assert code == 2
        assert "Tables can't be created over SUPABASE_URL. Run `relay db migrate` with" in told
        code, sql = await relay(tmp_path, "db", "sql", **over_rest)
        assert code == 0
        project.sql(sql, "project")
        project.sql(sql, "project")
        await asyncio.to_thread(project.reloaded, 200)
        code, told = await relay(tmp_path, "db", "status", **over_rest)
        assert json.loads(told)["up_to_date"] is True
        await asyncio.to_thread(project.forget_relay)
        code, told = await relay(tmp_path, "db", "migrate", **both)
        assert (code, told) == (0, f"Migrated: schema {version}, DATABASE_URL\n")
        code, told = await relay(tmp_path, "db", "migrate", **both)
        assert (code, told) == (0, f"Up to date: schema {version}, DATABASE_URL\n")
        await asyncio.to_thread(project.reloaded, 200)
        code, told = await relay(tmp_path, "memory", **over_rest)
        assert code == 0
        project.pause()
        code, told = await relay(tmp_path, "db", "status", **over_rest)
        assert code == 1
        assert told.startswith("relay: The Supabase project is paused")
    finally:
        project.resume()
        await asyncio.to_thread(project.migrate)


async def test_clients_of_other_databases_are_not_imported(tmp_path: Path) -> None:
    """Neither client costs users of the other one memory, and text to speech costs nothing for those who don't use
    it."""
    others = "('supabase', 'httpx', 'psycopg', 'edge_tts')"
    modules = "relay.runtime.runtime, relay.surfaces.cli.cli, relay.surfaces.server.services"
    seen = f"import sys, {modules}; print([m for m in {others} if m in sys.modules])"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", seen, cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL
    )
    output, _ = await process.communicate()
    assert output.decode().strip() == "[]"
