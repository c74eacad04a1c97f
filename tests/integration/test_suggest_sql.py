"""Tests suggestions of past sessions that fit a new message."""

from __future__ import annotations

import json
from decimal import Decimal

import psycopg
import pytest

from relay.core.models import Thread
from relay.memory.index import enter
from relay.memory.rows.contexts.library import Suggestion
from relay.memory.store import Store
from relay.surfaces.chat.contexts.suggestion import suggestion_lines
from tests.benchmarks import conversations
from tests.benchmarks.chats import store_chat
from tests.integration.conftest import Opened, Sql
from tests.integration.library import add_version
from tests.integration.turn_driver import ADA, TurnDriver, dm

SCORES = [(1, 0, 30, "0.675"), (0.4, 1, 0, "0.64"), (0.2, 0, 90, "0.1575")]
AMONG = 3


@pytest.mark.parametrize(("relevance", "files", "days", "score"), SCORES)
async def test_suggestion_scores_are_exact(sql: Sql, relevance: float, files: int, days: int, score: str) -> None:
    [(found,)] = await sql("select suggestion_score(%s::numeric, %s, %s)", str(relevance), files, days)
    assert found == Decimal(score)


async def talk(driver: TurnDriver, sql: Sql, *subjects: str, topic_id: int = 0) -> list[int]:
    """Makes sessions about one subject each. An empty one is running."""
    ids = []
    for subject in subjects:
        await driver.exchange(ADA, f"We planted {subject} by the wall", f"{subject} grow well", topic_id=topic_id)
        ids += (await sql("select max(session_id) from message"))[0]
        await driver.store.new_session(dm(ADA, topic_id), "")
    return ids


async def suggested(
    store: Store, words: str, budget: int = 16_000, topic_id: int = 0, **more: object
) -> list[Suggestion]:
    return await store.suggest(dm(ADA, topic_id), {"text": words, **more}, budget)


async def test_matching_sessions_come_best_first_without_the_running_one(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    tomatoes, beans = await talk(driver, sql, "tomatoes tomatoes", "beans")
    await driver.exchange(ADA, "beans again")
    (one,) = await suggested(store, "beans")
    assert (one.session_id, one.version_id, one.make, one.relevance) == (beans, None, False, 1)
    assert one.score == pytest.approx(0.75, abs=0.001)
    both = await suggested(store, "beans tomatoes planted wall")
    assert {row.session_id for row in both} == {tomatoes, beans}
    assert await suggested(store, "submarine") == []
    await sql("update message set created_at = now() - interval '3000 days' where session_id = %s", beans)
    (one,) = await suggested(store, "beans")
    assert one.score == pytest.approx(0.601, abs=0.001)


async def test_linked_sessions_come_first_then_registered_ones(driver: TurnDriver, store: Store, sql: Sql) -> None:
    (elsewhere,) = await talk(driver, sql, "beans", topic_id=5)
    plain, kept = await talk(driver, sql, "beans", "beans beside other things that were said at length there")
    assert [one.session_id for one in await suggested(store, "beans")] == [plain, kept]
    await store.register_session(dm(ADA), kept, True)
    await store.link_session(dm(ADA), elsewhere, "same beans", ADA)
    await sql("update session set topics = '{Beans,peas}' where id = %s", elsewhere)
    found = await suggested(store, "beans")
    assert [one.session_id for one in found] == [elsewhere, kept, plain]
    assert (found[0].linked, found[0].topics) == ("same beans", ("Beans",))


async def test_suggestions_fit_into_the_budget(driver: TurnDriver, store: Store, sql: Sql) -> None:
    long, longer = await talk(driver, sql, "beans", "beans")
    await sql("update message set text = text || repeat(' and more', 10000) where role = 'assistant'")
    version = await add_version(sql, longer, 1, tokens=3_000)
    found = {one.session_id: one for one in await suggested(store, "beans", 4_000)}
    assert (found[longer].version_id, found[longer].tokens, found[longer].make) == (version, 3_000, False)
    assert (found[long].version_id, found[long].make) == (None, True)
    assert " · v001_tiered-standard_3k, 3.0k tokens" in suggestion_lines([found[longer]])
    assert sum(one.tokens for one in found.values()) <= 4_000


async def test_shared_files_raise_the_score(driver: TurnDriver, store: Store, sql: Sql) -> None:
    beans, peas = await talk(driver, sql, "beans", "peas")
    files = [{"type": kind, "file": {"unique_id": name}} for kind, name in (("document", "plan"), ("image", "photo"))]
    [(said,)] = await sql("select id from message where role = 'user' and session_id = %s", peas)
    await sql("update message set blocks = %s::jsonb where id = %s", json.dumps(files), said)
    await sql(
        "insert into document (space_id, message_id, unique_id, name, parts)"
        " select space_id, id, 'plan', 'plan.pdf', 1 from message where id = %s", said,
    )  # fmt: skip
    found = await suggested(store, "beans", files=["plan"])
    assert [(one.session_id, one.score) for one in found] == [
        (beans, pytest.approx(0.75, abs=0.001)), (peas, pytest.approx(0.4, abs=0.001)),
    ]  # fmt: skip


@pytest.mark.slow("test_matching_sessions_come_best_first_without_the_running_one")
async def test_the_session_with_the_evidence_is_among_the_first_three(opened: Opened, store: Store) -> None:
    """Uses the scripted conversations, and words only."""
    hits: list[bool] = []
    url = opened.server.url(opened.name, superuser=True)
    for chat in conversations.load():
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("set relay.index = 'later'")  # many at once take a fraction of the time
            space, said = store_chat(connection, chat)
            rows = connection.execute("select id, session_id from relay.message").fetchall()
        await enter(store)
        session_of = {said[id]: session for id, session in rows if id in said}
        number = space.owner_id or 0
        for question in chat.questions:
            found = await store.suggest(Thread(space, number, 0), {"text": question.text}, 16_000)
            first = {one.session_id for one in found[:AMONG]}
            hits.append(bool(first & {session_of[id] for id in question.evidence}))
    print(f"evidence among the first {AMONG}: {sum(hits) / len(hits):.3f} of {len(hits)} questions")
    assert sum(hits) / len(hits) >= 0.8
