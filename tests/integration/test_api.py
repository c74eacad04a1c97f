"""Tests the basics of the API: authentication, the form of errors, and the API document."""

from __future__ import annotations

from relay.memory.store import Store
from relay.surfaces.http.problems import NO_OBJECT
from tests.integration.api import fails, open_api
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, TurnDriver


async def test_a_token_shows_only_its_persons_own_data(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "Likes tea")
    await driver.teach(BEN, "Likes coffee")
    async with open_api(store) as api:
        assert (await api.get("/api/me")).json()["userId"] == str(ADA)
        listed = (await api.get("/api/memories")).json()
        assert [one["content"] for one in listed["memories"]] == ["Likes tea"]
        assert (listed["total"], listed["next"]) == (1, None)
        own = listed["memories"][0]["id"]
        assert (await api.get(f"/api/memories/{own}")).json()["memory"]["content"] == "Likes tea"
    async with open_api(store, BEN) as api:
        answer = await api.get(f"/api/memories/{own}")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert answer.json()["code"] == "unknown"


async def test_requests_without_a_valid_token_are_refused(driver: TurnDriver, store: Store, sql: Sql) -> None:
    async with open_api(store, BEN) as api:
        assert (await api.get("/api/me")).status_code == 200
        for wrong in ("", "Bearer x", "Basic x", "tma x"):
            answer = await api.get("/api/me", headers={"Authorization": wrong})
            assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in")
        await sql("update api_token set expires_at = now() - interval '1 second'")
        assert (await api.get("/api/me")).status_code == 401


async def test_a_body_that_is_no_json_object_is_answered_with_what_is_needed(store: Store) -> None:
    async with open_api(store) as api:
        for body in ({"content": b'{"text": "x"}'}, {"json": ["x"]}, {}, {"data": {"text": "x"}}):
            answer = await api.post("/api/memories", **body)  # type: ignore[arg-type]
            assert (await fails(answer, 400, "malformed"))["detail"] == NO_OBJECT


async def test_bad_input_is_answered_with_a_problem_document(driver: TurnDriver, store: Store) -> None:
    async with open_api(store) as api:
        for path, status in (("/api/memories/abc", 400), ("/api/memories?limit=0", 422), ("/api/nothing", 404)):
            answer = await api.get(path)
            assert (answer.status_code, answer.json()["status"]) == (status, status)
            assert answer.json()["detail"]
        assert (await api.get("/api/nothing")).json()["code"] == "unknown"
        assert (await api.put("/api/me")).json()["code"] == "method"
        json = {"Content-Type": "application/json"}
        for body in (b"{", b"\xff", b"[1]"):
            answer = await api.post("/api/memories", content=body, headers=json)
            assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
            assert "JSON decode" not in answer.json()["detail"]
        for body in ([1], None, "x"):
            assert (await api.put("/api/memory/settings", json=body)).status_code == 400
        document = (await api.get("/api/openapi.json")).json()
        assert "/api/memories/{memory_id}" in document["paths"]
        assert [name for name in document["components"]["schemas"] if not name.isalnum()] == [], "types of two modules"
