"""Tests that a request sent twice is answered by one rule: a second DELETE with 404; an action with what the first one
made, or with 409 if there is nothing to bring back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.integration.api import refused
from tests.integration.conftest import Sql
from tests.integration.library import add_version, compose
from tests.integration.long_session import LongSession, long_session
from tests.integration.turn_driver import ADA, TurnDriver, fact

Json = dict[str, Any]


@dataclass
class Scene:
    """Ada's memory, with an ended session."""

    api: httpx.AsyncClient
    driver: TurnDriver
    sql: Sql
    past: LongSession

    async def post(self, path: str, body: Json | None = None) -> Json:
        made = await self.api.post(path, json=body)
        assert made.is_success, made.text
        found: Json = made.json()
        return found


@pytest.fixture
async def scene(api: httpx.AsyncClient, driver: TurnDriver, sql: Sql) -> Scene:
    return Scene(api, driver, sql, await long_session(sql, 40, 4_000))


async def memory(scene: Scene) -> str:
    return str((await scene.driver.teach(ADA, "Likes tea"))[0].memory_id)


async def preference(scene: Scene) -> str:
    await scene.post("/api/preferences", {"polarity": "avoid", "pattern": "long poems"})
    return str((await scene.api.get("/api/preferences")).json()["rows"][0]["id"])


async def reminder(scene: Scene) -> str:
    return str((await scene.post("/api/reminders", {"text": "in 2 hours call the dentist"}))["id"])


async def intent(scene: Scene) -> str:
    return str((await scene.post("/api/reminders/intents", {"about": "dentist", "text": "the card"}))["id"])


async def marker(scene: Scene) -> str:
    found = await scene.api.get(f"/api/memory/sessions/{scene.past.id}/keepits")
    return str(found.json()["markers"][0]["markerId"])


async def version(scene: Scene) -> str:
    await add_version(scene.sql, scene.past.id, 1)
    return "v001"


async def composition(scene: Scene) -> str:
    return f"c{await compose(scene.sql, 'Garden', [await add_version(scene.sql, scene.past.id, 1)])}"


async def registered(scene: Scene) -> str:
    await scene.post(f"/api/memory/projects/t{scene.past.thread_id}/sessions/{scene.past.id}", {})
    return ""


async def link(scene: Scene) -> str:
    [(other,)] = await scene.sql(
        "insert into thread (space_id, chat_id, topic_id) values (%s, %s, 7) returning id", scene.past.space_id, ADA
    )
    made = await scene.post("/api/memory/links", {"sessionId": str(scene.past.id), "projectId": f"t{other}"})
    return str(made["linkId"])


async def calendar(scene: Scene) -> str:
    await scene.post("/api/reminders/calendar")
    return ""


DELETED: dict[str, Callable[[Scene], Awaitable[str]]] = {
    "/api/memories/{memoryId}": memory,
    "/api/preferences/{preferenceId}": preference,
    "/api/reminders/{reminderId}": reminder,
    "/api/reminders/intents/{intentId}": intent,
    "/api/reminders/calendar": calendar,
    "/api/memory/projects/{projectId}/sessions/{sessionId}": registered,
    "/api/memory/sessions/{sessionId}/versions/{versionId}": version,
    "/api/memory/sessions/{sessionId}/keepits/{markerId}": marker,
    "/api/memory/compositions/{compositionId}": composition,
    "/api/memory/links/{linkId}": link,
}
"""For each route, what makes something to delete. It returns the last id of the path, unless that is the session's."""
SIGNING_OUT = "/api/session"
"""A second one is not signed in: see `test_signing_out_ends_the_session`."""


async def test_every_route_that_deletes_is_sent_twice_here(api: httpx.AsyncClient) -> None:
    paths = (await api.get("/api/openapi.json")).json()["paths"]
    assert {path for path, methods in paths.items() if "delete" in methods} == {*DELETED, SIGNING_OUT}


@pytest.mark.parametrize("route", DELETED)
async def test_a_second_delete_finds_nothing(route: str, scene: Scene) -> None:
    last = await DELETED[route](scene)
    ids = {"projectId": f"t{scene.past.thread_id}", "sessionId": scene.past.id}
    name = route.rpartition("{")[2].removesuffix("}")
    path = route.format_map({name: last} | ids)
    first = await scene.api.delete(path)
    assert (first.status_code, bool(first.content)) in [(200, True), (204, False)], first.text
    await refused(scene.api.delete(path), 404, "unknown")


async def test_a_token_that_is_no_session_has_none_to_end(scene: Scene) -> None:
    await refused(scene.api.delete(SIGNING_OUT), 404, "unknown", "relay token revoke")
    assert (await scene.api.get("/api/me")).status_code == 200


async def changed(scene: Scene) -> str:
    """Returns a change of memory."""
    [change] = await scene.driver.teach(ADA, "Likes tea")
    return str(change.id)


async def waiting(scene: Scene) -> str:
    """Returns a change that waits."""
    done = await scene.driver.exchange(ADA, "x", actions=[fact(ADA, "May move") | {"ask": True}])
    return str(done.told.changes[0].id)


async def sent_reminder(scene: Scene) -> str:
    made = await reminder(scene)
    await scene.sql("insert into reminder_event (reminder_id, kind) values (%s, 'fired')", int(made))
    return made


STATES: list[tuple[str, str, Json | None, Callable[[Scene], Awaitable[str]]]] = [
    ("PATCH", "/api/memories/{}", {"pinned": True}, memory),
    ("PATCH", "/api/memories/{}", {"confirmed": True}, memory),
    ("POST", "/api/changes/{}/undo", None, changed),
    ("POST", "/api/changes/{}/keep", None, waiting),
    ("POST", "/api/changes/{}/discard", None, waiting),
    ("POST", "/api/reminders/{}/done", None, sent_reminder),
    ("PATCH", "/api/reminders/{}", {"paused": True}, reminder),
    ("PATCH", "/api/reminders/{}", {"deleted": False}, reminder),
    ("PATCH", "/api/reminders/intents/{}", {"deleted": False}, intent),
    ("PUT", "/api/memory/sessions/{session}/keepits/{}", {"weight": 0.9}, marker),
]


@pytest.mark.parametrize(("method", "route", "body", "make"), STATES)
async def test_a_state_can_be_set_again(
    method: str, route: str, body: Json | None, make: Callable[[Scene], Awaitable[str]], scene: Scene
) -> None:
    path = route.format(await make(scene), session=scene.past.id)
    first, second = [await scene.api.request(method, path, json=body) for _ in range(2)]
    assert (first.status_code, second.status_code) == (200, 200), second.text


@pytest.mark.parametrize(("how", "body"), [("/done", None), ("", {"paused": True})])
async def test_a_repeat_adds_nothing_to_a_reminders_history(how: str, body: Json | None, scene: Scene) -> None:
    path = f"/api/reminders/{await sent_reminder(scene)}"

    async def repeat() -> list[Json]:
        answer = await scene.api.request("PATCH" if body else "POST", path + how, json=body)
        assert answer.status_code == 200
        return [one["kind"] for one in (await scene.api.get(path)).json()["events"]]

    once = await repeat()
    assert once[1:] == ["fired", "made"]
    assert await repeat() == once


async def test_what_is_back_cannot_be_brought_back(scene: Scene) -> None:
    async def only_once(path: str, body: Json) -> None:
        await scene.post(path, body)
        await refused(scene.api.post(path, json=body), 409, "conflict")

    forgotten = await memory(scene)
    await scene.api.delete(f"/api/memories/{forgotten}")
    await only_once(f"/api/memories/{forgotten}/restore", {})
    gone = (await scene.api.delete(f"/api/preferences/{await preference(scene)}")).json()["forgotten"]
    await only_once("/api/preferences/restore", {"decisions": [one["decisionId"] for one in gone]})
    pruning = {"sessionId": str(scene.past.id), "versionIds": [await version(scene)]}
    pruned = await scene.post("/api/memory/versions/prune", pruning)
    await only_once("/api/memory/versions/restore", {"sessionId": str(scene.past.id), "undo": pruned["undo"]})
