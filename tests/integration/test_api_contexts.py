"""Tests the fifteen specified context routes, each with a success and its errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx
import pytest

from relay.memory.people import People
from relay.memory.store import Store
from tests.integration.api import fails, open_api
from tests.integration.conftest import Sql
from tests.integration.library import add_marker, add_version, compose
from tests.integration.long_session import LongSession, long_session
from tests.integration.turn_driver import ADA, a_house

Json = dict[str, Any]


@pytest.fixture
async def past(sql: Sql) -> LongSession:
    """An ended session of Ada's with seven markers."""
    one = await long_session(sql, 40, 4_000)
    [(present,)] = await sql(
        "insert into session (thread_id, space_id) values (%s, %s) returning id", one.thread_id, one.space_id
    )
    await sql("update thread set session_id = %s where id = %s", present, one.thread_id)
    return one


async def test_projects_are_listed(api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession) -> None:
    listed = (await api.get("/api/memory/projects")).json()
    [one] = listed["projects"]
    assert {
        "projectId", "displayName", "chatId", "topicId", "space", "createdAt", "lastAccessed", "sessions", "registered",
        "tokens", "messages",
    } == set(one)  # fmt: skip
    assert (one["projectId"], one["displayName"], one["space"]) == (f"t{past.thread_id}", "Private chat", "private")
    assert (one["sessions"], one["registered"], one["messages"]) == (1, 0, 40)
    assert (await api.get("/api/memory/projects?registered=true")).json()["projects"] == []
    await fails(await api.get("/api/memory/projects?registered=x"), 422, "out_of_range")
    assert (await stranger.get("/api/memory/projects")).json() == {"projects": [], "total": 0, "next": None}


async def test_a_manifest_is_shown(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    project = f"/api/memory/projects/t{past.thread_id}"
    assert (await api.get(project)).json()["sessions"] == {}
    version = await add_version(sql, past.id, 1)
    composition = await compose(sql, "Garden", [version])
    await api.post(f"{project}/sessions/{past.id}", json={})
    shown = (await api.get(project)).json()
    assert {"version", "projectId", "displayName", "createdAt", "lastModified", "sessions", "compositions",
            "settings"} <= set(shown)  # fmt: skip
    session = shown["sessions"][str(past.id)]
    assert len(session["keepitMarkers"]) == 7
    assert [one["versionId"] for one in session["compressions"]] == ["v001"]
    assert shown["compositions"][f"c{composition}"]["name"] == "Garden"
    assert (shown["version"], shown["settings"]["ui"]["defaultView"]) == ("1.0.0", "timeline")
    await fails(await api.get("/api/memory/projects/t999"), 404, "unknown")
    await fails(await api.get("/api/memory/projects/12"), 400, "malformed")
    await fails(await stranger.get(project), 404, "unknown")


async def test_a_session_is_registered(api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession) -> None:
    path = f"/api/memory/projects/t{past.thread_id}/sessions/{past.id}"
    first = await api.post(path, json={})
    record = first.json()
    assert first.status_code == 201
    assert {"sessionId", "title", "originalTokens", "originalMessages", "firstTimestamp", "lastTimestamp",
            "registeredAt", "lastAccessed", "metadata", "keepitMarkers", "compressions"} <= set(record)  # fmt: skip
    assert record["metadata"] == {"projectName": "Private chat", "primaryTopics": []}
    assert record["originalMessages"] == 40
    assert (await api.post(path, json={})).status_code == 200
    await fails(await api.post(path, json={"x": 1}), 422, "out_of_range")
    await fails(await api.post(f"{path}9", json={}), 404, "unknown")
    await fails(await stranger.post(path, json={}), 404, "unknown")


async def test_a_session_is_unregistered(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    path = f"/api/memory/projects/t{past.thread_id}/sessions/{past.id}"
    await api.post(path, json={})
    [(present,)] = await sql("select session_id from thread where id = %s", past.thread_id)
    composition = await compose(sql, "Garden", [await add_version(sql, past.id, 1)], present)
    await fails(await stranger.delete(path), 404, "unknown")
    await fails(await api.delete(f"{path}?versions=x"), 422, "out_of_range")
    told = await fails(await api.delete(f"{path}?versions=delete"), 409, "in_use")
    assert told["error"] == {
        "code": "in_use",
        "compositions": [{"compositionId": f"c{composition}", "name": "Garden", "active": True}],
    }
    assert (await api.delete(path)).status_code == 204
    told = await fails(await api.delete(f"{path}?versions=delete&force=true"), 404, "unknown")
    assert told["detail"] == "That session isn't in the library."
    assert await sql("select registered_at, versions from session where id = %s", past.id) == [(None, 0)]
    assert await sql("select status from compression") == [("ready",)]
    await api.post(path, json={})
    assert (await api.delete(f"{path}?versions=delete&force=true")).status_code == 204
    assert await sql("select status from compression") == [("dropped",)]
    await fails(await api.delete(f"{path}9"), 404, "unknown")


async def test_versions_are_listed(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    path = f"/api/memory/sessions/{past.id}/versions"
    weights = {"preserved": 5, "summarized": 2, "weights": {"0.80": 2}}
    await compose(sql, "Garden", [await add_version(sql, past.id, 1, keepit=weights)])
    listed = (await api.get(path)).json()
    assert (listed["sessionId"], listed["originalMessages"], listed["total"]) == (str(past.id), 40, 1)
    [one] = listed["versions"]
    assert {"versionId", "file", "createdAt", "settings", "outputTokens", "outputMessages", "compressionRatio",
            "keepitStats", "sourceVersion", "status", "lastUsed", "usedInCompositions"} <= set(one)  # fmt: skip
    assert (one["versionId"], one["keepitStats"], one["usedInCompositions"]) == ("v001", weights, 1)
    await fails(await api.get("/api/memory/sessions/999/versions"), 404, "unknown")
    await fails(await stranger.get(path), 404, "unknown")


async def test_a_version_is_made(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    path = f"/api/memory/sessions/{past.id}/versions"
    wish: Json = {"mode": "uniform", "compactionRatio": 30, "aggressiveness": "aggressive", "sessionDistance": 5}
    shown = (await api.post(path, json=wish | {"preview": True})).json()
    assert set(shown["estimate"]) == {"outputTokens", "outputMessages", "compressionRatio", "costUsd"}
    assert shown["keepit"] == {"threshold": 0.65, "preserved": 4, "summarized": 3}
    assert shown["thresholds"] == [0.65]
    assert shown["settings"]["keepitMode"] == "decay"
    assert await sql("select count(*) from compression") == [(0,)]
    made = await api.post(path, json=wish)
    assert (made.status_code, made.json()) == (202, {"versionId": "v001", "status": "due"})
    assert await sql("select kind from job where kind = 'compression'") == [("compression",)]
    await sql("update compression set status = 'ready', rows = '[]', through_message_id = 999")
    await sql("insert into compression_keepit select 1, id, weight, 0.65, weight > 0.65 from keepit")
    there = await api.post(path, json=wish)
    assert (there.status_code, there.json()) == (200, {"versionId": "v001", "status": "ready"})
    await sql("delete from compression_keepit where keepit_id = (select min(id) from keepit)")
    pinned = (await api.get(f"{path}/v001")).json()
    assert (pinned["fresh"], pinned["changed"], pinned["marked"]) == (0, 0, 1)
    anew = await api.post(path, json=wish)
    assert (anew.status_code, anew.json()) == (202, {"versionId": "v002", "status": "due"}), "v001 lacks the marker"
    await sql("delete from job")
    await sql("delete from compression where id = 2")
    again = await api.post(path, json=wish | {"again": True, "sourceVersion": "v001"})
    await fails(again, 422, "refused")
    assert (await api.post(path, json=wish | {"again": True})).json()["versionId"] == "v003"
    minimal = {
        "mode": "tiered",
        "customTiers": [{"endPercent": 100, "compactionRatio": 4, "aggressiveness": "minimal"}],
    }
    assert (await api.post(path, json=minimal | {"preview": True})).json()["settings"]["customTiers"] == [
        {"endPercent": 100, "compactionRatio": 4, "aggressiveness": "light"}
    ]
    for wrong in ({"compactionRatio": 101}, {"compactionRatio": 1}, {"tierPreset": "x"}, {"x": 1},
                  {"customTiers": [{"endPercent": 50, "compactionRatio": 4, "aggressiveness": "light"}]}):  # fmt: skip
        await fails(await api.post(path, json=wrong), 422, "out_of_range")
    await fails(await api.post(path, content="{", headers={"Content-Type": "application/json"}), 400, "malformed")
    await fails(await api.post(path, json=wish | {"sourceVersion": "v009"}), 404, "unknown")
    await fails(await stranger.post(path, json=wish), 404, "unknown")


async def test_a_version_that_is_made_at_once_is_not_mistaken_for_an_older_one(
    store: Store, past: LongSession, sql: Sql
) -> None:
    async def finish(kind: str, key: str) -> None:
        await sql("update compression set status = 'ready', rows = '[]', through_message_id = 999")

    services = replace(a_house(store), people=People(frozenset({ADA}), frozenset()), run_job=finish)
    async with open_api(store, services=services) as api:
        path, free = f"/api/memory/sessions/{past.id}/versions", {"mode": "uniform", "method": "extract"}
        made = await api.post(path, json=free)
        assert (made.status_code, made.json()) == (201, {"versionId": "v001", "status": "ready"})


async def test_a_version_is_shown_and_downloaded(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    path = f"/api/memory/sessions/{past.id}/versions/v001"
    await add_version(sql, past.id, 1, "The **gate** is red.")
    one = (await api.get(path)).json()
    assert (one["versionId"], one["rows"][0]["text"]) == ("v001", "The **gate** is red.")
    for format, kind in (("md", "text/markdown; charset=utf-8"), ("jsonl", "application/x-ndjson")):
        file = await api.get(f"{path}?format={format}")
        assert file.headers["content-type"] == kind
        assert file.headers["content-disposition"].endswith(f"v001_tiered-standard_1k.{format}")
        assert "The **gate** is red." in file.text
    original = (await api.get(path.replace("v001", "original"))).json()
    assert (original["versionId"], len(original["rows"])) == ("original", 40)
    assert (await api.get(path.replace("v001", "original") + "?format=jsonl")).text.count("\n") == 41
    assert await sql("select last_accessed_at from session where id = %s", past.id) == [(None,)], (
        "reading must not count as access"
    )
    await fails(await api.get(path.replace("v001", "v002")), 404, "unknown")
    await fails(await api.get(f"{path}?format=pdf"), 422, "out_of_range")
    await fails(await stranger.get(path), 404, "unknown")
    await sql("update compression set status = 'due', rows = null")
    await fails(await api.get(path), 409, "conflict")


async def test_a_version_is_dropped(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    path = f"/api/memory/sessions/{past.id}/versions"
    [(present,)] = await sql("select session_id from thread where id = %s", past.thread_id)
    version = await add_version(sql, past.id, 1)
    composition = await compose(sql, "Garden", [version], present)
    unused = await compose(sql, "Pond", [version])
    await fails(await stranger.delete(f"{path}/v001"), 404, "unknown")
    told = await fails(await api.delete(f"{path}/v001"), 409, "in_use")
    assert told["error"] == {
        "code": "in_use",
        "compositions": [
            {"compositionId": f"c{composition}", "name": "Garden", "active": True},
            {"compositionId": f"c{unused}", "name": "Pond", "active": False},
        ],
    }
    assert (await api.delete(f"{path}/v001?force=true")).status_code == 204
    await fails(await api.delete(f"{path}/v001"), 404, "unknown")
    await fails(await api.delete(f"{path}/original"), 404, "unknown")


async def test_markers_are_listed(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    path = f"/api/memory/sessions/{past.id}/keepits"
    version = await add_version(sql, past.id, 1)
    await sql("insert into compression_keepit select %s, id, weight, 0.65, weight >= 0.65 from keepit", version)
    listed = (await api.get(path)).json()
    assert [one["weight"] for one in listed["markers"]] == [1, 1, 0.8, 0.8, 0.5, 0.5, 0.25]
    first, last = listed["markers"][0], listed["markers"][-1]
    assert {"markerId", "messageUuid", "weight", "label", "content", "position", "context", "createdAt", "survivedIn",
            "summarizedIn"} == set(first)  # fmt: skip
    assert (first["label"], listed["markers"][2]["label"], last["label"]) == ("pinned", "important", "minor")
    assert (first["survivedIn"], last["survivedIn"], last["summarizedIn"]) == (["v001"], [], ["v001"])
    assert set(first["position"]) == {"start", "end"}
    assert first["markerId"].startswith("p")
    assert first["messageUuid"].startswith("m")
    second = (await api.get(f"{path}?limit=3&cursor=6")).json()
    assert (len(second["markers"]), second["total"], second["next"]) == (1, 7, None)
    await fails(await api.get("/api/memory/sessions/999/keepits"), 404, "unknown")
    await fails(await stranger.get(path), 404, "unknown")


async def test_the_weight_of_a_marker_is_changed(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    [(marker,)] = await sql("select max(id) from keepit")
    path = f"/api/memory/sessions/{past.id}/keepits/p{marker}"
    changed = await api.put(path, json={"weight": 0.9})
    assert (changed.status_code, changed.json()["weight"], changed.json()["label"]) == (200, 0.9, "critical")
    for wrong in (-0.01, 1.01, "0.5", None, True, [1]):
        await fails(await api.put(path, json={"weight": wrong}), 422, "out_of_range")
    await fails(await api.put(path, json={}), 400, "malformed")
    await fails(await api.put(f"{path}9", json={"weight": 1}), 404, "unknown")
    await fails(await stranger.put(path, json={"weight": 1}), 404, "unknown")
    other = await long_session(sql, 10, 500)
    elsewhere = await add_marker(sql, other.id, "0.50", "elsewhere")
    wrong_session = f"/api/memory/sessions/{past.id}/keepits/p{elsewhere}"
    await fails(await api.put(wrong_session, json={"weight": 1}), 404, "unknown")
    assert (await api.delete(path)).status_code == 204
    await fails(await api.delete(path), 404, "unknown")


async def test_compositions_are_listed(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    path = f"/api/memory/projects/t{past.thread_id}/compositions"
    [(present,)] = await sql("select session_id from thread where id = %s", past.thread_id)
    composition = await compose(sql, "Garden", [await add_version(sql, past.id, 1)], present)
    listed = (await api.get(path)).json()
    [one] = listed["compositions"]
    assert {"compositionId", "name", "createdAt", "totalTokens", "totalMessages", "components", "usedInSessions",
            "status"} == set(one)  # fmt: skip
    assert (one["compositionId"], one["components"], one["usedInSessions"]) == (f"c{composition}", 1, [str(present)])
    await fails(await api.get("/api/memory/projects/t999/compositions"), 404, "unknown")
    await fails(await stranger.get(path), 404, "unknown")


async def test_a_composition_is_made(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    path = f"/api/memory/projects/t{past.thread_id}/compositions"
    await add_version(sql, past.id, 1)
    one: Json = {"sessionId": str(past.id), "versionId": "v001"}
    asked: Json = {"name": "Garden", "components": [one], "totalTokenBudget": 16_000, "outputFormat": "both"}
    shown = await api.post(path, json=asked | {"preview": True})
    assert (shown.status_code, shown.json()["totalTokens"], shown.json()["toMake"]) == (200, 1_000, 0)
    [part] = shown.json()["components"]
    assert (part["versions"], part["since"]) == ([{"versionId": "v001", "tokens": 1_000}], "7 markers")
    made = await api.post(path, json=asked)
    assert (made.status_code, made.json()["status"]) == (201, "ready")
    await fails(await api.post(path, json=asked), 409, "conflict")
    new: Json = {"sessionId": str(past.id), "versionId": "new", "recompressSettings": {"compactionRatio": 10}}
    waits = await api.post(path, json=asked | {"name": "Pond", "components": [new]})
    assert (waits.status_code, waits.json()["status"]) == (202, "making")
    replaced = await api.post(path, json=asked | {"totalTokenBudget": 2_000, "replaces": made.json()["compositionId"]})
    assert (replaced.status_code, replaced.json()) == (201, made.json())
    for budget in (999, 100_001):
        await fails(await api.post(path, json=asked | {"totalTokenBudget": budget}), 422, "out_of_range")
    for wrong in ([], [one, one], [one | {"allocation": 0}]):
        await fails(await api.post(path, json=asked | {"name": "x", "components": wrong}), 422, "out_of_range")
    for unknown in ({"sessionId": "999"}, {"sessionId": "abc"}, one | {"versionId": "v009"}):
        answer = await api.post(path, json=asked | {"name": "x", "components": [unknown]})
        await fails(answer, 404, "unknown")
    await fails(await stranger.post(path, json=asked), 404, "unknown")


async def test_a_composition_is_shown_and_downloaded(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    await add_version(sql, past.id, 1, "The gate is red.")
    made = await api.post(
        f"/api/memory/projects/t{past.thread_id}/compositions",
        json={"name": "My garden", "components": [{"sessionId": str(past.id), "versionId": "v001"}]},
    )
    path = f"/api/memory/compositions/{made.json()['compositionId']}"
    one = (await api.get(path)).json()
    assert {"compositionId", "name", "createdAt", "components", "outputFile", "totalTokens", "totalMessages",
            "usedInSessions", "status"} <= set(one)  # fmt: skip
    part = one["components"][0]
    assert (part["sessionId"], part["versionId"], part["order"], part["tokenContribution"]) == (
        str(past.id), "v001", 1, 1_000,
    )  # fmt: skip
    assert (one["outputFile"], one["totalTokens"], one["status"]) == ("My garden.zip", 1_000, "ready")
    for format, name in (("md", "composed.md"), ("jsonl", "composed.jsonl"), ("zip", "My%20garden.zip")):
        file = await api.get(f"{path}?format={format}")
        assert file.headers["content-disposition"].endswith(f"''{name}")
        assert format == "zip" or "The gate is red." in file.text
    await fails(await api.get("/api/memory/compositions/c999"), 404, "unknown")
    await fails(await stranger.get(path), 404, "unknown")
    await sql("update composition set status = 'making', rows = null")
    await fails(await api.get(f"{path}?format=md"), 409, "conflict")


async def test_a_composition_is_dropped(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    [(present,)] = await sql("select session_id from thread where id = %s", past.thread_id)
    composition = await compose(sql, "Garden", [await add_version(sql, past.id, 1)], present)
    path = f"/api/memory/compositions/c{composition}"
    await fails(await stranger.delete(path), 404, "unknown")
    told = await fails(await api.delete(path), 409, "in_use")
    assert told["error"]["compositions"] == [{"compositionId": f"c{composition}", "name": "Garden", "active": True}]
    assert (await api.delete(f"{path}?force=true")).status_code == 204
    await fails(await api.delete(path), 404, "unknown")


async def test_the_decay_preview_matches_the_specified_example(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, sql: Sql
) -> None:
    session = await long_session(sql, 20, 2_000, ("1.00", "0.80", "0.50"))
    asked: Json = {
        "sessionId": str(session.id), "compressionRatio": 30, "aggressiveness": "aggressive", "sessionDistance": 5,
    }  # fmt: skip
    shown = (await api.post("/api/memory/decay/preview", json=asked)).json()
    first = await sql("select id from keepit order by weight desc")
    assert shown == {
        "markers": [
            {"markerId": f"p{first[0][0]}", "weight": 1.00, "survives": True},
            {"markerId": f"p{first[1][0]}", "weight": 0.80, "survives": True},
            {"markerId": f"p{first[2][0]}", "weight": 0.50, "survives": False},
        ],
        "threshold": 0.65,
    }
    full = (await api.post("/api/memory/decay/preview?full=true", json=asked)).json()
    assert [one["margin"] for one in full["markers"]] == [0.35, 0.15, -0.15]
    assert all(one["content"] for one in full["markers"])
    far = asked | {"compressionRatio": 50, "sessionDistance": 10}
    assert (await api.post("/api/memory/decay/preview", json=far)).json()["threshold"] == 1
    for wrong in ({"compressionRatio": 1}, {"aggressiveness": "x"}, {"sessionDistance": 0}, {"compressionRatio": "a"}):
        await fails(await api.post("/api/memory/decay/preview", json=asked | wrong), 422, "out_of_range")
    await fails(await api.post("/api/memory/decay/preview", json={"sessionId": "1"}), 400, "malformed")
    await fails(await api.post("/api/memory/decay/preview", json=asked | {"sessionId": "abc123"}), 404, "unknown")
    await fails(await stranger.post("/api/memory/decay/preview", json=asked), 404, "unknown")
