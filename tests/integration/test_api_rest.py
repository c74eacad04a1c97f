"""Tests preferences, reminders, history and events through the API: each route and each of its errors."""

from __future__ import annotations

import asyncio
import io
import zipfile
from datetime import UTC, datetime
from typing import Any, BinaryIO

import icalendar
import pytest

from relay.archive.packed import pack
from relay.core.limits import REQUESTS_PER_MINUTE
from relay.memory.store import Store
from relay.surfaces.http.api import history
from tests.integration.api import open_api, refused
from tests.integration.conftest import Sql
from tests.integration.test_why_sql import answered
from tests.integration.turn_driver import ADA, BEN, TurnDriver

Json = dict[str, Any]
ABSENT = "999999"
LATER = f"{datetime.now(UTC).year + 5}-01-02 9:00"


async def test_a_preference_is_stated_opened_forgotten_and_restored(driver: TurnDriver, store: Store) -> None:
    async with open_api(store) as api:
        said = await api.post("/api/preferences", json={"polarity": "avoid", "pattern": "Long poems"})
        assert (said.status_code, said.json()["acts"][0]["pattern"]) == (201, "Long poems")
        listed = (await api.get("/api/preferences")).json()
        row = listed["rows"][0]
        assert (listed["on"], listed["known"], row["polarity"], row["level"]) == (True, 1, -1, "high")
        opened = (await api.get(f"/api/preferences/{row['id']}")).json()
        assert (opened["total"], opened["evidence"][0]["kind"]) == (1, "said")
        gone = (await api.delete(f"/api/preferences/{row['id']}")).json()["forgotten"]
        assert (await api.get("/api/preferences")).json()["rows"] == []
        decisions = {"decisions": [one["decisionId"] for one in gone]}
        assert (await api.post("/api/preferences/restore", json=decisions)).json() == {"done": 1}
        await refused(api.post("/api/preferences/restore", json=decisions), 409, "conflict")
        await refused(api.post("/api/preferences/reset", json={"known": 7}), 409, "conflict")
        assert (await api.post("/api/preferences/reset", json={"known": 1})).json() == {"forgotten": 1}


async def test_preferences_are_switched_and_paused(driver: TurnDriver, store: Store) -> None:
    async with open_api(store) as api:

        async def switch(**to: Any) -> Json:
            answer = await api.put("/api/preferences/settings", json=to)
            assert answer.status_code == 200, answer.json()
            found: Json = answer.json()
            return found

        assert (await switch(on=False))["on"] is False
        assert (await api.get("/api/me")).json()["preferencesOn"] is False
        assert (await switch(on=True, here="ignore"))["here"] == "ignore"
        paused = (await switch(pausedUntil=f"{LATER[:10]}T00:00:00Z"))["pausedUntil"]
        me = (await api.get("/api/me")).json()
        assert (paused[:10], me["preferencesOn"], me["preferencesPausedUntil"]) == (LATER[:10], True, paused)
        assert (await switch(here="use"))["pausedUntil"] is not None
        assert (await switch(pausedUntil=None))["pausedUntil"] is None
        never = (
            "tomorrow", "2040-01-01T00:00:00", "1139-05-30T16:31:38+22:47", "9999-01-01T00:00:00-22:47", 1800000000,
            "1800000000", f"{LATER[:10]}T00:00:00+16:00",
        )  # fmt: skip
        for wrong in ({"on": "off"}, *({"pausedUntil": one} for one in never)):
            await refused(api.put("/api/preferences/settings", json=wrong), 422, "out_of_range")
        await refused(api.post("/api/preferences/decide", json={"keep": True}), 409, "conflict")
        await refused(api.post("/api/preferences", json={"polarity": "prefer", "pattern": "x" * 500}), 422, "refused")
        await refused(api.post("/api/preferences", json={"polarity": "love", "pattern": "x"}), 422, "out_of_range")


async def test_the_last_answer_lists_the_preferences_it_followed(driver: TurnDriver, store: Store) -> None:
    async with open_api(store) as api:
        assert (await api.get("/api/preferences/diagnostics")).json()["turnId"] is None
        await api.post("/api/preferences", json={"polarity": "avoid", "pattern": "long poems"})
        row = (await api.get("/api/preferences")).json()["rows"][0]
        turn = await answered(driver, prompt={"soul": 1, "preferences": [int(row["id"])]}, topic_id=5)
        last = (await api.get("/api/preferences/diagnostics")).json()
        assert (last["turnId"], [one["pattern"] for one in last["used"]], last["notes"]) == (
            str(turn), ["long poems"], []
        )  # fmt: skip


async def test_a_reminder_is_created_changed_done_and_deleted(driver: TurnDriver, store: Store) -> None:
    async with open_api(store) as api:
        made = await api.post("/api/reminders", json={"text": f"{LATER} call the dentist"})
        assert (made.status_code, made.json()["text"], made.json()["chatId"]) == (201, "call the dentist", str(ADA))
        path = f"/api/reminders/{made.json()['id']}"
        listed = (await api.get("/api/reminders?limit=1")).json()
        assert (listed["total"], listed["next"], listed["reminders"][0]["text"]) == (1, None, "call the dentist")
        changed = (await api.patch(path, json={"text": "call Ben", "paused": True})).json()
        assert (changed["text"], changed["status"]) == ("call Ben", "paused")
        assert (await api.patch(path, json={"paused": False})).json()["status"] == "active"
        assert [one["kind"] for one in (await api.get(path)).json()["events"]] == [
            "resumed", "paused", "changed", "made",
        ]  # fmt: skip
        assert (await api.delete(path)).json()["status"] == "deleted"
        assert (await api.patch(path, json={"deleted": False})).json()["status"] == "active"
        await refused(api.patch(path, json={"deleted": True}), 422, "out_of_range")  # it isn't ignored
        await refused(api.post(f"{path}/done"), 409, "conflict", "I haven't sent it yet.")
        before = (await api.get(path)).json()["events"]
        await api.delete(path)
        await refused(api.delete(path), 404, "unknown")
        after = (await api.get(path)).json()["events"]
        assert [one["kind"] for one in after] == ["deleted", *(one["kind"] for one in before)], "it is deleted once"
        await refused(api.post(f"{path}/done"), 404, "unknown")
        mention = {"text": "when dentist: take the card"}
        await refused(api.post("/api/reminders", json=mention), 422, "refused", "works in the chat: /remind when")
        about = await api.post("/api/reminders/intents", json={"about": "dentist", "text": "take the card"})
        assert (about.status_code, about.json()["about"], about.json()["text"]) == (201, "dentist", "take the card")
        assert len((await api.get("/api/reminders/intents")).json()["intents"]) == 1
        await refused(api.post("/api/reminders/intents", json={"about": " ", "text": "x"}), 422, "refused")
        long = {"about": "x" * 101, "text": "x"}
        await refused(api.post("/api/reminders/intents", json=long), 422, "out_of_range", "That is too long.")
        held = await api.put("/api/reminders/quiet", json={"until": "on"})
        assert held.json()["until"].startswith("9999")
        await api.put("/api/reminders/quiet", json={"until": "off"})
        assert (await api.get("/api/reminders")).json()["quietUntil"] is None


async def test_a_reminder_that_was_changed_often_but_never_sent_is_not_done(driver: TurnDriver, store: Store) -> None:
    async with open_api(store) as api:
        path = f"/api/reminders/{(await api.post('/api/reminders', json={'text': f'{LATER} bins'})).json()['id']}"
        for change in range(12):
            await api.patch(path, json={"paused": change % 2 == 0})
        assert [one["kind"] for one in (await api.get(path)).json()["events"]] == ["resumed", "paused"] * 5 + ["made"]
        await refused(api.post(f"{path}/done"), 409, "conflict", "I haven't sent it yet.")


async def test_a_reminder_that_is_already_so_does_not_change(driver: TurnDriver, store: Store) -> None:
    async with open_api(store) as api:
        path = f"/api/reminders/{(await api.post('/api/reminders', json={'text': f'{LATER} bins'})).json()['id']}"
        for edit in ("bins", LATER, f"{LATER} bins", "bottles", f"every monday {LATER[-4:]}"):
            changed = await api.patch(path, json={"text": edit})
            again = await api.patch(path, json={"text": edit})
            assert (again.status_code, again.json()) == (200, changed.json()), edit
        await refused(api.patch(path, json={"text": " "}), 422, "refused", "Write a time, a text, or both")
        kinds = [one["kind"] for one in (await api.get(path)).json()["events"]]
        assert kinds == ["changed", "changed", "made"], "the other text and the rule"
        await api.patch(path, json={"paused": True})
        moved = await api.patch(path, json={"text": f"every monday {LATER[-4:]}"})
        assert moved.json()["status"] == "active", "a time ends a pause, even the same one"


async def test_an_intent_has_something_to_say(driver: TurnDriver, store: Store) -> None:
    async with open_api(store) as api:
        for text in ("", " "):
            asked = api.post("/api/reminders/intents", json={"about": "dentist", "text": text})
            await refused(asked, 422, "refused", "What should I remind you of then?")
        assert (await api.get("/api/reminders/intents")).json() == {"intents": []}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/api/reminders", {"text": "sometime the dentist"}, 422, "refused"),
        ("POST", "/api/reminders", {"text": f"{LATER} {'x' * 1001}"}, 422, "out_of_range"),
        ("POST", "/api/reminders", {"text": f"{LATER} {'1h ' * 1_000}"}, 422, "out_of_range"),
        ("POST", "/api/reminders", {"when": "now"}, 400, "malformed"),
        ("GET", f"/api/reminders/{ABSENT}", None, 404, "unknown"),
        ("PATCH", f"/api/reminders/{ABSENT}", {"text": "x"}, 404, "unknown"),
        ("PATCH", f"/api/reminders/{ABSENT}", {"text": "1h " * 1_000}, 422, "out_of_range"),
        ("DELETE", f"/api/reminders/{ABSENT}", None, 404, "unknown"),
        ("POST", f"/api/reminders/{ABSENT}/done", None, 404, "unknown"),
        ("GET", "/api/reminders/0", None, 400, "malformed"),
        ("PUT", "/api/reminders/quiet", {"until": "whenever"}, 422, "refused"),
        ("PUT", "/api/reminders/quiet", {"until": "9:00 " * 1_000}, 422, "out_of_range"),
        ("DELETE", f"/api/reminders/intents/{ABSENT}", None, 404, "unknown"),
        ("GET", f"/api/preferences/{ABSENT}", None, 404, "unknown"),
        ("DELETE", f"/api/preferences/{ABSENT}", None, 404, "unknown"),
        ("GET", f"/api/turns/{ABSENT}/why", None, 404, "unknown"),
        ("GET", "/api/usage?days=0", None, 422, "out_of_range"),
        ("GET", "/api/usage?days=91", None, 422, "out_of_range"),
        ("GET", "/api/search", None, 400, "malformed"),
        ("GET", "/api/search?q=", None, 422, "refused"),
        ("GET", "/api/search?q=before:never", None, 422, "refused"),
        ("GET", "/api/export", None, 404, "unknown"),
        ("DELETE", "/api/reminders/calendar", None, 404, "unknown"),
        ("GET", "/calendar/x.ics", None, 404, "unknown"),
    ],
)
async def test_each_error_has_its_status(
    method: str, path: str, body: Json | None, status: int, code: str, store: Store
) -> None:
    async with open_api(store) as api:
        await refused(api.request(method, path, json=body), status, code)


async def test_other_peoples_data_is_unknown(driver: TurnDriver, store: Store) -> None:
    turn = await answered(driver, BEN, "Ben likes tea")
    async with open_api(store, BEN) as api:
        reminder = (await api.post("/api/reminders", json={"text": f"{LATER} call"})).json()["id"]
        await api.post("/api/preferences", json={"polarity": "avoid", "pattern": "long poems"})
        preference = (await api.get("/api/preferences")).json()["rows"][0]["id"]
        intent = await store.make_intent({
            "space": {"kind": "private", "owner_id": BEN, "chat_id": None}, "chat_id": BEN, "topic_id": 0,
            "user_id": BEN, "about": "dentist", "text": "the card", "turn_id": None, "proposed": False,
        })  # fmt: skip
        assert not isinstance(intent, str)
        assert [one["text"] for one in (await api.get("/api/reminders/intents")).json()["intents"]] == ["the card"]
    async with open_api(store) as api:
        for method, path, body in [
            ("GET", f"/api/reminders/{reminder}", None), ("PATCH", f"/api/reminders/{reminder}", {"text": "x"}),
            ("DELETE", f"/api/reminders/{reminder}", None), ("POST", f"/api/reminders/{reminder}/done", None),
            ("GET", f"/api/preferences/{preference}", None), ("DELETE", f"/api/preferences/{preference}", None),
            ("GET", f"/api/turns/{turn}/why", None), ("DELETE", f"/api/reminders/intents/{intent.id}", None),
        ]:  # fmt: skip
            await refused(api.request(method, path, json=body), 404, "unknown")
        assert (await api.get("/api/search?q=tea")).json()["results"] == []
    async with open_api(store, BEN) as api:
        assert (await api.delete(f"/api/reminders/intents/{intent.id}")).json()["status"] == "deleted"
        assert (await api.get("/api/reminders")).json()["total"] == 1


async def test_an_answer_is_explained_found_and_counted(driver: TurnDriver, store: Store) -> None:
    turn = await answered(driver, ADA, "Likes oolong tea")
    async with open_api(store) as api:
        why = (await api.get(f"/api/turns/{turn}/why")).json()
        assert (why["turnId"], why["model"], why["space"]["kind"]) == (str(turn), "model-1", "private")
        found = (await api.get("/api/search?q=oolong")).json()
        assert [(one["kind"], one["text"]) for one in found["results"]] == [
            ("memory", "Likes \x02oolong\x03 tea"),
        ]  # fmt: skip
        assert (found["total"], found["next"]) == (1, None)
        usage = (await api.get("/api/usage?days=2")).json()
        assert len(usage["days"]) == len(usage["starts"]) == 2
        assert [(one["what"], one["times"]) for one in usage["works"]] == [("answer", 1)]


async def test_the_export_is_an_archive(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "Likes oolong tea")
    async with open_api(store) as api:
        answer = await api.get("/api/export")
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert any("oolong" in archive.read(name).decode() for name in archive.namelist())


async def test_a_person_gets_one_export_at_a_time(
    driver: TurnDriver, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await driver.teach(ADA, "Likes oolong tea")
    packed, begun, may = 0, asyncio.Event(), asyncio.Event()

    async def pack_slowly(*given: Any, **more: Any) -> BinaryIO:
        nonlocal packed
        packed += 1
        begun.set()
        await may.wait()
        return await pack(*given, **more)

    monkeypatch.setattr(history, "pack", pack_slowly)
    async with open_api(store) as api:
        first = asyncio.create_task(api.get("/api/export"))
        await begun.wait()
        async with asyncio.timeout(10):
            await refused(api.get("/api/export"), 429, "too_many")
        may.set()
        assert (await first).status_code == 200
        assert (await api.get("/api/export")).status_code == 200
    assert packed == 2


async def test_a_calendar_has_its_own_address_that_can_be_revoked(store: Store, sql: Sql) -> None:
    async with open_api(store) as api:
        await api.post("/api/reminders", json={"text": f"{LATER} call the dentist"})
        first = (await api.post("/api/reminders/calendar")).json()["path"]
        nobody = {"Authorization": ""}
        read = await api.get(first, headers=nobody)
        assert (read.status_code, read.headers["content-type"]) == (200, "text/calendar; charset=utf-8")
        calendar = icalendar.Calendar.from_ical(read.text)
        assert [str(event["SUMMARY"]) for event in calendar.walk("VEVENT")] == ["call the dentist"]
        token = first.removeprefix("/calendar/").removesuffix(".ics")
        assert await sql("select count(*) from api_token where hash like %s", f"%{token}%") == [(0,)]
        await refused(api.get("/api/me", headers={"Authorization": f"Bearer {token}"}), 401, "not_signed_in")
        second = (await api.post("/api/reminders/calendar")).json()["path"]
        await refused(api.get(first, headers=nobody), 404, "unknown")
        assert (await api.get(second, headers=nobody)).status_code == 200
        assert (await api.get("/api/reminders/calendar")).json()["token"]["usedAt"]
        assert (await api.delete("/api/reminders/calendar")).status_code == 204
        await refused(api.get(second, headers=nobody), 404, "unknown")
        assert (await api.get("/api/reminders/calendar")).json() == {"token": None}


async def test_calendar_addresses_that_are_asked_for_at_once_are_all_made_and_one_of_them_works(store: Store) -> None:
    async with open_api(store) as api:
        made = await asyncio.gather(*(api.post("/api/reminders/calendar") for _ in range(30)))
        assert {one.status_code for one in made} == {201}
        read = [(await api.get(one.json()["path"])).status_code for one in made]
        assert sorted(read) == [200] + [404] * 29


async def test_the_address_of_a_calendar_has_a_rate_limit_of_its_own(store: Store) -> None:
    async with open_api(store) as api:
        path = (await api.post("/api/reminders/calendar")).json()["path"]
        answers = [await api.get(path) for _ in range(REQUESTS_PER_MINUTE + 5)]
        assert answers[0].status_code == 200
        assert answers[-1].status_code == 429
        assert int(answers[-1].headers["retry-after"]) > 0
        assert (await api.get("/api/me")).status_code == 200


async def test_a_calendar_app_may_add_its_own_parameters_and_ask_for_the_head_alone(store: Store) -> None:
    async with open_api(store) as api:
        path = (await api.post("/api/reminders/calendar")).json()["path"]
        for method, has_body in (("GET", True), ("HEAD", False)):
            answer = await api.request(method, f"{path}?refresh=1", headers={"Authorization": ""})
            assert (answer.status_code, answer.headers["content-type"]) == (200, "text/calendar; charset=utf-8")
            assert bool(answer.content) == has_body


async def test_the_api_document_and_its_page_list_all_routes(store: Store) -> None:
    async with open_api(store) as api:
        document = (await api.get("/api/openapi.json")).json()
        page = await api.get("/api/docs")
        assert page.headers["content-type"].startswith("text/html")
        assert all(f"<code>{path}</code>" in page.text for path in document["paths"])
        assert "<script" not in page.text
        assert "<main>" in page.text, "a landmark for screen readers"
        for path, operations in document["paths"].items():
            if path == "/calendar/{secret}.ics":
                continue
            for method in operations:
                answer = await api.request(
                    method, path.replace("{", "").replace("}", ""), headers={"Authorization": ""}
                )
                assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in"), (method, path)


async def test_get_requests_write_no_rows(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await answered(driver, ADA, "Likes oolong tea")
    async with open_api(store) as api:
        document = (await api.get("/api/openapi.json")).json()
        before = await rows(sql)
        for path, operations in document["paths"].items():
            if "get" in operations and path != "/api/events":
                query = "?q=tea" if path.endswith("search") else ""
                await api.get(f"{path}{query}".replace(path[path.find("{") : path.find("}") + 1] or "{}", "1"))
        assert await rows(sql) == before


async def rows(sql: Sql) -> dict[str, int]:
    """Returns the number of rows of each table except the caches."""
    tables = await sql("select relname from pg_class where relnamespace = 'relay'::regnamespace and relkind = 'r'")
    return {
        name: (await sql(f"select count(*) from relay.{name}"))[0][0]  # noqa: S608
        for (name,) in tables
        if name not in ("result", "session_count")
    }
