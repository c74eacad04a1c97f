"""People of a group with the same name are told apart, and facts name people as they are called now."""

from __future__ import annotations

from datetime import UTC
from typing import Any

import pytest

from relay.core.models import Block, Thread
from relay.memory.night.digest import day_as_data
from relay.memory.rows.memories import Subject
from relay.memory.store import Store
from relay.memory.writing.summaries import as_data, format_message
from tests.integration.conftest import Sql
from tests.integration.test_document_sql import paper, read, send
from tests.integration.test_turn import Room
from tests.integration.turn_driver import ADA, BEN, EVE, GROUP, NAMES, TurnDriver, fact, group

THERE: dict[str, Any] = {"chat_id": GROUP, "space": group()}


@pytest.fixture(autouse=True)
def two_called_ada(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NAMES, BEN, "Ａda")


def speakers(room: Room) -> list[str]:
    """Returns who said each message of the last prompt."""
    parts: list[Block] = [part for message in room.model.requests[-1].messages for part in message["content"]]
    return [part["text"].split('"')[1] for part in parts if part["text"].startswith("<said by=")]


async def test_two_people_with_one_name_are_two_for_the_model(driver: TurnDriver, store: Store, sql: Sql) -> None:
    room = Room(driver)
    await driver.exchange(EVE, "Hello", **THERE)
    await driver.exchange(ADA, "No peanuts for me", actions=[fact(ADA, "eats no peanuts")], **THERE)
    await room.say(EVE, "Who is here?", "Ada.", **THERE)
    assert speakers(room) == ["Eve", "Ada", "Eve"]
    assert "- Ada: eats no peanuts" in room.prompt
    await driver.exchange(BEN, "No milk for me", actions=[fact(BEN, "drinks no milk")], **THERE)
    await room.say(BEN, "What can I eat, me?", "Peanuts.", **THERE)
    assert speakers(room) == ["Eve", "Ada", "Eve", "Ａda (2)", "Ａda (2)"]
    assert "- Ada: eats no peanuts" in room.prompt
    assert "- Ａda (2): drinks no milk" in room.prompt
    page = await store.memories(group(), 0, 8)
    assert [row.subject for row in page.memories] == ["Ａda (2)", "Ada"]
    assert set(page.people) == {Subject(ADA, "Ada", 1), Subject(BEN, "Ａda (2)", 1)}
    await sql("insert into person (user_id, bot_id, name, username, role) values (%s, 1, 'Ada', 'ada', 'user')", ADA)
    await room.say(EVE, "And Ada?", "Milk.", **THERE)
    assert speakers(room)[:2] == ["Eve", "Ada (@ada)"]
    assert "- Ada (@ada): eats no peanuts" in room.prompt


async def test_a_name_cannot_pretend_to_be_a_namesakes_mark(
    driver: TurnDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(NAMES, EVE, "Ada (2)")
    room = Room(driver)
    await driver.exchange(ADA, "Hello", **THERE)
    await driver.exchange(BEN, "Hello", **THERE)
    await room.say(EVE, "Hello", "Hello.", **THERE)
    assert speakers(room) == ["Ada", "Ａda (2)", "Ada 2"]


async def test_who_takes_another_name_keeps_their_facts(
    driver: TurnDriver, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Room(driver)
    taught = await driver.exchange(ADA, "No peanuts", actions=[fact(ADA, "eats no peanuts")], **THERE)
    monkeypatch.setitem(NAMES, ADA, "Adele")
    await room.say(ADA, "It's me again", "Hello.", **THERE)
    assert speakers(room) == ["Ada", "Adele"], "without namesakes, what was said stays as it was"
    assert "- Adele: eats no peanuts" in room.prompt
    (row,) = (await store.memories(group(), 0, 8)).memories
    assert row.subject == "Adele"
    assert (await store.history(group(), False, 0, 8, ADA, False)).changes[0].subject == "Adele"
    (change,) = taught.told.changes
    opened = await store.open_memory(change.memory_id, ADA, False)
    assert opened is not None
    assert opened.subject == "Adele"


async def test_two_people_with_one_name_are_two_in_what_is_made_from_their_words(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await send(driver, ADA, paper("diet.pdf", "No peanuts."), space=group())
    await send(driver, BEN, paper("diet.pdf", "No milk.", unique_id="other"), space=group())
    told = await read(store, "diet.pdf", space=group())
    assert "sent by Ａda (2), " in told
    assert "sent by Ada, " in told
    assert "sent by Ａda (2), " in await read(store, "recipe", space=group()), "so does the list of documents"
    await driver.exchange(ADA, "I eat no peanuts", **THERE)
    await driver.exchange(BEN, "I drink no milk", **THERE)
    lines = ("Ada: I eat no peanuts", "Ａda (2): I drink no milk")
    [(session_id,)] = await sql("select distinct session_id from message")
    await store.want_summary(Thread(group(), GROUP, 0), 2, ADA)
    (job,) = await store.claim_jobs("summary", None, 1)
    work = await store.summary_work(job)
    assert work is not None
    read_by_summariser = as_data(None, work.messages, UTC)
    assert all(line in read_by_summariser for line in lines)
    await store.make_version(group(), session_id, ADA, {})
    (job,) = await store.claim_jobs("compression", None, 1)
    session = await store.compression_work(job)
    assert session is not None
    for unit, line in zip(session.units[-4::2], lines, strict=True):
        assert format_message(unit.role, unit.name, unit.text, unit.untrusted, unit.mark) == line
    digest = day_as_data(await store.digest_now(group()), UTC)
    assert all(line in digest for line in lines)
