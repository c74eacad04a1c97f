"""Starting on Supabase: wrong keys, wrong schemas, a project that is away; and `relay db` there."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from relay.memory import migrations
from tests.acceptance.home import named, open_home
from tests.acceptance.house import House
from tests.leaks import searched
from tests.standins.supabase import SupabaseProject


async def ended(house: House) -> tuple[int, str]:
    """A start that must fail by itself: its exit code and all that it said."""
    await house.relay.start()
    process = house.relay.process
    assert process is not None
    async with asyncio.timeout(30):
        code = await process.wait()
    told = house.relay.output()
    assert "Traceback" not in told
    assert not house.tg.calls("getUpdates"), "what waits at Telegram goes on waiting"
    return code, told


async def relay(folder: Path, *words: str, **settings: str) -> tuple[int, str]:
    """One run of the command line: its exit code and what it printed."""
    prefixes = ("RELAY_", "TELEGRAM_", "ANTHROPIC_", "DATABASE_", "SUPABASE_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "relay", *words, cwd=folder, env=inherited | settings,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    async with asyncio.timeout(60):
        output, _ = await process.communicate()
    return process.returncode or 0, searched(output.decode(), settings)


# Settings that are wrong: exit code 2


@pytest.mark.parametrize("kind", ["anon_key", "user_key", "publishable_key"])
async def test_a_key_that_everybody_may_have(project: SupabaseProject, kind: str) -> None:
    key = getattr(project, kind)
    async with open_home(project, start=False, SUPABASE_SERVICE_ROLE_KEY=key) as house:
        code, told = await ended(house)
    assert code == 2
    assert "SUPABASE_SERVICE_ROLE_KEY holds the" in told
    assert "Project → Settings → API keys" in told
    assert key not in told


async def test_a_key_that_was_rotated(project: SupabaseProject) -> None:
    async with open_home(project, start=False) as house:
        await asyncio.to_thread(project.rotate_keys)
        code, told = await ended(house)
    assert code == 2
    assert "does not accept the key (HTTP 401): it may have been rotated" in told


@pytest.mark.parametrize("missing", ["SUPABASE_URL", "SUPABASE_SERVICE_ROLE_KEY"])
async def test_one_without_the_other(project: SupabaseProject, missing: str) -> None:
    async with open_home(project, start=False, **{missing: ""}) as house:
        code, told = await ended(house)
    assert code == 2
    assert f"but {missing} is not" in told


async def test_an_address_that_is_no_project(project: SupabaseProject) -> None:
    project.fail(404, body="<html>Not found</html>")
    async with open_home(project, start=False) as house:
        project.fail(404, body="<html>Not found</html>")
        code, told = await ended(house)
    assert code == 2
    assert "What answers at SUPABASE_URL is no Supabase project" in told


async def test_a_wrong_key_is_told_although_telegram_is_away(project: SupabaseProject) -> None:
    async with open_home(project, start=False) as house:
        house.tg.fault("getMe", "disconnect", times=-1)
        await asyncio.to_thread(project.rotate_keys)
        code, _ = await ended(house)
    assert code == 2


# Schemas that do not fit: exit code 1


async def test_a_project_without_relay(project: SupabaseProject) -> None:
    async with open_home(project, start=False) as house:
        await asyncio.to_thread(project.forget_relay)
        try:
            code, told = await ended(house)
            assert code == 1
            assert "in the Supabase project are not there yet" in told
            assert "`relay db migrate` with the project's connection string" in told
            assert "`relay db sql`" in told
        finally:
            await asyncio.to_thread(project.migrate)


async def test_an_older_and_a_newer_schema(project: SupabaseProject) -> None:
    async with open_home(project, start=False) as house:
        digest = migrations.load().hashes["turn"]
        project.sql("update relay.function_file set hash = 'old' where name = 'turn'")
        try:
            code, told = await ended(house)
            assert code == 1
            assert "older than this Relay" in told
        finally:
            project.sql(f"update relay.function_file set hash = '{digest}' where name = 'turn'")  # noqa: S608
        project.sql("insert into relay.migration (version, name, breaking) values (9999, 'other', true)")
        try:
            code, told = await ended(house)
            assert code == 1
            assert "upgraded by a newer Relay" in told
        finally:
            project.sql("delete from relay.migration where version = 9999")
        chat = house.guest()
        word = await house.asked(chat)
        await house.relay.start()
        await house.answered(chat, word)
        assert house.times(chat, word) == 1


# A project that is away is waited for


@pytest.mark.parametrize("fault", ["paused", "disconnect"])
async def test_a_project_that_is_away_is_waited_for(project: SupabaseProject, fault: int | str) -> None:
    async with open_home(project, start=False) as house:
        if fault == "paused":
            project.pause()
        else:
            project.fail(fault)
        chat = house.guest()
        word = await house.asked(chat)
        await house.relay.start()
        await house.tg.wait_for(lambda: house.relay.log.exists() and "waiting for the database" in house.relay.output())
        assert house.tg.pending_updates
        project.recover()
        await house.answered(chat, word)
        assert house.times(chat, word) == 1
        assert "Traceback" not in house.relay.output()


async def test_waiting_ends_when_relay_is_told_to_stop(project: SupabaseProject) -> None:
    async with open_home(project, start=False) as house:
        project.pause()
        await house.relay.start()
        await house.tg.wait_for(lambda: house.relay.log.exists() and "waiting for the database" in house.relay.output())
        async with asyncio.timeout(5):
            assert await house.relay.stop() == 0
        assert "Traceback" not in house.relay.output()


# Both settings, and the command line


async def test_with_the_connection_string_a_start_migrates(project: SupabaseProject) -> None:
    async with open_home(project, start=False, DATABASE_URL=project.database_url) as house:
        await asyncio.to_thread(project.forget_relay)
        chat = house.guest()
        word = await house.asked(chat)
        await house.relay.start()
        try:
            await house.answered(chat, word)
        finally:
            await asyncio.to_thread(project.migrate)
        assert '"storage": "Supabase"' in house.relay.output()
        assert "database migrated" in house.relay.output()
        assert project.calls("intake"), "data goes over REST"


async def test_an_up_to_date_project_needs_no_connection_string(project: SupabaseProject) -> None:
    nowhere = "postgresql://somebody:secretpassword@127.0.0.1:9/nothing"
    async with open_home(project, start=False, DATABASE_URL=nowhere) as house:
        chat = house.guest()
        word = await house.asked(chat)
        await house.relay.start()
        await house.answered(chat, word)
        assert "secretpassword" not in house.relay.output()


async def test_the_command_line(project: SupabaseProject, tmp_path: Path) -> None:
    both = named(project, DATABASE_URL=project.database_url, HOME=str(tmp_path))
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
        assert "Over SUPABASE_URL no tables can be made. Run `relay db migrate` with" in told
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
    """Neither client costs the other's users, nor does what speaks cost those who only write."""
    others = "('supabase', 'httpx', 'psycopg', 'edge_tts')"
    modules = "relay.runtime.runtime, relay.surfaces.cli.cli, relay.surfaces.server.services"
    seen = f"import sys, {modules}; print([m for m in {others} if m in sys.modules])"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", seen, cwd=tmp_path, stdout=asyncio.subprocess.PIPE, stdin=asyncio.subprocess.DEVNULL
    )
    output, _ = await process.communicate()
    assert output.decode().strip() == "[]"
