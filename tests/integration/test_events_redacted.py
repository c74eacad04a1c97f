"""No event holds a secret, whatever kind of thing happened; and nothing writes events that is not looked at here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relay.core.redaction import patterns, redact
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.house import ADA, BOT, GROUP, House, message
from tests.telegram_objects import sorted_row

Json = dict[str, Any]
KEY, CODE = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA", "K-4711"
FUNCTIONS = Path(__file__).parents[2] / "migrations" / "functions"

WRITERS = {
    # an update: `redacted` of it, or itself when there is nothing to take out (telegram/parsing/updates.py)
    ("queue.sql", "coalesce(one.event, 'update')"),
    # why a turn failed: `redact` of the sentence (relay/surfaces/telegram/turns/worker.py)
    ("queue.sql", "'error'"),
    # an answer: the number of its message, no text
    ("turn.sql", "coalesce(e ->> 'kind', 'reply')"),
    # a tap: the number of the change, and one of three words
    ("memory_review.sql", "'memory'"),
    # one tap for many: the same of each
    ("memory_switches.sql", "'memory'"),
    # a switch of memory: on, off, until when
    ("memory_switches.sql", "'control'"),
    ("preference_list.sql", "'control'"),
    # a start or a stop: numbers and a version of ours
    ("night.sql", "p_kind"),
}
"""Every statement that writes events, and how what people wrote gets into it clean."""


@pytest.fixture(autouse=True)
def _own_pattern(tmp_path: Path) -> Iterator[None]:
    (tmp_path / "redact.txt").write_text("K-\\d+\n")
    redact.use_patterns(patterns.load(tmp_path / "redact.txt"))
    yield
    redact.use_patterns(())


def test_all_that_writes_events_is_known() -> None:
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
    assert written == len(WRITERS), "one that this test does not read"


def updates() -> list[Json]:
    """Something of everything that people can send, each with a key and a word of their own in all its texts."""
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


async def test_no_event_holds_a_secret(house: House, store: Store, sql: Sql) -> None:
    await house.exchange(ADA, f"I have {KEY}", f"You have {KEY} and {CODE}.")
    change = (await house.teach(ADA, f"Ada has {CODE}"))[0]
    await store.decide_change(change.id, ADA, False, "undo")
    other = await house.turn(ADA, f"{KEY} {CODE}")
    await store.fail(other, redact.redact(f"DatabaseError: {KEY} {CODE}"), 1)
    rows = [sorted_row(update, BOT, frozenset([ADA]), True) for update in updates()]
    await store.intake(BOT.id, rows, 64)
    events = await sql("select kind, payload::text from event")
    assert {kind for kind, _ in events} == {"update", "error", "reply", "memory"}
    assert not [text for _, text in events if KEY in str(text) or CODE in str(text) or "4111" in str(text)]
    assert sum(redact.MARK in str(text) for _, text in events) >= 8


async def test_the_event_of_a_private_turn_that_failed_says_nothing(house: House, store: Store, sql: Sql) -> None:
    await house.exchange(ADA, "hello")
    await sql("update session set private = true")
    turn = await house.turn(ADA, "hush")
    await sql("update turn set session_id = (select id from session) where id = %s", turn.turn_id)
    await store.fail(turn, "DatabaseError: hush", 1)
    assert await sql("select payload from event where kind = 'error'") == [(None,)]
