"""Tests the context routes that the pages need beyond the specified ones, and who sees what."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from relay.core.models import Space
from relay.memory.store import Store
from tests.integration.api import fails, open_api
from tests.integration.conftest import Sql
from tests.integration.library import add_marker, add_version, compose
from tests.integration.long_session import LongSession, long_session
from tests.integration.turn_driver import ADA, BEN, GROUP, TurnDriver, dm

Json = dict[str, Any]
JSON = {"Content-Type": "application/json"}


@pytest.fixture
async def past(sql: Sql) -> LongSession:
    """Ada's running session with seven markers."""
    return await long_session(sql, 40, 4_000)


async def test_settings_are_read_and_changed(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    defaults = (await api.get("/api/memory/settings")).json()
    assert defaults["keepitDecay"]["compressionBase"] == {"light": 0.1, "moderate": 0.3, "aggressive": 0.5}
    change: Json = {"ui": {"defaultView": "list"}, "keepitDecay": {"compressionBase": {"aggressive": 0.6}}}
    changed = (await api.put("/api/memory/settings", json=change)).json()
    assert changed["ui"] == defaults["ui"] | {"defaultView": "list"}
    assert changed["keepitDecay"]["compressionBase"] == {"light": 0.1, "moderate": 0.3, "aggressive": 0.6}
    assert (await api.get(f"/api/memory/settings?projectId=t{past.thread_id}")).json() == changed
    assert (await api.put("/api/memory/settings", json=changed)).json() == changed, (
        "a complete settings document must be accepted"
    )
    wrong: list[Json] = [
        {"x": 1}, {"ui": {"x": 1}}, {"ui": 1}, {"ui": {"defaultView": "x"}},
        {"keepitDecay": {"compressionBase": {"light": 0.9}}},
        {"ui": {"defaultView": "list"}, "storage": {"maxCacheSize": 0}},
        {"storage": {"maxCacheSize": "1\u0663GB"}}, {"storage": {"compressionRetention": "3\u0660d"}},
        {"storage": {"maxCacheSize": "8388608TB"}},
        {"keepitDecay": {"maxSessionDistance": "5"}}, {"ui": {"showTokenEstimates": "yes"}},
    ]  # fmt: skip
    for one in wrong:
        await fails(await api.put("/api/memory/settings", json=one), 422, "out_of_range")
    half = await api.put("/api/memory/settings", content=b'{"storage": {"maxCacheSize": "\\ud800"}}', headers=JSON)
    assert (await fails(half, 422, "out_of_range"))["detail"].startswith("The storage limit should be a size")
    assert (await api.get("/api/memory/settings")).json() == changed
    whole = (await api.put("/api/memory/settings", json={"keepitDecay": {"maxSessionDistance": 5.0}})).json()
    assert whole["keepitDecay"] == changed["keepitDecay"] | {"maxSessionDistance": 5}
    await fails(await stranger.get(f"/api/memory/settings?projectId=t{past.thread_id}"), 404, "unknown")
    await fails(await stranger.put(f"/api/memory/settings?projectId=t{past.thread_id}", json={}), 404, "unknown")


@pytest.mark.parametrize(
    ("name", "stored"),
    [("maxCacheSize", "1\u0663GB"), ("maxCacheSize", "8388608TB"), ("compressionRetention", "3\u0660d")],
)
async def test_a_stored_setting_that_is_no_longer_valid_hinders_nothing(
    name: str, stored: str, api: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    await add_version(sql, past.id, 1)
    defaults = (await api.get("/api/memory/settings")).json()
    await sql(
        "insert into context_setting select id, jsonb_build_object('storage', jsonb_build_object(%s::text, %s::text)) "
        "from space", name, stored,
    )  # fmt: skip
    assert (await api.get("/api/memory/settings")).json() == defaults
    assert (await api.get("/api/memory/stats")).json()["freed"]["rows"] == 0
    assert await sql("select relay.apply_retention(space_id) from context_setting") == [([],)]
    changed = await api.put("/api/memory/settings", json={"ui": {"defaultView": "list"}})
    assert changed.json() == defaults | {"ui": defaults["ui"] | {"defaultView": "list"}}
    await api.put("/api/memory/settings", json={"storage": {name: defaults["storage"][name]}})
    assert await sql("select settings #>> array['storage', %s] from context_setting", name) != [(stored,)]


async def test_statistics_are_shown(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    shown = (await api.get("/api/memory/stats")).json()
    assert {one["kind"]: one["rows"] for one in shown["stored"]}["markers"] == 7
    assert shown["database"] > 0
    empty = (await stranger.get("/api/memory/stats")).json()
    assert {one["rows"] for one in empty["stored"]} == {0}
    assert await sql("select count(*) from space") == [(1,)], "reading must not create a space"


async def test_sessions_of_a_project_are_listed(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    newer = await long_session(sql, 10, 500)
    await api.post(f"/api/memory/projects/t{past.thread_id}/sessions/{past.id}", json={})
    path = f"/api/memory/projects/t{past.thread_id}/sessions"
    listed = (await api.get(f"{path}?limit=1")).json()
    assert (listed["total"], listed["next"], [one["sessionId"] for one in listed["sessions"]]) == (
        2, "1", [str(newer.id)],
    )  # fmt: skip
    [one] = (await api.get(f"{path}?cursor=1")).json()["sessions"]
    assert (one["sessionId"], one["registered"], one["markers"], one["current"]) == (str(past.id), True, 7, False)
    await sql("update thread set session_id = null")
    assert {one["current"] for one in (await api.get(path)).json()["sessions"]} == {False}, (
        "an imported session is not the current one"
    )
    await fails(await stranger.get(path), 404, "unknown")


async def test_a_session_and_its_messages_are_shown(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    path = f"/api/memory/sessions/{past.id}"
    one = (await api.get(path)).json()
    assert (one["projectId"], one["current"], len(one["keepitMarkers"])) == (f"t{past.thread_id}", True, 7)
    page = (await api.get(f"{path}/messages?limit=30")).json()
    assert (len(page["messages"]), page["total"], page["next"]) == (30, 40, "30")
    rest = (await api.get(f"{path}/messages?cursor=30")).json()
    assert (len(rest["messages"]), rest["next"], rest["messages"][0]["role"]) == (10, None, "user")
    tenth = page["messages"][9]["messageUuid"]
    after = (await api.get(f"{path}/messages?after={tenth}&limit=5")).json()
    assert (after["messages"], after["total"], after["next"]) == (page["messages"][10:15], 40, "15")
    last = (await api.get(f"{path}/messages?after={rest['messages'][-1]['messageUuid']}")).json()
    assert (last["messages"], last["next"]) == ([], None)
    await fails(await api.get(f"{path}/messages?after=12"), 422, "out_of_range")
    await fails(await stranger.get(f"{path}/messages?after=m1"), 404, "unknown")
    for where in (path, f"{path}/messages"):
        await fails(await stranger.get(where), 404, "unknown")
        await fails(await api.get(where.replace(str(past.id), "999")), 404, "unknown")
        await sql("update session set private = true")
        await fails(await api.get(where), 404, "unknown")
        await sql("update session set private = false")


async def test_a_passage_of_a_message_is_marked(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    path = f"/api/memory/sessions/{past.id}/keepits"
    [(message, text)] = await sql("select id, text from message order by id limit 1")
    words = text[5:40]
    asked: Json = {"messageUuid": f"m{message}", "text": words, "weight": 0.755}
    made = await api.post(path, json=asked)
    assert (made.status_code, made.json()["weight"], made.json()["content"]) == (201, 0.76, words.strip())
    assert made.json()["position"] == {"start": 5, "end": 40}
    assert await sql("select origin, user_id from keepit order by id desc limit 1") == [("http", ADA)]
    await fails(await api.post(path, json=asked | {"text": "never said"}), 422, "out_of_range")
    await fails(await api.post(path, json=asked | {"weight": 2}), 422, "out_of_range")
    for unknown in ("m999999", str(message)):
        await fails(await api.post(path, json=asked | {"messageUuid": unknown}), 404, "unknown")
    other = await long_session(sql, 10, 500)
    elsewhere = f"/api/memory/sessions/{other.id}/keepits"
    await fails(await api.post(elsewhere, json=asked), 404, "unknown")
    await fails(await stranger.post(path, json=asked), 404, "unknown")
    assert await sql("select status from turn where kind = 'control' group by status") == [("done",)]


async def test_a_time_that_the_database_cannot_read_is_refused(api: httpx.AsyncClient) -> None:
    for time in ("2026-01-01T00:00:00+16:00", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00Z", "1767225600"):
        for name in ("start", "end"):
            await fails(await api.get("/api/memory/search", params={name: time}), 422, "out_of_range")
    for time in ("2026-01-01T00:00:00+15:59", "9998-12-31T23:59:59Z", "2026-01-01T00:00:00", "2026-01-01"):
        assert (await api.get("/api/memory/search", params={"start": time, "end": time})).status_code == 200


async def test_two_versions_are_compared(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    a, b = await add_version(sql, past.id, 1, "One."), await add_version(sql, past.id, 2, "Two.")
    [(marker,)] = await sql("select min(id) from keepit")
    await sql("insert into compression_keepit values (%s, %s, 1, 0.5, true)", a, marker)
    path = f"/api/memory/sessions/{past.id}/compare"
    shown = (await api.get(f"{path}?a=v001&b=v002")).json()
    assert (shown["a"]["rows"][0]["text"], shown["b"]["rows"][0]["text"]) == ("One.", "Two.")
    assert ([one["markerId"] for one in shown["onlyA"]], shown["onlyB"]) == ([f"p{marker}"], [])
    await fails(await api.get(f"{path}?a=v001&b=v009"), 404, "unknown")
    await fails(await api.get(f"{path}?a=v001&b=v001"), 422, "out_of_range")
    await fails(await api.get(f"{path}?a=v001"), 400, "malformed")
    await fails(await stranger.get(f"{path}?a=v001&b=v002"), 404, "unknown")
    assert b


async def test_versions_are_pruned_and_restored(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    for number in (1, 2, 3):
        await add_version(sql, past.id, number)
    await compose(sql, "Garden", [3], past.id)
    asked: Json = {"sessionId": str(past.id), "versionIds": ["v001", "v002"]}
    await fails(await stranger.post("/api/memory/versions/prune", json=asked), 404, "unknown")
    await fails(await api.post("/api/memory/versions/prune", json=asked | {"versionIds": ["v009"]}), 404, "unknown")
    await fails(await api.post("/api/memory/versions/prune", json=asked | {"versionIds": []}), 422, "out_of_range")
    used = await api.post("/api/memory/versions/prune", json=asked | {"versionIds": ["v001", "v003"]})
    assert len((await fails(used, 409, "in_use"))["error"]["compositions"]) == 1
    gone = (await api.post("/api/memory/versions/prune", json=asked)).json()
    assert [one["versionId"] for one in gone["pruned"]] == ["v001", "v002"]
    back: Json = {"sessionId": str(past.id), "undo": gone["undo"]}
    await fails(await stranger.post("/api/memory/versions/restore", json=back), 404, "unknown")
    other = await long_session(sql, 10, 500)
    elsewhere = back | {"sessionId": str(other.id)}
    await fails(await api.post("/api/memory/versions/restore", json=elsewhere), 409, "conflict")
    restored = await api.post("/api/memory/versions/restore", json=back)
    assert restored.json() == {"versionIds": ["v001", "v002"]}
    for undo in ("999", f"{past.id}-999", gone["undo"]):
        told = await fails(await api.post("/api/memory/versions/restore", json=back | {"undo": undo}), 409, "conflict")
        assert told["detail"] == "There's nothing to bring back here. It may be back already, or it's too late."


async def test_a_version_that_is_still_being_made_is_a_conflict_and_not_unknown(
    api: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    await add_version(sql, past.id, 1)
    await sql("update compression set status = 'due' where id = %s", await add_version(sql, past.id, 2))
    path = f"/api/memory/sessions/{past.id}"
    pruning = {"sessionId": str(past.id), "versionIds": ["v001", "v002"]}
    for answer in (
        await api.get(f"{path}/versions/v002"),
        await api.get(f"{path}/compare?a=v001&b=v002"),
        await api.delete(f"{path}/versions/v002"),
        await api.post("/api/memory/versions/prune", json=pruning),
    ):
        await fails(answer, 409, "conflict")
    assert (await api.get(f"{path}/versions")).json()["total"] == 2


async def test_a_session_that_cannot_be_composed_is_named_as_it_was_asked_for(
    api: httpx.AsyncClient, past: LongSession
) -> None:
    path = (await api.get("/api/memory/projects")).json()["projects"][0]["projectId"]
    for asked in ("s34", "999999"):
        body = {"name": "Garden", "components": [{"sessionId": asked}]}
        answer = await api.post(f"/api/memory/projects/{path}/compositions", json=body)
        assert asked in (await fails(answer, 404, "unknown"))["detail"]


async def test_the_name_of_a_composition_is_measured_without_the_spaces_around_it(
    api: httpx.AsyncClient, past: LongSession
) -> None:
    path = (await api.get("/api/memory/projects")).json()["projects"][0]["projectId"]
    body = {"name": "a" * 64 + " ", "components": [{"sessionId": str(past.id)}], "preview": True}
    made = await api.post(f"/api/memory/projects/{path}/compositions", json=body)
    assert made.status_code == 200, made.text
    longer = await api.post(f"/api/memory/projects/{path}/compositions", json=body | {"name": "a" * 65})
    assert "A name has up to 64 letters" in (await fails(longer, 422, "out_of_range"))["detail"]


async def test_a_name_in_an_address_that_is_too_long_is_malformed(api: httpx.AsyncClient, past: LongSession) -> None:
    path = f"/api/memory/sessions/{past.id}/versions/{'v' * 65}"
    await fails(await api.get(path), 400, "malformed")


async def test_a_session_is_linked_to_another_project(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    [(other,)] = await sql(
        "insert into thread (space_id, chat_id, topic_id) values (%s, %s, 7) returning id", past.space_id, ADA
    )
    asked: Json = {"sessionId": str(past.id), "projectId": f"t{other}", "reason": "the same gate"}
    await fails(await stranger.post("/api/memory/links", json=asked), 404, "unknown")
    await fails(
        await api.post("/api/memory/links", json=asked | {"projectId": f"t{past.thread_id}"}), 422, "out_of_range"
    )
    made = await api.post("/api/memory/links", json=asked)
    assert (made.status_code, made.json()) == (201, asked | {"linkId": f"{past.id}-t{other}"})
    [one] = (await api.get(f"/api/memory/projects/t{other}/sessions")).json()["sessions"]
    assert (one["sessionId"], one["linked"]) == (str(past.id), "the same gate")
    path = f"/api/memory/links/{past.id}-t{other}"
    await fails(await stranger.delete(path), 404, "unknown")
    assert (await api.delete(path)).status_code == 204
    await fails(await api.delete(path), 404, "unknown")
    await fails(await api.delete("/api/memory/links/x"), 400, "malformed")


async def test_messages_and_versions_are_searched(
    driver: TurnDriver, api: httpx.AsyncClient, stranger: httpx.AsyncClient, store: Store, sql: Sql
) -> None:
    await driver.exchange(ADA, "The gate is painted vermilion.", "A fine colour.")
    [(session, message)] = await sql("select session_id, id from message where role = 'user'")
    version = await add_version(sql, session, 1, "Vermilion was chosen.")
    await sql("select relay.enter('version', array[%s::bigint], array[null::integer])", version)
    marker = await add_marker(sql, session, "0.80", "vermilion")
    found = (await api.get("/api/memory/search?text=vermilion")).json()
    assert {(one["sessionId"], one["messageId"], one["versionId"]) for one in found["results"]} == {
        (str(session), f"m{message}", None), (str(session), None, "v001"),
    }  # fmt: skip
    assert [one["score"] for one in found["results"]] == [1, 0.5]
    assert "\x02vermilion\x03" in found["results"][0]["snippet"].lower()
    weighed = (await api.get("/api/memory/search?min=0.75&max=1&kind=message")).json()
    assert [one["messageId"] for one in weighed["results"]] == [f"m{message}"]
    assert weighed["results"][0]["matched"] == ["keepitWeight"]
    assert (await api.get("/api/memory/search?text=vermilion&end=2020-01-01T00:00:00Z")).json()["results"] == []
    assert (await stranger.get("/api/memory/search?text=vermilion")).json()["results"] == []
    await fails(await api.get("/api/memory/search"), 422, "out_of_range")
    await fails(await api.get("/api/memory/search?text=x&min=2"), 422, "out_of_range")
    await fails(await stranger.get("/api/memory/search?text=x&projectId=t1"), 404, "unknown")
    assert marker


async def test_sessions_are_suggested_for_a_query(
    driver: TurnDriver, api: httpx.AsyncClient, stranger: httpx.AsyncClient, sql: Sql
) -> None:
    await driver.exchange(ADA, "The gate is painted vermilion.", "A fine colour.")
    await driver.store.new_session(dm(ADA), "")
    await driver.exchange(ADA, "Good morning.", "Hello.")
    [(thread, session)] = await sql("select thread_id, min(id) from session group by 1")
    asked: Json = {"query": "a vermilion gate", "projectId": f"t{thread}"}
    [one] = (await api.post("/api/memory/suggest", json=asked)).json()["suggestions"]
    assert (one["sessionId"], one["versionId"], one["make"]) == (str(session), None, False)
    assert one["suggestedTokens"] > 0
    assert {"relevanceScore", "matchedTopics", "matchedFiles"} <= set(one)
    await fails(await api.post("/api/memory/suggest", json=asked | {"budget": 5}), 422, "out_of_range")
    await fails(await api.post("/api/memory/suggest", json=asked | {"query": " "}), 422, "out_of_range")
    await fails(await stranger.post("/api/memory/suggest", json=asked), 404, "unknown")


async def test_a_session_begins_with_a_composition(
    api: httpx.AsyncClient, stranger: httpx.AsyncClient, past: LongSession, sql: Sql
) -> None:
    composition = await compose(sql, "Garden", [await add_version(sql, past.id, 1)])
    path = f"/api/memory/compositions/c{composition}/use"
    await fails(await stranger.post(path), 404, "unknown")
    begun = (await api.post(path)).json()
    assert await sql("select session_id from composition_use") == [(int(begun["sessionId"]),)]
    assert begun["sessionId"] != str(past.id)
    await sql("update composition set status = 'over', total_tokens = 20000")
    told = await fails(await api.post(path), 409, "conflict")
    assert "4,000 tokens over" in told["detail"]
    await fails(await api.post("/api/memory/compositions/c999/use"), 404, "unknown")


async def test_group_members_can_read_and_only_admins_can_change(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(BEN, "The gate is painted vermilion.", "A fine colour.", chat_id=GROUP)
    [(thread, session)] = await sql("select thread_id, id from session")
    await add_version(sql, session, 1)
    paths = ("projects/t{t}", "projects/t{t}/sessions", "projects/t{t}/compositions", "sessions/{s}",
             "sessions/{s}/versions", "sessions/{s}/versions/v001", "sessions/{s}/versions/original",
             "sessions/{s}/messages", "sessions/{s}/keepits", "settings?projectId=t{t}", "stats?projectId=t{t}",
    )  # fmt: skip
    all_paths = [f"/api/memory/{path.format(t=thread, s=session)}" for path in paths]
    part: Json = {"sessionId": str(session)}
    changes: list[tuple[str, str, Json | None]] = [
        ("POST", f"projects/t{thread}/sessions/{session}", {}),
        ("DELETE", f"projects/t{thread}/sessions/{session}", None),
        ("POST", f"sessions/{session}/versions", {"method": "extract", "again": True}),
        ("DELETE", f"sessions/{session}/versions/v001", None),
        ("POST", "versions/prune", part | {"versionIds": ["v001"]}),
        ("POST", f"projects/t{thread}/compositions", {"name": "x", "components": [part]}),
        ("PUT", f"settings?projectId=t{thread}", {"ui": {"defaultView": "list"}}),
    ]
    async with open_api(store, BEN, sees=lambda space, user_id: _yes()) as member:
        [project] = (await member.get("/api/memory/projects")).json()["projects"]
        assert (project["projectId"], project["space"], project["displayName"]) == (f"t{thread}", "group", "Group")
        for path in all_paths:
            assert (await member.get(path)).status_code == 200, path
        for method, path, body in changes:
            await fails(await member.request(method, f"/api/memory/{path}", json=body), 403, "not_yours")
    assert await sql("select count(*) from composition union all select count(*) from compression") == [(0,), (1,)]
    async with open_api(store, ADA) as outside:
        assert (await outside.get("/api/memory/projects")).json()["projects"] == []
        for path in all_paths:
            await fails(await outside.get(path), 404, "unknown")
        for method, path, body in changes:
            await fails(await outside.request(method, f"/api/memory/{path}", json=body), 404, "unknown")
    async with open_api(store, ADA, sees=lambda space, user_id: _yes()) as admin:
        for method, path, body in changes[:3]:
            assert (await admin.request(method, f"/api/memory/{path}", json=body)).is_success, path


async def test_a_repeated_request_shows_a_group_only_to_those_who_are_still_in_it(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(BEN, "The gate is painted vermilion.", "A fine colour.", chat_id=GROUP)
    [(session,)] = await sql("select id from session")
    await add_marker(sql, session, "0.90", "vermilion")
    inside = {ADA, BEN}

    async def sees(space: Space, user_id: int) -> bool:
        return user_id in inside or space.owner_id == user_id

    async with open_api(store, BEN, sees=sees) as api:
        path, asked = "/api/memory/decay/preview?full=true", {"sessionId": str(session), "compressionRatio": 30}
        key = {"Idempotency-Key": "k"}
        first = await api.post(path, json=asked, headers=key)
        assert "vermilion" in first.text
        again = await api.post(path, json=asked, headers=key)
        assert (again.json(), again.headers["idempotency-replayed"]) == (first.json(), "true")
        inside.remove(BEN)
        await fails(await api.post(path, json=asked, headers=key), 404, "unknown")
        inside.add(BEN)
        assert (await api.post(path, json=asked, headers=key)).json() == first.json(), "Telegram answers again"


async def _yes() -> bool:
    return True
