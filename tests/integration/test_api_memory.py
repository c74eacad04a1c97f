"""Tests memories and their changes through the API: each route and each of its errors."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from relay.core.models import Space
from relay.memory.store import Store
from tests.integration.api import open_api, refused
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, GROUP, TurnDriver, dm, fact, group, private

Json = dict[str, Any]
ABSENT = "999999"


async def learn(driver: TurnDriver, *facts: str, user_id: int = ADA, **more: Any) -> list[str]:
    """Teaches facts, and returns the ids of their memories."""
    return [str(change.memory_id) for change in await driver.teach(user_id, *facts, **more)]


async def listed(api: httpx.AsyncClient, query: str = "") -> list[str]:
    return [one["content"] for one in (await api.get(f"/api/memories{query}")).json()["memories"]]


async def test_a_listed_memory_names_its_conversation_unless_that_is_elsewhere(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await learn(driver, "Likes tea")
    await learn(driver, "Ben has a boat", user_id=BEN)
    await sql("update session set title = 'Talk of ' || id")
    async with open_api(store) as api:
        [(own,)] = await sql(
            "select title from session s join memory m on m.session_id = s.id where subject_id = %s", ADA
        )
        assert [one["session"] for one in (await api.get("/api/memories")).json()["memories"]] == [own]
        await sql("update memory set session_id = (select max(session_id) from memory)")
        assert [one["session"] for one in (await api.get("/api/memories")).json()["memories"]] == [None]


async def test_memories_are_added_changed_and_forgotten(driver: TurnDriver, store: Store) -> None:
    async with open_api(store) as api:
        added = await api.post("/api/memories", json={"text": "  Sails a   boat "})
        assert added.status_code == 201
        row = added.json()["memory"]
        assert (row["content"], row["subjectId"], row["validatedAt"] is None) == ("Sails a boat", str(ADA), False)
        path = f"/api/memories/{row['id']}"
        patched = (await api.patch(path, json={"text": "Sails a dinghy", "pinned": True})).json()
        assert (patched["memory"]["content"], patched["memory"]["pinned"]) == ("Sails a dinghy", True)
        assert [one["action"] for one in patched["changed"]["changes"]] == ["refresh", "pin"]
        history = (await api.get(f"{path}/history")).json()
        assert [one["action"] for one in history["changes"]] == ["pin", "refresh", "learn"]
        reworded = history["changes"][1]
        assert (reworded["before"], reworded["restores"], reworded["subjectId"]) == ("Sails a boat", True, str(ADA))
        assert "yours" not in reworded, "only the list of changes says who may decide about them"
        restored = (await api.post(f"{path}/restore", json={"changeId": reworded["id"]})).json()
        assert restored["memory"]["content"] == "Sails a boat"
        gone = (await api.delete(path)).json()
        assert gone["memory"]["status"] == "forgotten"
        assert await listed(api) == []
        back = await api.post(f"/api/changes/{gone['changed']['changes'][0]['id']}/undo")
        assert (back.status_code, await listed(api)) == (200, ["Sails a boat"])
        await api.delete(path)
        assert (await api.post(f"{path}/restore", json={})).json()["memory"]["status"] == "active"
    assert await driver.known(private(ADA)) == ["Sails a boat"]


async def test_memory_is_turned_off_and_paused(driver: TurnDriver, store: Store) -> None:
    await learn(driver, "Has a boat")
    async with open_api(store) as api:
        settings = "/api/memories/settings"
        assert (await api.get(settings)).json()["memory"] == "on"
        off = (await api.put(settings, json={"on": False})).json()
        assert (off["memory"], off["remembers"]) == ("off", False)
        await refused(api.post("/api/memories", json={"text": "Sails"}), 409, "conflict")
        assert (await api.put(settings, json={"on": True})).json()["remembers"] is True
        paused = (await api.put(settings, json={"pausedUntil": f"{datetime.now(UTC).year + 1}-01-02T00:00:00Z"})).json()
        me = (await api.get("/api/me")).json()
        assert (paused["remembers"], me["memoryOn"], me["memoryPausedUntil"]) == (False, False, paused["pausedUntil"])
        for wrong in ("2020-01-01T00:00:00Z", "2090-01-01T00:00:00Z", "tomorrow"):
            await refused(api.put(settings, json={"pausedUntil": wrong}), 422, "out_of_range")
        assert (await api.put(settings, json={"pausedUntil": None})).json()["remembers"] is True
        await refused(api.put(f"{settings}?space={ABSENT}", json={"on": False}), 404, "unknown")


async def test_a_list_has_filters_and_pages(driver: TurnDriver, store: Store) -> None:
    ids = await learn(driver, "Likes tea", "Likes coffee", "Has a boat")
    await driver.exchange(ADA, "x", actions=[fact(ADA, "May move") | {"ask": True}])
    async with open_api(store) as api:
        assert await listed(api) == ["Has a boat", "Likes coffee", "Likes tea"]
        assert await listed(api, "?q=likes") == ["Likes coffee", "Likes tea"]
        assert await listed(api, "?kind=goal") == []
        assert await listed(api, "?state=pending") == ["May move"]
        assert await listed(api, "?q=coffees") == ["Likes coffee"], "similar"
        for narrowed in ("state=pending", "state=past", "state=pinned", "kind=goal", "category=home"):
            assert await listed(api, f"?q=coffees&{narrowed}") == [], "what is similar keeps to the filters, too"
        await api.patch(f"/api/memories/{ids[0]}", json={"confirmed": True})
        assert await listed(api, "?state=unconfirmed") == ["Has a boat", "Likes coffee"]
        await api.patch(f"/api/memories/{ids[1]}", json={"pinned": True})
        assert await listed(api, "?state=pinned") == ["Likes coffee"]
        first = (await api.get("/api/memories?limit=2")).json()
        assert (len(first["memories"]), first["total"], first["matching"], first["next"]) == (2, 3, 3, "2")
        second = (await api.get(f"/api/memories?limit=2&cursor={first['next']}")).json()
        assert ([one["content"] for one in second["memories"]], second["next"]) == (["Likes tea"], None)
        await api.delete(f"/api/memories/{ids[0]}")
        for path, plural in (("/api/memories", "memories"), ("/api/memories/changes", "changes")):
            behind = (await api.get(f"{path}?limit=2&cursor=200")).json()
            assert (behind[plural], behind["next"]) == ([], None), "no row is sent twice"


async def test_two_memories_are_merged_and_the_merge_is_undone(driver: TurnDriver, store: Store) -> None:
    one, other = await learn(driver, "Likes tea", "Drinks much tea")
    async with open_api(store) as api:
        merged = (await api.post("/api/memories/merge", json={"ids": [one, other], "text": "Loves tea"})).json()
        assert await listed(api) == ["Loves tea"]
        assert merged["memory"]["validatedAt"]
        assert await listed(api, "?state=past") == ["Drinks much tea", "Likes tea"]
        former = (await api.get(f"/api/memories/{one}")).json()["memory"]
        assert former["replacedBy"] == merged["memory"]["id"], "an id is text wherever it is"
        change = merged["changed"]["changes"][0]["id"]
        assert (await api.post(f"/api/changes/{change}/undo")).status_code == 200
        assert await listed(api) == ["Drinks much tea", "Likes tea"]
        merged = (await api.post("/api/memories/merge", json={"ids": [one, other], "text": "Likes tea"})).json()
        assert (await listed(api), merged["memory"]["id"]) == (["Likes tea"], one)
        assert (await api.post(f"/api/changes/{merged['changed']['changes'][0]['id']}/undo")).status_code == 200
        assert await listed(api) == ["Drinks much tea", "Likes tea"]


async def test_several_memories_are_forgotten_at_once_and_restored(driver: TurnDriver, store: Store) -> None:
    ids = await learn(driver, "Likes tea", "Likes coffee", "Has a boat")
    async with open_api(store) as api:
        done = (await api.post("/api/memories/forget", json={"ids": ids[:2]})).json()
        assert (await listed(api), len(done["changes"])) == (["Has a boat"], 2)
        changes = [one["id"] for one in done["changes"]]
        await refused(
            api.post("/api/memories/forget", json={"ids": [ids[2], ids[0]]}), 404, "unknown", "#1 is already forgotten."
        )
        await refused(api.post("/api/memories/forget", json={"ids": [ids[2], ABSENT]}), 404, "unknown")
        assert await listed(api) == ["Has a boat"]
        taken_back = await api.post("/api/changes/decide", json={"ids": changes, "decision": "undo"})
        assert taken_back.json() == {"decided": 2}
        assert len(await listed(api)) == 3
        await refused(api.post("/api/changes/decide", json={"ids": [ABSENT], "decision": "undo"}), 404, "unknown")


async def test_a_pending_change_is_kept_or_discarded(driver: TurnDriver, store: Store) -> None:
    for text in ("Likes tea", "Likes coffee"):
        await driver.exchange(ADA, "x", actions=[fact(ADA, text) | {"ask": True}])
    async with open_api(store) as api:
        waiting = (await api.get("/api/memories/changes?state=pending")).json()
        assert (waiting["pending"], [one["content"] for one in waiting["changes"]]) == (
            2,
            ["Likes coffee", "Likes tea"],
        )
        coffee, tea = (one["id"] for one in waiting["changes"])
        await refused(api.post(f"/api/changes/{tea}/undo"), 409, "conflict", "waits for your decision")
        assert (await api.post(f"/api/changes/{tea}/keep")).json()["outcome"] == "done"
        assert (await api.post(f"/api/changes/{coffee}/discard")).json()["outcome"] == "done"
        assert await listed(api) == ["Likes tea"]
        await refused(api.post(f"/api/changes/{coffee}/keep"), 409, "conflict", "already decided")
        assert (await api.get("/api/memories/changes?limit=1")).json()["next"] == "1"


async def test_an_older_change_cannot_be_undone_before_a_newer_one(driver: TurnDriver, store: Store) -> None:
    (one,) = await learn(driver, "Likes tea")
    async with open_api(store) as api:
        first = (await api.patch(f"/api/memories/{one}", json={"text": "Likes coffee"})).json()["changed"]["changes"][0]
        await api.patch(f"/api/memories/{one}", json={"text": "Likes milk"})
        await refused(api.post(f"/api/changes/{first['id']}/undo"), 409, "conflict", "changed again")


@pytest.mark.parametrize(
    ("wording", "stays"), [("Wants to sail by 1 June 2030", False), ("Will sail by 1 May 2030", True)]
)
async def test_a_goal_reworded_to_another_day_loses_its_old_deadline(
    driver: TurnDriver, store: Store, sql: Sql, wording: str, stays: bool
) -> None:
    goal = fact(ADA, "Wants to sail by 1 May 2030") | {"kind": "goal", "valid_until": "2030-05-01T23:59:59Z"}
    done = await driver.exchange(ADA, "x", actions=[goal])
    async with open_api(store) as api:
        await api.patch(f"/api/memories/{done.told.changes[0].memory_id}", json={"text": wording})
    assert await sql("select valid_until is not null from memory") == [(stays,)]


async def test_a_memory_shows_where_it_came_from(driver: TurnDriver, store: Store) -> None:
    (one,) = await learn(driver, "Likes tea")
    async with open_api(store) as api:
        source = (await api.get(f"/api/memories/{one}/source")).json()["source"]
        assert (source["said"]["text"], source["answer"]["text"], source["elsewhere"]) == ("Listen.", "I see.", False)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/api/memories", {"text": " "}, 422, "refused"),
        ("POST", "/api/memories", {"text": "\u200b \u2060"}, 422, "refused"),
        ("POST", "/api/memories", {"text": "x" * 501}, 422, "out_of_range"),
        ("POST", "/api/memories", {}, 400, "malformed"),
        ("POST", "/api/memories", {"text": "x", "more": 1}, 422, "out_of_range"),
        ("PATCH", "/api/memories/{own}", {"text": ""}, 422, "out_of_range"),
        ("PATCH", "/api/memories/{own}", {"text": "\u200b"}, 422, "out_of_range"),
        ("PATCH", "/api/memories/{own}", {"pinned": "yes"}, 422, "out_of_range"),
        ("PATCH", "/api/memories/{forgotten}", {"pinned": True}, 409, "conflict"),
        ("DELETE", "/api/memories/{forgotten}", None, 404, "unknown"),
        ("POST", "/api/memories/{own}/restore", {}, 409, "conflict"),
        ("POST", "/api/memories/{own}/restore", {"changeId": ABSENT}, 409, "conflict"),
        ("POST", "/api/memories/merge", {"ids": ["{own}", "{forgotten}"], "text": "x"}, 409, "conflict"),
        ("POST", "/api/memories/merge", {"ids": ["{own}", "{own}"], "text": "x"}, 422, "out_of_range"),
        ("POST", "/api/memories/merge", {"ids": ["{own}"], "text": "x"}, 422, "out_of_range"),
        ("POST", "/api/memories/forget", {"ids": []}, 422, "out_of_range"),
        ("POST", "/api/memories/forget", {"ids": [1]}, 422, "out_of_range"),
        ("GET", "/api/memories?state=other", None, 422, "out_of_range"),
        ("GET", "/api/memories?space=999999", None, 404, "unknown"),
        ("GET", "/api/memories/changes?space=999999", None, 404, "unknown"),
        ("GET", "/api/memories/99999999999999999999", None, 400, "malformed"),
        ("POST", "/api/changes/decide", {"ids": ["1"], "decision": "other"}, 422, "out_of_range"),
    ],
)
async def test_each_error_has_its_status(
    method: str, path: str, body: Json | None, status: int, code: str, driver: TurnDriver, store: Store
) -> None:
    own, forgotten = await learn(driver, "Likes tea", "Likes coffee")
    async with open_api(store) as api:
        await api.delete(f"/api/memories/{forgotten}")
        if body is not None and "ids" in body:
            body = body | {"ids": [one.format(own=own, forgotten=forgotten) if isinstance(one, str) else one
                                   for one in body["ids"]]}  # fmt: skip
        await refused(api.request(method, path.format(own=own, forgotten=forgotten), json=body), status, code)
    assert await driver.known(private(ADA)) == ["Likes tea"]


async def test_other_peoples_memories_and_changes_are_unknown_and_unchanged(driver: TurnDriver, store: Store) -> None:
    (foreign,) = await learn(driver, "Ben likes tea", user_id=BEN)
    (own,) = await learn(driver, "Likes tea")
    change = str((await driver.teach(BEN, "Ben has a boat"))[0].id)
    async with open_api(store) as api:
        for method, path, body in [
            ("GET", "", None), ("PATCH", "", {"text": "x"}), ("DELETE", "", None), ("POST", "/restore", {}),
            ("GET", "/source", None), ("GET", "/history", None),
        ]:  # fmt: skip
            for memory_id in (foreign, ABSENT):
                await refused(api.request(method, f"/api/memories/{memory_id}{path}", json=body), 404, "unknown")
        await refused(api.post("/api/memories/merge", json={"ids": [own, foreign], "text": "x"}), 404, "unknown")
        for decision in ("undo", "keep", "discard"):
            for one in (change, ABSENT):
                await refused(api.post(f"/api/changes/{one}/{decision}"), 404, "unknown")
    assert await driver.known(private(BEN)) == ["Ben likes tea", "Ben has a boat"]


async def test_a_groups_memory_is_open_to_members_and_changed_by_its_subjects(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    async def members(space: Space, user_id: int) -> bool:
        return space.owner_id == user_id or space == group()

    own, bens = await learn(driver, "Ben cooks", "Ben sails", user_id=BEN, chat_id=GROUP)
    (both,) = await learn(driver, "The stove is on", user_id=BEN, chat_id=GROUP)
    await sql("update memory set subject_id = null where id = %s", int(both))
    space = (await sql("select id from space where kind = 'group'"))[0][0]
    async with open_api(store, BEN, members) as api:
        assert len(await listed(api, f"?space={space}")) == 3
        about_ben = (await api.get(f"/api/memories?space={space}&subjectId={BEN}")).json()
        assert (about_ben["matching"], about_ben["people"][0]["id"]) == (2, str(BEN))
        groups = (await api.get("/api/me/groups")).json()["groups"]
        assert [one["spaceId"] for one in groups] == [str(space)]
    async with open_api(store, BEN) as api:  # has left the group
        await refused(api.get(f"/api/memories?space={space}"), 404, "unknown")
        await refused(api.get(f"/api/memories/{own}"), 404, "unknown")
        assert (await api.get("/api/me/groups")).json() == {"groups": []}
    await driver.teach(ADA, "Ada paints", chat_id=GROUP)
    (adas,) = [m.id for m in (await store.memories(group(), 0, 9)).memories if m.content == "Ada paints"]
    async with open_api(store, BEN, members) as api:
        for one, rights in ((own, (True, True)), (both, (True, False)), (adas, (False, False))):
            shown = (await api.get(f"/api/memories/{one}")).json()
            assert (shown["yours"], shown["editable"]) == rights
            known = (await api.get(f"/api/memories?space={space}")).json()["memories"]
            (line,) = [each for each in known if each["id"] == str(one)]
            assert (line["yours"], line["editable"]) == rights
        for method, path, body in [
            ("PATCH", "", {"text": "x"}), ("PATCH", "", {"pinned": True}), ("DELETE", "", None),
            ("POST", "/restore", {}),
        ]:  # fmt: skip
            await refused(api.request(method, f"/api/memories/{adas}{path}", json=body), 403, "not_yours")
        await refused(api.post("/api/memories/forget", json={"ids": [bens, str(adas)]}), 403, "not_yours")
        await refused(api.patch(f"/api/memories/{both}", json={"text": "It is off"}), 403, "not_yours")
        for one in (own, both):
            assert (await api.delete(f"/api/memories/{one}")).status_code == 200
            assert (await api.get(f"/api/memories/{one}")).json()["editable"] is False
        (mine,) = [str(one.memory_id) for one in await driver.teach(BEN, "Likes tea")]
        await refused(api.post("/api/memories/forget", json={"ids": [bens, mine]}), 409, "conflict")
        await refused(api.post("/api/memories/merge", json={"ids": [bens, mine], "text": "x"}), 409, "conflict")


async def test_no_memory_is_added_while_memory_is_off(driver: TurnDriver, store: Store) -> None:
    await store.control(dm(ADA), ADA, {"memory": "off"})
    async with open_api(store) as api:
        await refused(
            api.post("/api/memories", json={"text": "Likes tea"}), 409, "conflict", "memory is off or paused."
        )
        me = (await api.get("/api/me")).json()
        assert (me["memoryOn"], me["preferencesOn"]) == (False, False), "switching memory off stops both"


async def test_no_memory_is_added_off_the_record(driver: TurnDriver, store: Store) -> None:
    await store.private(dm(ADA), True, ADA)
    async with open_api(store) as api:
        add = {"json": {"text": "Likes tea"}}
        await refused(api.post("/api/memories", **add), 409, "conflict", "this conversation is off the record.")
        assert await driver.known(private(ADA)) == []
        await store.private(dm(ADA), False, ADA)
        assert (await api.post("/api/memories", **add)).status_code == 201
