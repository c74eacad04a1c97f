"""Tests the basics of the API: authentication, the form of errors, and the API document."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relay.core.errors import DataRefused
from relay.memory.people import People
from relay.memory.store import Store
from relay.surfaces.http.problems import NO_OBJECT
from tests.integration.api import fails, open_api
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, TurnDriver, a_house


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
        assert "/api/memories/{memoryId}" in document["paths"]
        assert [name for name in document["components"]["schemas"] if not name.isalnum()] == [], "types of two modules"


async def test_a_refusal_writes_values_as_json_does(store: Store) -> None:
    async with open_api(store) as api:
        for path, body in (("reminders", {"deleted": True}), ("memories", {"confirmed": False})):
            [(name, value)] = body.items()
            told = await fails(await api.patch(f"/api/{path}/1", json=body), 422, "out_of_range")
            assert told["detail"] == f"{name}: Input should be {str(not value).lower()}."


async def test_a_value_that_the_database_cannot_hold_is_out_of_range(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise DataRefused

    monkeypatch.setattr(type(store), "memories", refuse)
    async with open_api(store) as api:
        await fails(await api.get("/api/memories"), 422, "out_of_range")


async def test_a_parameter_that_a_route_does_not_have_is_refused(store: Store) -> None:
    async with open_api(store) as api:
        for path in ("/api/memories?limt=1", "/api/memory/search?limit=1&limt=1", "/api/me?limt=1"):
            assert "“limt”" in (await fails(await api.get(path), 422, "out_of_range"))["detail"]
        twice = await fails(await api.get("/api/memories?limit=1&limit=200"), 422, "out_of_range")
        assert twice["detail"] == "Please give “limit” once."
        known = "text=tea&files=a&files=b&start=2026-01-01&projectId=t9&cursor=1&limit=1"
        await fails(await api.get(f"/api/memory/search?{known}"), 404, "unknown")
        nobody = await api.get("/api/memories?limt=1", headers={"Authorization": ""})
        await fails(nobody, 401, "not_signed_in")


async def test_head_is_answered_like_get_without_a_body(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "Likes tea")
    async with open_api(store) as api:
        for path, status in (("/api/memories", 200), ("/api/memories/999999", 404), ("/api/export", 200), ("/", 200)):
            head, whole = await api.head(path), await api.get(path)
            assert (head.status_code, head.content) == (whole.status_code, b"") == (status, b"")
            assert head.headers["content-type"] == whole.headers["content-type"]


async def test_a_wrong_method_is_answered_with_all_that_the_address_takes(store: Store) -> None:
    async with open_api(store) as api:
        for path, taken in (
            ("/api/memories", "GET, HEAD, POST"), ("/api/memories/1", "GET, HEAD, PATCH, DELETE"),
            ("/api/memories/merge/x", None), ("/api/memories/1/restore", "POST"),
        ):  # fmt: skip
            answer = await api.put(path)
            assert (answer.status_code, answer.headers.get("allow")) == (405 if taken else 404, taken)


async def test_me_says_how_memory_learns(store: Store) -> None:
    house = a_house(store)
    tags = replace(house, installation=replace(house.installation, capture="tags"), people=People(frozenset({ADA})))
    async with open_api(store, services=tags) as api:
        document = (await api.get("/api/openapi.json")).json()
        said = (await api.get("/api/me")).json()["capture"]
    assert said == "tags"
    assert said in document["components"]["schemas"]["Me"]["properties"]["capture"]["enum"]
