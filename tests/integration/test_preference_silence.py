"""Checks that acts leave no rows if nothing may be learned, that prompts without preferences are byte for byte the
same, and that erased preferences leave nothing."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from relay.conversation.prompt import Prompt, build_prompt
from relay.memory.store import Store
from tests.integration import turn_driver as people
from tests.integration.conftest import Sql
from tests.integration.dump import holding
from tests.integration.edits import posted
from tests.integration.test_preference_attribution import Observer, answered, learned, pattern, settled
from tests.integration.turn_driver import ADA, BEN, BOT, Json, TurnDriver, dm, incoming_of, private, reply

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
LATER = "2999-01-01T00:00:00Z"
SIGNS: list[Json] = [
    {
        "kind": "tag",
        "observations": [{"type": "form", "pattern": "charts", "polarity": 1, "weight": 0.3, "reinforcing": 1}],
    },
    {"kind": "thumbs", "value": {"up": True}},
    {"kind": "accept"},
    {"kind": "refine", "value": {"text": "Better so."}},
    {"kind": "compare", "value": {"chose": "a", "dimensions": ["shorter"]}},
    {
        "kind": "said",
        "observations": [{"type": "form", "pattern": "charts", "polarity": 1, "weight": 1.6, "reinforcing": 2}],
    },
]


def said(words: str) -> Json:
    observed = {"type": "other", "pattern": words, "polarity": 1, "weight": 1.6, "reinforcing": 2}
    return {"kind": "said", "about": None, "value": {}, "source": "command", "observations": [observed]}


def control(**change: Any) -> Callable[[Store], Awaitable[Any]]:
    return lambda store: store.preference_control(dm(ADA), ADA, change)


STATES: dict[str, tuple[Callable[[Store], Awaitable[Any]], bool, bool]] = {
    "off": (control(preferences="off"), False, False),
    "paused": (control(paused_until=LATER), False, False),
    "memory off": (lambda store: store.control(dm(ADA), ADA, {"memory": "off"}), False, False),
    "private": (lambda store: store.private(dm(ADA), True, ADA, True), False, False),
    "ignored here": (control(here="ignore"), True, False),
    "quiet here": (control(here="quiet"), False, True),
    "learning off": (lambda store: store.choose(ADA, {"learning": "off"}), False, True),
}
"""How to reach each state, whether acts leave rows in it, and whether prompts still follow preferences."""


async def prompt_of(driver: TurnDriver, sql: Sql, user_id: int) -> tuple[int, Prompt]:
    """Returns the id of the turn of a person's next message, and its prompt, at a fixed time."""
    turn = await driver.turn(user_id, "And now?")
    incoming = replace(incoming_of(turn, "And now?", private(user_id)), at=NOW)
    context = await driver.store.begin(incoming, "m")
    context = replace(context, recent=tuple(replace(row, created_at=NOW) for row in context.recent))
    await driver.store.finish(incoming, reply("A stopped answer.") | {"status": "stopped"})
    await posted(driver.store, turn, 60_000 + turn.turn_id, chat_id=user_id)
    return turn.turn_id, build_prompt(incoming, context, [], UTC)


def as_bytes(prompt: Prompt) -> str:
    return json.dumps([prompt.system, prompt.messages], default=str)


@pytest.mark.parametrize("name", STATES)
async def test_acts_leave_no_rows_and_change_no_prompt_where_nothing_is_learned(
    driver: TurnDriver, store: Store, sql: Sql, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(people.NAMES, BEN, "Ada")
    rest, teaches, shows = STATES[name]
    first = (await driver.exchange(ADA, "Hello")).turn.turn_id
    await driver.exchange(BEN, "Hello")
    if not shows:
        await store.feedback(dm(ADA), ADA, said("puns"))
    await rest(store)
    if name == "private":  # its own session is as empty as Ben's
        await store.new_session(dm(BEN), "")
    rows = "select count(*) from feedback"
    ((before,),) = await sql(rows)
    await store.choose(BEN, {"learning": "off"})
    turn, shown = await prompt_of(driver, sql, ADA)
    _, plain = await prompt_of(driver, sql, BEN)
    for sign in SIGNS:
        act = {"value": {}, "source": "command", "about": {"turn_id": turn}, "over": first} | sign
        act |= {"about": None} if sign["kind"] == "said" else {}
        act |= {"over": None} if sign["kind"] != "compare" else {}
        done = await store.feedback(dm(ADA), ADA, act)
        assert (done.refused is None) == teaches
    await store.react(BOT.id, ADA, 60_000 + turn, ADA, ["👌"], 100)
    await driver.exchange(ADA, "/retry", retry=True, retry_turn=turn)
    assert ((await sql(rows))[0][0] > before) == teaches
    assert as_bytes(shown) == as_bytes(plain)
    assert "LIKES ANSWERS" not in as_bytes(shown)


async def test_erasing_an_answer_erases_everything_it_taught(driver: TurnDriver, store: Store, sql: Sql) -> None:
    words = ("zebra stripes", "quagga manes", "okapi hooves")
    shown = await answered(driver, sql, text="Tell me something")
    ((turn, answer),) = await sql("select id, assistant_message_id from turn")
    for kind, observed in (("tag", words[0]), ("compare", words[1])):
        act: Json = said(observed) | {"kind": kind, "about": {"turn_id": turn}, "value": {"tags": [observed]}}
        await store.feedback(dm(ADA), ADA, act)
    await store.react(BOT.id, ADA, shown, ADA, ["👍"], 100)
    await settled(sql)
    await learned(store, Observer(pattern(words[2])))
    context = (await driver.exchange(ADA, "And now?")).context
    assert {row.pattern for row in context.preferences} == set(words[:2])
    [gone] = await store.forget_preferences(private(ADA), ADA, [context.preferences[0].id])
    assert gone.pattern in words
    before = await holding(sql, *words)
    assert {"observation", "preference", "preference_decision", "result"} <= before.keys()
    await sql("select relay.erase_messages(space_id, array[id]) from message where id = %s", answer)
    assert await holding(sql, *words) == {}
