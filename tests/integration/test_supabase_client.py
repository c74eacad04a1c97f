"""Tests the Supabase client on a real PostgREST: the error for each failure, and that a timed-out call has ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from relay.clients.supabase.database import Supabase, check_key, error_of
from relay.core.errors import (
    AccessRefused,
    CallTooSlow,
    DatabaseError,
    DatabaseUnavailable,
    DataRefused,
    SchemaError,
    SettingsError,
    TurnLost,
)
from relay.memory.retrying_database import RetryingDatabase
from tests.standins.supabase import SupabaseProject

HTML = "<html><head><title>standin.supabase.co | 500</title></head><body>cloudflare</body></html>"


@pytest.fixture
async def client(project: SupabaseProject) -> AsyncIterator[Supabase]:
    client = Supabase(project.url, project.service_key, timeout=1.0)
    await client.open()
    yield client
    await client.close()


async def test_values_arrive_unchanged(client: Supabase) -> None:
    assert await client.call("open_memory", memory_id=2**62, user_id=1, admin=False) is None
    text = 'O\'Brien "quotes" \\ \u200f\u0639\u0631\u0628\u064a 🐝\n\t{[($1)]} %s ; drop table relay.soul; --'
    version = await client.call("activate_soul", text=text, author_id=2**52 - 17, author="Ada", reason="")
    assert version == 2
    soul = await client.call("soul")
    assert (soul["text"], soul["author_id"]) == (text, 2**52 - 17)
    assert await client.call("renew_job", job_id=2**53 - 1, fence=1, lease_seconds=1) is None
    assert await client.call("people") == []


async def test_both_kinds_of_service_key_work(project: SupabaseProject) -> None:
    for key in (project.service_key, project.secret_key, f" {project.secret_key}\n"):
        for url in (project.url, f"{project.url}/rest/v1"):
            client = Supabase(url, key)
            await client.open()
            assert await client.call("ping")
            await client.close()


async def test_a_lost_turn_raises_turn_lost(client: Supabase) -> None:
    with pytest.raises(TurnLost):
        await client.call("finish", turn_id=1, fence=1, reply={})


async def test_a_missing_function_is_reported_as_a_wrong_schema(client: Supabase) -> None:
    with pytest.raises(SchemaError):
        await client.call("never_made")
    with pytest.raises(SchemaError):
        await client.call("ping", argument_of_the_future=1)


async def test_data_that_postgres_refuses_is_reported_without_a_retry(
    client: Supabase, project: SupabaseProject
) -> None:
    with pytest.raises(DataRefused, match="cannot hold a value"):
        await client.call("status", space={"kind": "private", "owner_id": "x"})
    with pytest.raises(DataRefused, match="cannot hold a value"):
        await client.call("status", space={"kind": "private", "owner_id": "1\x00"})
    assert len(project.calls("status")) == 2


@pytest.mark.parametrize(
    ("kind", "body", "sentence", "requests"),
    [
        (500, None, "refused a call: internal error", 1),
        (500, HTML, "has a problem right now \\(HTTP 500\\)", 2),
        (500, {"message": "An unexpected error occurred"}, "has a problem right now \\(HTTP 500\\)", 2),
        (502, None, "has a problem right now \\(HTTP 502\\)", 2),
        (503, None, "has a problem right now \\(HTTP 503\\)", 2),
        (503, {"message": "name resolution failed"}, "has a problem right now \\(HTTP 503\\)", 2),
        (522, None, "has a problem right now \\(HTTP 522\\)", 2),
        (544, {"message": "connection timed out"}, "has a problem right now \\(HTTP 544\\)", 2),
        (429, None, "fewer requests", 1),
        (402, {"message": "exceed_egress_quota"}, "restricted the project", 1),
        (540, None, "paused .* Wake it at supabase.com/dashboard", 1),
        (540, HTML, "paused .* Wake it at supabase.com/dashboard", 1),
        (401, None, "does not accept the key .* Project → Settings → API keys", 1),
        (404, HTML, "is not the address of a Supabase project", 1),
        (200, HTML, "is not the address of a Supabase project", 1),
        ("timeout", None, "does not answer right now", 1),
        ("stuck", None, "does not answer right now", 1),
        ("disconnect", None, "cannot be reached right now", 2),
        ("lost", None, "cannot be reached right now", 2),
    ],
)
async def test_each_fault_gives_one_sentence_and_ends_by_itself(
    client: Supabase, project: SupabaseProject, kind: int | str, body: Any, sentence: str, requests: int
) -> None:
    fault = project.fail(kind, body=body)
    with pytest.raises(DatabaseError, match=sentence) as raised:
        await client.call("ping")
    assert isinstance(raised.value, DatabaseUnavailable) == (body is not None or kind != 500)
    assert fault.hits == requests
    assert "cloudflare" not in str(raised.value)
    assert "127.0.0.1" not in str(raised.value)
    assert not any(secret in str(raised.value) for secret in project.secrets)
    project.recover()
    assert await client.call("ping")


@pytest.mark.parametrize("kind", [502, 503, "disconnect", "lost"])
async def test_a_short_failure_is_hidden_by_a_retry(
    client: Supabase, project: SupabaseProject, kind: int | str
) -> None:
    project.fail(kind, times=1)
    assert await client.call("ping")


async def test_rotated_keys_are_refused_until_they_are_restored(client: Supabase, project: SupabaseProject) -> None:
    project.rotate_keys()
    with pytest.raises(AccessRefused, match="may have been rotated"):
        await client.call("ping")
    project.restore_keys()
    assert await client.call("ping")


async def test_a_token_accepted_by_the_gateway_but_not_by_postgrest_is_explained(
    client: Supabase, project: SupabaseProject
) -> None:
    project.postgrest.use_secret("a different secret, of the length that it must have")
    project.postgrest.until(lambda status: status == 401, "/rpc/whoami", project.service_key)
    with pytest.raises(AccessRefused, match="does not accept the key"):
        await client.call("ping")
    project.rotate_keys()
    project.restore_keys()
    assert await client.call("ping")


async def test_a_key_without_rights_is_explained(project: SupabaseProject) -> None:
    for key in (project.anon_key, project.user_key, project.publishable_key):
        with pytest.raises(SettingsError, match=r"SUPABASE_SERVICE_ROLE_KEY is set to the .* key, which has no access"):
            Supabase(project.url, key)
    key = "sb_secret_that_may_less"
    project.gateway.keys.known[key] = project.user_key
    client = Supabase(project.url, key)
    await client.open()
    with pytest.raises(AccessRefused, match=r"does not accept the key .HTTP 403."):
        await client.call("ping")
    await client.close()


@pytest.mark.parametrize("key", ["two words", "schlüssel", "line\nbreak"])
def test_a_malformed_key_is_refused_at_once(key: str) -> None:
    with pytest.raises(SettingsError, match="is not a key of Supabase's") as raised:
        check_key(key)
    assert key not in str(raised.value)


async def test_a_statement_that_takes_too_long_is_cancelled_and_can_be_repeated(
    client: Supabase, project: SupabaseProject
) -> None:
    project.sql("alter role service_role set statement_timeout = '200ms'; notify pgrst, 'reload config'")
    lock = asyncio.to_thread(project.sql, "begin; lock table relay.soul; select pg_sleep(0.9); commit")
    try:
        await until_limit(client, "200ms")
        holding = asyncio.create_task(lock)
        await asyncio.sleep(0.2)
        assert await client.call("is_locked") is True
        with pytest.raises(CallTooSlow, match="statement timeout"):
            await client.call("activate_soul", text="slow", author_id=1, author="Ada", reason="")
        await holding
        assert await client.call("is_locked") is False
        assert await client.call("activate_soul", text="quick", author_id=1, author="Ada", reason="") == 2
    finally:
        project.sql("alter role service_role reset statement_timeout; notify pgrst, 'reload config'")
        await until_limit(client, "8s")


async def until_limit(client: Supabase, limit: str) -> None:
    assert client._client is not None
    for _ in range(200):
        told = (await client._client.rpc("whoami").execute()).data
        if isinstance(told, dict) and told["statement_timeout"] == limit:
            return
        await asyncio.sleep(0.02)
    raise TimeoutError(f"the limit never became {limit}")


async def test_an_unavailable_postgres_is_waited_for(client: Supabase, project: SupabaseProject) -> None:
    database = project.database
    database.execute("postgres", "alter database project allow_connections false")
    database.execute("postgres", "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'project'")
    try:
        with pytest.raises(DatabaseUnavailable, match=r"has a problem right now|cannot be used right now"):
            await client.call("ping")
        waiting = asyncio.create_task(RetryingDatabase(client).call("ping"))
        await asyncio.sleep(0.3)
        assert not waiting.done()
    finally:
        database.execute("postgres", "alter database project allow_connections true")
    assert await asyncio.wait_for(waiting, 30)


async def test_an_unreachable_network_is_reported(project: SupabaseProject) -> None:
    client = Supabase("http://127.0.0.1:9", project.service_key)
    await client.open()
    with pytest.raises(DatabaseUnavailable, match=r"cannot be reached right now .ConnectError."):
        await client.call("ping")
    await client.close()


async def test_connections_stay_open(client: Supabase, project: SupabaseProject) -> None:
    for _ in range(5):
        await asyncio.gather(client.call("ping"), client.call("soul"))
    assert len({seen.connection for seen in project.calls()}) == 2


async def test_every_error_is_one_sentence() -> None:
    for status in (*range(300, 600), 999):
        for code in ("", "PGRST000", "PGRST301", "PGRST102", "57014", "53300", "23505", "XX000", "42501"):
            text = str(error_of(status, code, "message"))
            assert text.endswith((".", ")"))
            assert "\n" not in text


async def test_the_key_is_sent_in_headers_only(project: SupabaseProject, client: Supabase) -> None:
    sent: list[httpx.Request] = []

    async def keep(request: httpx.Request) -> None:
        sent.append(request)

    client._http.event_hooks["request"].append(keep)
    await client.call("ping")
    assert project.service_key not in str(sent[0].url)
    assert json.loads(sent[0].content) == {}
    assert sent[0].headers["apikey"] == project.service_key
