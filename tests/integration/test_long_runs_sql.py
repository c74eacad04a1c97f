"""Long runs of letters and underscores, which PostgreSQL's parser reads slowly, are stored and indexed in time."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, TurnDriver, incoming_of, private, reply
from tests.sampled import sampled


@pytest.mark.parametrize("run", sampled(["a_", "snake_case_", "~/"], 3))
async def test_a_long_run_is_stored_and_found_in_time(driver: TurnDriver, store: Store, sql: Sql, run: str) -> None:
    text = "zanzibar " + run * (60_000 // len(run)) + " mathilda"
    turn = await driver.turn(ADA, "see this")
    incoming = incoming_of(turn, text, private(ADA))
    document = {"unique_id": "u1", "name": "runs.txt", "mime": "text/plain", "kind": "text", "pages": 0}
    begun = time.perf_counter()
    context = await store.begin(replace(incoming, documents=[document | {"parts": [text]}]), "model-1")
    await store.finish(incoming, reply(text))
    await driver.close(turn)
    assert time.perf_counter() - begun < 15
    assert context.message is not None
    assert context.message.blocks[0]["text"] == text, "the model reads it as it was sent"
    assert {len(await driver.look_up(private(ADA), word)) > 0 for word in ("zanzibar", "mathilda")} == {True}
    assert await sql("select distinct replace(text, ' ', '') = %s from message", text.replace(" ", "")) == [(True,)]


async def test_other_long_runs_stay_as_they_are(driver: TurnDriver, store: Store, sql: Sql) -> None:
    text = f"key_of: {'0123456789abcdef' * 1000} and a_short_run"
    turn = await driver.turn(ADA, "see this")
    await store.begin(incoming_of(turn, text, private(ADA)), "model-1")
    assert await sql("select text from message") == [(text,)]
