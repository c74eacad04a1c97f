"""Programs report acts about answers, as taps in a chat do; and what is told about a tag."""

from __future__ import annotations

from typing import Any

from relay.memory.store import Store
from tests.integration.api import open_api, refused
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, TurnDriver

SIGNALS = "/api/preferences/signals"
ROWS = "select kind, turn_id, other_turn_id, value, source from feedback order by id"


async def two_answers(driver: TurnDriver) -> tuple[int, int]:
    """Returns the turns of two answers to a person."""
    first, second = [await driver.exchange(ADA, text) for text in ("hello", "hello again")]
    return first.turn.turn_id, second.turn.turn_id


async def test_each_kind_of_act_is_reported_over_http(driver: TurnDriver, store: Store, sql: Sql) -> None:
    one, other = await two_answers(driver)
    acts: list[tuple[dict[str, Any], int | None, Any]] = [
        ({"kind": "accept"}, None, {}),
        ({"kind": "refine", "words": "Hello, Ada."}, None, {"text": "Hello, Ada."}),
        ({"kind": "tag", "words": "too long, no jokes"}, None, {"tags": ["prefer short answers", "avoid humour"]}),
        ({"kind": "thumbs", "up": False}, None, {"up": False}),
        ({"kind": "abandon", "how": "stop"}, None, {"how": "stop"}),
        ({"kind": "revert", "over": str(other)}, other, {}),
        (
            {"kind": "compare", "over": str(other), "dimensions": ["shorter"]},
            other,
            {"chose": "a", "dimensions": ["shorter"]},
        ),
    ]
    async with open_api(store) as api:
        for act, _, _ in acts:
            done = await api.post(SIGNALS, json=act | {"turnId": str(one)})
            assert (done.status_code, done.json()["refused"]) == (201, None), act
        await api.post(SIGNALS, json={"kind": "said", "words": "plain words", "up": False})
        await api.post("/api/preferences", json={"polarity": "prefer", "pattern": "short answers"})
    kept = [(act["kind"], one, over, value, "http") for act, over, value in acts]
    kept.append(("said", None, None, {"pattern": "plain words", "polarity": -1}, "http"))
    kept.append(("said", None, None, {"pattern": "short answers", "polarity": 1}, "http"))
    assert await sql(ROWS) == kept


async def test_an_invalid_act_is_refused(driver: TurnDriver, store: Store, sql: Sql) -> None:
    one, other = await two_answers(driver)
    turn = {"turnId": str(one)}
    async with open_api(store) as api:
        for act, detail in (
            ({"kind": "thumbs"}, "Name the turn"),
            (turn | {"kind": "revert"}, "other answer"),
            (turn | {"kind": "compare", "over": str(one)}, "other answer"),
            (turn | {"kind": "compare", "over": str(other), "dimensions": ["louder"]}, "louder"),
            (turn | {"kind": "tag", "words": "12"}, "Say what's good or bad"),
            ({"kind": "thumbs", "turnId": "999999"}, "isn't an answer to you"),
        ):
            await refused(api.post(SIGNALS, json=act), 422, "refused", detail)
        assert (await api.post(SIGNALS, json=turn | {"kind": "praise"})).status_code == 422
    assert await sql(ROWS) == []


async def test_just_right_is_an_acceptance_from_each_surface(driver: TurnDriver, store: Store, sql: Sql) -> None:
    one, _ = await two_answers(driver)
    async with open_api(store) as api:
        await api.post(SIGNALS, json={"kind": "tag", "words": "🎯 Just right!", "turnId": str(one)})
    assert await sql("select kind, value from feedback") == [("accept", {})]


async def test_a_tag_tells_only_of_its_own_patterns(driver: TurnDriver, store: Store) -> None:
    turns = [(await driver.exchange(ADA, f"hello {n}")).turn.turn_id for n in range(3)]
    async with open_api(store) as api:

        async def tag(turn: int, words: str) -> list[str]:
            done = await api.post(SIGNALS, json={"kind": "tag", "words": words, "turnId": str(turn)})
            return [one["pattern"] for one in done.json()["acts"]]

        assert [await tag(turn, "too long") for turn in turns] == [[], [], ["short answers"]]
        assert await tag(turns[2], "less waffle") == [], "that was said once"
        assert await tag(turns[2], "too long") == ["short answers"]


async def test_a_refusal_leads_to_the_switch_that_is_off(driver: TurnDriver, store: Store, sql: Sql) -> None:
    one, _ = await two_answers(driver)
    act = {"kind": "tag", "words": "too long", "turnId": str(one)}
    async with open_api(store) as api:
        await store.choose(ADA, {"learning": "off"})
        await refused(api.post(SIGNALS, json=act), 422, "refused", "/settings learning on")
        await store.choose(ADA, {"learning": "on"})
        await api.put("/api/preferences/settings", json={"on": False})
        await refused(api.post(SIGNALS, json=act), 422, "refused", "/preferences says how to turn it on")
        await api.put("/api/preferences/settings", json={"on": True})
        await sql("update space set memory = 'off'")
        await refused(api.post(SIGNALS, json=act), 422, "refused", "/preferences says how to turn it on")
        assert (await api.get("/api/preferences")).json()["memoryOff"]


async def test_a_conversation_is_switched_by_its_id(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "hello", topic_id=5)
    await driver.exchange(BEN, "hello")
    of = "select id from thread where chat_id = %s"
    [(own,)], [(other,)] = await sql(of, ADA), await sql(of, BEN)
    async with open_api(store) as api:
        done = await api.put(f"/api/preferences/threads/t{own}", json={"here": "ignore"})
        assert (done.status_code, done.json()["here"]) == (200, "ignore")
        await refused(api.put(f"/api/preferences/threads/t{other}", json={"here": "ignore"}), 404, "unknown")
        assert (await api.put(f"/api/preferences/threads/t{own}", json={"here": "no"})).status_code == 422
    assert await sql("select preferences from thread order by id") == [("ignore",), ("use",)]
