"""The Supabase stand-in behaves like Supabase where Relay could notice."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.standins.supabase import PostgrestMissing, SupabaseProject, postgrest
from tests.standins.supabase.keys import signed


@pytest.fixture(scope="module")
def running() -> Iterator[SupabaseProject]:
    with SupabaseProject() as project:
        yield project


@pytest.fixture
def project(running: SupabaseProject) -> Iterator[SupabaseProject]:
    yield running
    running.recover()
    running.restore_keys()


def ask(
    project: SupabaseProject, path: str, key: str = "", body: Any = None, timeout: float = 5, **headers: str
) -> tuple[int, Any]:
    """Sends a request with a key as Supabase clients do. Returns the status and the JSON (or text) of the response."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if key:
        headers |= {"apikey": key, "Authorization": f"Bearer {key}"}
    connection = http.client.HTTPConnection(project.url.removeprefix("http://"), timeout=timeout)
    try:
        headers["Content-Type"] = "application/json"
        connection.request("GET" if body is None else "POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        status, text = answer.status, answer.read().decode()
    finally:
        connection.close()
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text


@pytest.mark.parametrize(
    ("key", "role", "limit"),
    [
        ("service_key", "service_role", "8s"),
        ("secret_key", "service_role", "8s"),
        ("user_key", "authenticated", "8s"),
        ("anon_key", "anon", "3s"),
        ("publishable_key", "anon", "3s"),
    ],
)
def test_each_key_gives_its_role(project: SupabaseProject, key: str, role: str, limit: str) -> None:
    answer = ask(project, "/rest/v1/rpc/whoami", getattr(project, key), {})
    assert answer == (200, {"role": role, "statement_timeout": limit})


def test_the_gateway_refuses_unknown_keys(project: SupabaseProject) -> None:
    assert ask(project, "/rest/v1/note")[0] == 401
    status, told = ask(project, "/rest/v1/note", signed("service_role", "another secret, as long as it has to be"))
    assert (status, told["message"]) == (401, "Invalid API key")
    assert ask(project, "/rest/v2/note", project.anon_key)[0] == 404


def test_the_project_has_tables_of_its_user(project: SupabaseProject) -> None:
    status, rows = ask(project, "/rest/v1/note", project.anon_key)
    assert status == 200
    assert rows[0]["body"] == "a note of the user's own"


def test_default_privileges_grant_new_functions_to_anon(project: SupabaseProject) -> None:
    granted = "select proacl::text from pg_proc where proname = 'whoami'"
    ((acl,),) = project.sql(granted)
    assert "anon=X" in acl
    project.sql("create function public.fresh() returns integer language sql return 1; notify pgrst", "project")
    try:
        ((allowed,),) = project.sql("select has_function_privilege('anon', 'public.fresh()', 'execute')")
        project.sql("revoke execute on function public.fresh() from public")
        ((still,),) = project.sql("select has_function_privilege('anon', 'public.fresh()', 'execute')")
        assert (allowed, still) == (True, True)
    finally:
        project.sql("drop function public.fresh()")


def test_the_migrating_role_is_not_a_superuser(project: SupabaseProject) -> None:
    assert project.sql("select rolsuper from pg_roles where rolname = current_user", "project") == [(False,)]


def test_faults_occur_as_often_as_ordered(project: SupabaseProject) -> None:
    project.fail(502, times=1)
    status, page = ask(project, "/rest/v1/rpc/whoami", project.service_key, {})
    assert status == 502
    assert "cloudflare" in page
    assert ask(project, "/rest/v1/rpc/whoami", project.service_key, {})[0] == 200
    project.fail("timeout", times=1)
    with pytest.raises(TimeoutError):
        ask(project, "/rest/v1/rpc/whoami", project.service_key, {}, timeout=0.3)
    for kind in ("disconnect", "lost"):
        project.fail(kind, times=1)
        with pytest.raises(ConnectionError):
            ask(project, "/rest/v1/rpc/whoami", project.service_key, {})
    project.pause()
    assert ask(project, "/rest/v1/rpc/whoami", project.service_key, {})[0] == 540
    project.resume()
    assert ask(project, "/rest/v1/rpc/whoami", project.service_key, {})[0] == 200


def test_old_keys_are_refused_after_a_rotation(project: SupabaseProject) -> None:
    old = project.service_key
    project.rotate_keys()
    assert ask(project, "/rest/v1/rpc/whoami", old, {})[0] == 401
    assert ask(project, "/rest/v1/rpc/whoami", project.service_key, {})[0] == 200
    project.restore_keys()
    assert project.service_key == old
    assert ask(project, "/rest/v1/rpc/whoami", old, {})[0] == 200


def test_requests_are_counted_and_delayed(project: SupabaseProject) -> None:
    before = len(project.requests)
    project.gateway.delay = 0.04
    began = time.monotonic()
    ask(project, "/rest/v1/rpc/whoami", project.anon_key, {})
    assert time.monotonic() - began >= 0.08
    (seen,) = project.requests[before:]
    assert (seen.path, seen.role, seen.status) == ("/rest/v1/rpc/whoami", "anon", 200)
    assert seen.done_at is not None
    assert seen.done_at - seen.at >= 0.08


def test_without_postgrest_a_test_is_skipped_but_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise PostgrestMissing("there is no npm here")

    monkeypatch.setattr(postgrest, "binary", missing)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="skipped, because there is no npm here"):
        postgrest.require_postgrest()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="CI needs PostgREST"):
        postgrest.require_postgrest()
