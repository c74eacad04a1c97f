"""Checks that no event holds a secret, whatever happens, and that every statement that writes events is known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relay.core.redaction import patterns, redact
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BOT, GROUP, TurnDriver, message
from tests.telegram_objects import sorted_row

Json = dict[str, Any]
KEY, CODE = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA", "K-4711"
FUNCTIONS = Path(__file__).parents[2] / "migrations" / "functions"

WRITERS = {
    # an update: its `redacted` form, or the update itself if nothing is removed (telegram/parsing/updates.py)
    ("queue.sql", "coalesce(one.event, 'update')"),
    # why a turn failed: the sentence after `redact` (relay/surfaces/telegram/turns/worker.py)
    ("queue.sql", "'error'"),
    # an answer: the id of its message, no text
    ("turn.sql", "coalesce(e ->> 'kind', 'reply')"),
    # a tap: the id of the change, and one of three words
    ("memory_review.sql", "'memory'"),
    # one tap on several changes: the same for each
    ("memory_switches.sql", "'memory'"),
    # a change of the memory switch: on, off, until when
    ("memory_switches.sql", "'control'"),
    ("preference_list.sql", "'control'"),
    # a start or a stop: numbers and our version
    ("night.sql", "p_kind"),
}
"""Every statement that writes events, and how it removes secrets from what people wrote."""


@pytest.fixture(autouse=True)
def _own_pattern(tmp_path: Path) -> Iterator[None]:
    (tmp_path / "redact.txt").write_text("K-\\d+\n")
    redact.use_patterns(patterns.load(tmp_path / "redact.txt"))
    yield
    redact.use_patterns(())


def test_every_statement_that_writes_events_is_known() -> None:
    found = {
        (path.name, match[1].strip())
        for path in FUNCTIONS.glob("*.sql")
        for match in re.finditer(
            r"insert into (?:relay\.)?event\b[^;]*?(?:values \(|select)\s*(coalesce\(.*?\)|'\w+'|p_kind)",
            path.read_text(),
        )
    }
    assert found == WRITERS
    written = sum(path.read_text().count("insert into event") for path in FUNCTIONS.glob("*.sql"))
    assert written == len(WRITERS), "there is a statement that this test doesn't find"


def updates() -> list[Json]:
    """Returns updates of every kind that people can send, each with a key and a code in all its texts."""
    secret = f"{KEY} and {CODE}"
    said = message(ADA, secret)
    there = {"chat": said["message"]["chat"], "from": said["message"]["from"], "date": 1, "message_id": 5}
    bodies: list[Json] = [
        {"message": there | {"caption": secret, "photo": [{"file_id": "f", "file_unique_id": "u"}]}},
        {"message": there | {"document": {"file_id": "f", "file_unique_id": "u", "file_name": f"{CODE}.txt"}}},
        {"message": there | {"text": "fine", "quote": {"text": secret}, "reply_to_message": there | {"text": secret}}},
        {"message": there | {"contact": {"first_name": CODE, "phone_number": "4111 1111 1111 1111"}}},
        {"message": there | {"text": f"/remember {secret}"}},
        {"edited_message": there | {"text": secret}},
        {"callback_query": {"id": "1", "data": "u:1", "from": there["from"], "message": there | {"text": secret}}},
        {"message": message(ADA, secret, GROUP)["message"]},
        {"message": message(ADA, f"@{BOT.username} {secret}", GROUP)["message"]},
    ]
    return [said, *({"update_id": 900_000 + number, **body} for number, body in enumerate(bodies))]


async def test_no_event_holds_a_secret(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, f"I have {KEY}", f"You have {KEY} and {CODE}.")
    change = (await driver.teach(ADA, f"Ada has {CODE}"))[0]
    await store.decide_change(change.id, ADA, False, "undo")
    other = await driver.turn(ADA, f"{KEY} {CODE}")
    await store.fail(other, redact.redact(f"DatabaseError: {KEY} {CODE}"), 1)
    rows = [sorted_row(update, BOT, frozenset([ADA]), True) for update in updates()]
    await store.intake(BOT.id, rows, 64)
    events = await sql("select kind, payload::text from event")
    assert {kind for kind, _ in events} == {"update", "error", "reply", "memory"}
    assert not [text for _, text in events if KEY in str(text) or CODE in str(text) or "4111" in str(text)]
    assert sum(redact.MARK in str(text) for _, text in events) >= 8


async def test_the_event_of_a_failed_private_turn_has_no_payload(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "hello")
    await sql("update session set private = true")
    turn = await driver.turn(ADA, "hush")
    await sql("update turn set session_id = (select id from session) where id = %s", turn.turn_id)
    await store.fail(turn, "DatabaseError: hush", 1)
    assert await sql("select payload from event where kind = 'error'") == [(None,)]
