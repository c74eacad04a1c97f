"""Tests judging: each exchange is judged once, in order, despite crashes. Findings are stored with their source."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest

from relay.core.errors import ModelAccountError, ModelThrottled, ModelUnavailable
from relay.core.models import ModelRequest, Step
from relay.core.ports import Database
from relay.memory.review.judging import Judge, judge_batch, judge_work
from relay.memory.spending.budget import Budget
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from tests.integration.conftest import Opened, Sql
from tests.integration.turn_driver import (
    ADA,
    BEN,
    BOT,
    GROUP,
    TurnDriver,
    due_announcements,
    fact,
    group,
    incoming_of,
    private,
    reply,
)
from tests.integration.work import claim_judging, judge_again_now, judge_due
from tests.judging import learned, result_of

Json = dict[str, Any]
SMALL = -4242
MOVED = "I moved to Lisbon last week, it is so much warmer here than in Berlin."


class Small:
    """A small model that finds a sentence in each message that it knows, and decides with `decides`."""

    def __init__(self, **found: str) -> None:
        self.found = {words.replace("_", " "): sentence for words, sentence in found.items()}
        self.kinds: dict[str, str] = {}
        self.decides: Callable[[str], list[Json]] = lambda text: []
        self.raises: list[Exception | None] = []
        self.says: list[str] = []
        self.requests: list[ModelRequest] = []
        self.more: Json = {}
        """What else it says of each finding."""
        self.names: list[int] = []
        """Messages that it names as additional evidence."""

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        self.requests.append(request)
        error = self.raises.pop(0) if self.raises else None
        if error is not None:
            raise error
        if self.says:
            return Step([{"type": "text", "text": self.says.pop(0)}], "end_turn", {"output_tokens": 5}, "small")
        text = request.messages[0]["content"][0]["text"]
        name = request.tools[0]["name"]
        answer = {"decisions": self.decides(text)} if name == "settle" else {"findings": self.findings(text)}
        return Step([{"type": "tool_use", "name": name, "input": answer}], "tool_use", {"output_tokens": 5}, "small")

    def findings(self, text: str) -> list[Json]:
        judged = text.partition("To be judged:")[2]
        parts = [part.partition('"')[::2] for part in judged.split('<said id="')[1:]]
        return [
            {
                "kind": self.kinds.get(words, "fact"),
                "importance": 7,
                "sentence": sentence,
                "evidence": [int(id), *self.names],
            }
            | self.more
            for words, sentence in self.found.items()
            for id, said in parts
            if words in said and 'by="the assistant"' not in said
        ]

    @property
    def judged(self) -> int:
        return sum(one.tools != [] and one.tools[0]["name"] == "keep" for one in self.requests)


def judge(store: Store, small: Small, **more: Any) -> Judge:
    return Judge(store, Gate(small, store), "small", **more)


async def memories(sql: Sql, *statuses: str) -> list[tuple[Any, ...]]:
    return await sql(
        "select content, status, kind, derivation ->> 'name' from memory where status = any (%s) order by id",
        list(statuses or ("active", "pending")),
    )


async def test_a_finding_is_stored_with_its_source_and_announced_under_its_answer(driver: TurnDriver, sql: Sql) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    said = await driver.exchange(ADA, MOVED, "Nice!")
    assert await judge_due(judge(driver.store, small)) == 1
    (kept,) = await sql("select content, importance, source_message_id, evidence, turn_id, subject_id from memory")
    assert kept == (
        "Ada lives in Lisbon.",
        7,
        said.context.message_id,
        [said.context.message_id],
        said.turn.turn_id,
        ADA,
    )
    assert await sql("select turn_id, status from announcement") == [(said.turn.turn_id, "due")]
    assert await sql("select what, space_id is not null, user_id from spend where what = 'judge'") == [
        ("judge", True, ADA)
    ]
    assert await judge_due(judge(driver.store, small)) == 0
    assert small.judged == 1, "nothing may be judged twice"


async def test_a_message_that_was_being_answered_as_access_was_revoked_is_not_judged(
    driver: TurnDriver, sql: Sql
) -> None:
    await sql("insert into person (user_id, bot_id, name, role) values (%s, %s, 'Ada', 'user')", ADA, BOT.id)
    turn = await driver.turn(ADA, MOVED)
    incoming = incoming_of(turn, MOVED, private(ADA))
    await driver.store.begin(incoming, "model-1")
    assert await driver.store.revoke(ADA, True, BEN, "Ben") == "done"
    await driver.store.finish(incoming, reply("Nice!"))
    await driver.close(turn)
    small = Small(Lisbon="Ada lives in Lisbon.")
    await judge_due(judge(driver.store, small))
    assert (small.judged, await memories(sql)) == (0, [])


async def test_a_question_is_not_judged_before_it_is_answered(driver: TurnDriver, sql: Sql) -> None:
    turn = await driver.turn(ADA, MOVED)
    incoming = incoming_of(turn, MOVED, private(ADA))
    await driver.store.begin(incoming, "model-1")
    small = Small(Lisbon="Ada lives in Lisbon.")
    assert await judge_due(judge(driver.store, small)) == 0
    await driver.store.finish(incoming, reply())
    assert await judge_due(judge(driver.store, small)) == 1
    assert len(await memories(sql)) == 1


async def test_a_crash_between_judging_and_storing_loses_and_repeats_nothing(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, MOVED)
    (lost,) = await claim_judging(driver.store, 2)
    assert await claim_judging(driver.store, 2) == [], "the job is leased"
    await sql("update job set lease_until = now() - interval '1 second'")
    small = Small(Lisbon="Ada lives in Lisbon.")
    other = Store(driver.store._database, str(uuid.uuid4()))
    assert await judge_due(judge(other, small)) == 1
    found = learned("Ada lives in Lisbon by the sea.", lost.work.through - 1, subject_id=ADA)
    result = result_of(lost.work, found)
    assert not await driver.store.store_judged(lost.job, result), "the result of the dead process comes too late"
    assert [row[0] for row in await memories(sql)] == ["Ada lives in Lisbon."]


async def test_a_result_stored_twice_changes_nothing_more(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, MOVED)
    (due,) = await claim_judging(driver.store, 2)
    found = learned("Ada lives in Lisbon.", due.work.through - 1, subject_id=ADA, subject="Ada")
    result = result_of(due.work, found)
    assert await driver.store.store_judged(due.job, result)
    assert not await driver.store.store_judged(due.job, result)
    assert len(await memories(sql)) == 1


async def test_a_message_said_while_a_result_is_stored_stays_due(driver: TurnDriver, sql: Sql, opened: Opened) -> None:
    await driver.exchange(ADA, MOVED)
    (due,) = await claim_judging(driver.store)
    async with await psycopg.AsyncConnection.connect(opened.server.url(opened.name, superuser=True)) as speaking:
        await speaking.execute(
            "insert into relay.message (space_id, thread_id, session_id, turn_id, role, text, blocks)"
            " select space_id, thread_id, session_id, turn_id, role, 'And more.', '[]' from relay.message"
            " where role = 'assistant'"
        )
        storing = asyncio.create_task(driver.store.store_judged(due.job, result_of(due.work)))
        await asyncio.sleep(0.3)
        assert not storing.done(), "an open write must hold the job for a moment"
        await speaking.commit()
    assert await storing
    (more,) = await claim_judging(driver.store)
    assert [one.text for one in more.work.messages] == ["And more."]


async def test_a_thread_that_failed_is_judged_again_with_its_next_message(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, MOVED)
    (due,) = await claim_judging(driver.store)
    assert await driver.store.fail_job(due.job, "It failed.", 5, 1), "the job must be parked"
    assert await claim_judging(driver.store) == []
    await driver.exchange(ADA, "And how warm it is!")
    assert await judge_due(judge(driver.store, Small(Lisbon="Ada lives in Lisbon."))) == 1
    assert [row[0] for row in await memories(sql)] == ["Ada lives in Lisbon."]


async def test_a_thread_of_a_killed_process_is_judged_by_the_next(
    driver: TurnDriver, sql: Sql, database: Database
) -> None:
    await driver.exchange(ADA, MOVED)
    for _ in range(3):
        dead = Store(database, str(uuid.uuid4()))
        (due,) = await claim_judging(dead)
        await dead.release()
    result = result_of(due.work, learned("Ada lives in Lisbon.", due.work.through - 1, subject_id=ADA))
    assert not await driver.store.store_judged(due.job, result)
    assert await judge_due(judge(driver.store, Small(Lisbon="Ada lives in Lisbon."))) == 1
    assert len(await memories(sql)) == 1


async def test_due_judging_from_an_older_backup_stays_due(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, MOVED)
    await sql("delete from job")
    await sql("update judging set due_at = now(), lease_owner = gen_random_uuid(), lease_until = now()")
    await sql("select restore_queue()")
    assert await judge_due(judge(driver.store, Small(Lisbon="Ada lives in Lisbon."))) == 1
    assert await sql("select due_at, lease_owner from judging") == [(None, None)]


@pytest.mark.parametrize("later", [False, True])
async def test_messages_due_in_a_group_are_judged_once_it_is_a_supergroup(
    driver: TurnDriver, sql: Sql, later: bool
) -> None:
    """later: the thread that takes in the other one was already judged beyond what waits there."""
    small = Small()
    await driver.exchange(ADA, "I have a sister in Bergen.", chat_id=SMALL)
    await judge_due(judge(driver.store, small))
    await driver.exchange(ADA, MOVED, chat_id=GROUP)
    if later:
        await driver.exchange(ADA, "I have a brother in Oslo.", chat_id=SMALL)
        await sql("update job set lease_owner = gen_random_uuid(), lease_until = now() + interval '5 minutes'"
                  " where key = (select thread_id::text from message where text = %s)", MOVED)  # fmt: skip
        await judge_due(judge(driver.store, small))
        assert len(small.requests) == 2, "the supergroup's job must wait"
    await driver.store.regroup(BOT.id, SMALL, GROUP)
    assert await sql("select count(*) from thread") == [(1,)]
    await judge_due(judge(driver.store, small))
    judged = [one.messages[0]["content"][0]["text"].partition("To be judged:")[2] for one in small.requests]
    assert [text.count(MOVED) for text in judged] == [0] * (len(judged) - 1) + [1]
    assert len(judged) == 2 + later, "nothing may be judged twice"
    assert await sql("select count(*) from job where kind = 'judging'") == [(0,)]


async def test_two_workers_share_the_work(driver: TurnDriver, database: Database, sql: Sql) -> None:
    for topic in range(1, 9):
        await driver.exchange(ADA, f"{MOVED} Topic {topic}.", topic_id=topic)
    one, two = Small(**{"Lisbon": "Ada lives in Lisbon."}), Small(**{"Lisbon": "Ada lives in Lisbon."})
    others = [Store(database, str(uuid.uuid4())) for _ in range(2)]
    done = await asyncio.gather(judge_due(judge(others[0], one)), judge_due(judge(others[1], two)))
    assert sum(done) == one.judged + two.judged == 8
    assert len(await memories(sql)) == 1, "a fact repeated eight times must be one memory"


async def test_off_the_record_and_paused_messages_are_skipped(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "warm up")
    await judge_due(judge(driver.store, Small()))
    for statement in (
        "update session set private = true",
        "update thread set teaches = false",
        "update space set memory = 'off'",
        "update space set paused_until = now() + interval '1 hour'",
    ):
        await sql("update session set private = false")
        await sql("update thread set teaches = true")
        await sql("update space set memory = 'on', paused_until = null")
        await sql(statement)
        await driver.exchange(ADA, MOVED)
    await sql("update space set paused_until = null")
    await driver.exchange(ADA, "I prefer tea to coffee in the mornings, always have and always will.")
    small = Small(Lisbon="Ada lives in Lisbon.", tea="Ada prefers tea.")
    await judge_due(judge(driver.store, small))
    assert [row[0] for row in await memories(sql)] == ["Ada prefers tea."]
    assert not any("Lisbon" in str(one.messages) for one in small.requests)


async def test_a_session_that_goes_off_the_record_while_judged_teaches_nothing(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, MOVED)
    small = Small(Lisbon="Ada lives in Lisbon.")
    (due,) = await claim_judging(driver.store)
    await sql("update session set private = true")
    await judge_batch(judge(driver.store, small), due.job, due.work)
    assert await memories(sql) == []


async def test_learning_off_skips_judging_and_learning_ask_makes_findings_pending(driver: TurnDriver, sql: Sql) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    await driver.store.choose(ADA, {"learning": "off"})
    await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, small))
    assert small.requests == []
    await driver.store.choose(ADA, {"learning": "ask"})
    await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, small))
    assert [row[:2] for row in await memories(sql)] == [("Ada lives in Lisbon.", "pending")]


@pytest.mark.parametrize("contradicts", [False, True])
async def test_the_same_proposal_is_not_made_again_while_it_waits(
    driver: TurnDriver, sql: Sql, contradicts: bool
) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    await driver.teach(ADA, "Ada lives in Berlin.")
    await driver.store.choose(ADA, {"learning": "ask"})

    def decide(text: str) -> list[Json]:
        known = next(int(line.split()[0]) for line in text.splitlines() if "Berlin" in line)
        return [{"new": 1, "is": "contradicts", "known": known}] if contradicts else []

    async def count_open() -> int:
        await driver.exchange(ADA, MOVED)
        await judge_due(judge(driver.store, small))
        [(waiting,)] = await sql("select count(*) from memory_change where status = 'pending'")
        return int(waiting)

    small.decides = decide
    assert (await count_open(), await count_open()) == (1, 1)
    assert [row[0] for row in await memories(sql, "pending")] == ["Ada lives in Lisbon."]
    [(change,)] = await sql("select id from memory_change where status = 'pending'")
    await driver.store.decide_change(change, ADA, False, "discard")
    assert await count_open() == 1, "what was discarded may be said again"


async def test_a_proposal_waits_for_each_person_who_said_it(driver: TurnDriver, sql: Sql) -> None:
    small = Small(Lisbon="The club meets in Lisbon.")
    small.kinds = {"Lisbon": "discovery"}
    for user_id in (ADA, BEN, ADA):
        await driver.store.choose(user_id, {"learning": "ask"})
        await driver.exchange(user_id, MOVED, chat_id=GROUP)
        await judge_due(judge(driver.store, small))
    assert await sql("select user_id from memory_change where status = 'pending' order by id") == [(ADA,), (BEN,)]


async def test_with_capture_set_to_tags_nothing_is_judged_later(driver: TurnDriver, sql: Sql) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    await driver.exchange(ADA, MOVED)
    assert await judge_due(judge(driver.store, small, capture="tags")) == 0
    assert await judge_due(judge(driver.store, small)) == 0
    assert small.requests == []


async def test_a_contradiction_ends_the_older_memory(driver: TurnDriver, sql: Sql) -> None:
    await driver.teach(ADA, "Ada lives in Berlin.")
    await judge_due(judge(driver.store, Small()))
    small = Small(Lisbon="Ada lives in Lisbon.")

    def decide(text: str) -> list[Json]:
        known = next(int(line.split()[0]) for line in text.splitlines() if "Berlin" in line)
        return [{"new": 1, "is": "contradicts", "known": known}]

    small.decides = decide
    await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, small))
    rows = await sql("select content, status, replaced_by is not null, valid_until is not null from memory order by id")
    assert rows == [
        ("Ada lives in Berlin.", "superseded", True, True),
        ("Ada lives in Lisbon.", "active", False, False),
    ]


async def test_a_tag_of_the_answer_ends_the_memory_it_contradicts(driver: TurnDriver, sql: Sql) -> None:
    await driver.teach(ADA, "Ada lives in Berlin.")
    await judge_due(judge(driver.store, Small()))
    small = Small()

    def decide(text: str) -> list[Json]:
        known, _, new = text.partition("New:")
        assert "Lisbon" in new
        assert "Lisbon" not in known
        number = next(int(line.split()[0]) for line in known.splitlines() if "Berlin" in line)
        return [{"new": 1, "is": "contradicts", "known": number}]

    small.decides = decide
    done = await driver.exchange(ADA, MOVED, actions=[fact(ADA, "Ada has moved to Lisbon.")])
    await judge_due(judge(driver.store, small))
    states = "select content, status, replaced_by from memory order by id"
    berlin, lisbon = await sql(states)
    assert berlin[:2] == ("Ada lives in Berlin.", "superseded")
    assert lisbon == ("Ada has moved to Lisbon.", "active", None)
    (told,) = await due_announcements(driver.store)
    assert [one.action for one in told.changes if one.id in told.tells] == ["supersede"]
    ended = next(one.id for one in told.changes if one.action == "supersede")
    await driver.store.decide_change(ended, ADA, False, "undo")
    assert [status for _, status, _ in await sql(states)] == ["active", "active"], (
        "the fact kept by the answer must stay"
    )
    assert done.told.changes[0].action == "learn"


async def test_claiming_judging_does_not_wait_for_a_locked_thread(driver: TurnDriver, sql: Sql, opened: Opened) -> None:
    """They used to deadlock: every tenth message right after an answer took a second longer."""
    await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, Small()))
    await sql("select owe_sooner('judging', id::text, jsonb_build_object('thread_id', id), '-infinity') from thread")
    async with await psycopg.AsyncConnection.connect(opened.server.url(opened.name, superuser=True)) as speaking:
        await speaking.execute("select from relay.thread for update")
        async with asyncio.timeout(5):
            assert await claim_judging(driver.store) == []
    assert await sql("select id from job where kind = 'judging'") == []


async def test_a_finding_made_during_an_announcement_is_announced_later(driver: TurnDriver, sql: Sql) -> None:
    done = await driver.exchange(ADA, MOVED)
    finding = {"action": "learn", "kind": "fact", "subject_id": ADA, "subject": "Ada", "pending": False,
               "tainted": False, "evidence": [done.context.message_id]}  # fmt: skip
    keep = "select relay.keep_finding((select id from thread), %s::jsonb)"
    await sql(keep, json.dumps(finding | {"content": "Ada has moved to Lisbon."}))
    (telling,) = (await driver.store.claim(BOT.id, 5))[0]
    assert telling.message
    told = await driver.store.announcement(telling.message.under_turn_id or 0)
    assert told
    await sql(keep, json.dumps(finding | {"content": "Ada has a cat that hates boxes."}))
    assert await due_announcements(driver.store) == [], "announcements must come one after the other"
    await driver.store.record_announced(told.turn_id, None, None)
    await driver.close(telling)
    (again,) = await due_announcements(driver.store)
    assert (len(told.tells), len(again.tells)) == (1, 2)
    assert await due_announcements(driver.store) == []


async def test_a_finding_undone_meanwhile_ends_no_memory(driver: TurnDriver, sql: Sql) -> None:
    await driver.teach(ADA, "Ada lives in Berlin.")
    await judge_due(judge(driver.store, Small()))
    done = await driver.exchange(ADA, MOVED, actions=[fact(ADA, "Ada has moved to Lisbon.")])
    (due,) = await claim_judging(driver.store)
    small = Small()
    small.decides = lambda text: [{"new": 1, "is": "contradicts", "known": int(text.splitlines()[1].split()[0])}]
    asks = judge(driver.store, small)
    found = await judge_work(asks, due.work, asks.gate)
    await driver.store.decide_change(done.told.changes[0].id, ADA, False, "undo")
    result = result_of(due.work, *found.actions)
    assert len(found.actions) == 1
    assert await driver.store.store_judged(due.job, result)
    assert [row[:2] for row in await memories(sql)] == [("Ada lives in Berlin.", "active")]


async def test_a_fact_already_kept_by_a_tag_is_not_stored_twice(driver: TurnDriver, sql: Sql) -> None:
    small = Small(Lisbon="Ada moved to the city of Lisbon.")
    small.decides = lambda text: [{"new": 1, "is": "same", "known": int(text.splitlines()[1].split()[0])}]
    await driver.exchange(ADA, MOVED, actions=[fact(ADA, "Ada lives in Lisbon.")])
    await judge_due(judge(driver.store, small))
    assert 'Kept already:\n- "Ada lives in Lisbon."' in small.requests[0].messages[0]["content"][0]["text"]
    assert [row[0] for row in await memories(sql)] == ["Ada lives in Lisbon."]
    assert await sql("select count(*) from memory_change") == [(1,)]
    assert await sql("select count(*) from announcement") == [(0,)]


async def test_facts_of_two_people_are_never_compared(driver: TurnDriver, sql: Sql) -> None:
    small = Small(Lisbon="Lives in Lisbon by the river.")
    await driver.exchange(ADA, MOVED, chat_id=GROUP)
    await judge_due(judge(driver.store, small))
    await driver.exchange(BEN, MOVED, chat_id=GROUP)
    await judge_due(judge(driver.store, small))
    assert await sql("select subject_id, status from memory order by id") == [(ADA, "active"), (BEN, "active")]
    assert not any(one.tools[0]["name"] == "settle" for one in small.requests), (
        "facts of two people must not be compared"
    )


@pytest.mark.parametrize("later", ["valid", "not valid"])
async def test_an_invalid_result_is_judged_by_keywords_and_once_more_by_the_model(
    driver: TurnDriver, sql: Sql, later: str
) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    small.says = ["no idea", json.dumps({"findings": "none"})]
    await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, small))
    assert len(small.requests) == 2
    assert small.requests[0].tool_choice == {"type": "tool", "name": "keep"}
    assert [(row[1], row[3]) for row in await memories(sql)] == [("active", "keyword judge")]
    assert await judge_due(judge(driver.store, small)) == 0, "it must not be judged again at once"
    await judge_again_now(sql)
    small.says = [] if later == "valid" else ["no idea", "none"]
    assert await judge_due(judge(driver.store, small)) == 1
    by = "judge" if later == "valid" else "keyword judge"
    assert [(row[1], row[3]) for row in await memories(sql)] == [("active", by)]
    assert await sql("select count(*) from judge_again") == [(0,)], "it must be judged again only once"


async def test_judging_waits_for_a_busy_model(driver: TurnDriver, sql: Sql) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    small.raises = [ModelThrottled(0.2)]
    await driver.exchange(ADA, MOVED)
    begun = time.monotonic()
    assert await judge_due(judge(driver.store, small)) == 1
    assert time.monotonic() - begun >= 0.2
    assert [row[3] for row in await memories(sql)] == ["judge"]


async def test_keywords_judge_while_the_model_is_unavailable_and_the_model_later(driver: TurnDriver, sql: Sql) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    await driver.exchange(ADA, MOVED)
    for _ in range(3):
        small.raises = [ModelUnavailable()]
        await judge_due(judge(driver.store, small))
        await sql("update job set due_at = now() where last_error is not null")
    assert [(row[1], row[3]) for row in await memories(sql)] == [("active", "keyword judge")]
    assert await judge_due(judge(driver.store, small)) == 0, "it must not be judged again at once"
    await judge_again_now(sql)
    small.raises = [ModelUnavailable()]
    await judge_due(judge(driver.store, small))
    assert len(await memories(sql)) == 1, "keywords must not judge twice"
    await judge_again_now(sql)
    await judge_due(judge(driver.store, small))
    assert [(row[0], row[3]) for row in await memories(sql)] == [("Ada lives in Lisbon.", "judge")]
    assert await sql("select count(*) from judge_again") == [(0,)]
    (told,) = await due_announcements(driver.store)
    assert [one.content for one in told.changes if one.id in told.tells] == ["Ada lives in Lisbon."]


async def test_a_keyword_finding_that_a_person_kept_stays(driver: TurnDriver, sql: Sql) -> None:
    small = Small()
    small.raises = [ModelAccountError()]
    await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, small, capture="ask"))
    ((change,),) = await sql("select id from memory_change")
    await driver.store.decide_change(change, ADA, False, "keep")
    await judge_again_now(sql)
    await judge_due(judge(driver.store, small))
    assert [row[1] for row in await memories(sql)] == ["active"]


@pytest.mark.parametrize("how", ["remembered", "pinned", "said again"])
async def test_a_keyword_finding_that_was_remembered_pinned_or_said_again_stays(
    driver: TurnDriver, sql: Sql, how: str
) -> None:
    small = Small(said_before=f"“{MOVED}”")
    small.raises = [ModelAccountError()]
    await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, small))
    ((number, content, kind, subject_id),) = await sql("select id, content, kind, subject_id from memory")
    if how == "said again":
        await driver.exchange(ADA, f"As I said before, {MOVED}")
        await judge_due(judge(driver.store, small))
    else:
        learn = {"action": "learn", "kind": kind, "content": content, "subject_id": subject_id, "by": "user"}
        act = learn if how == "remembered" else {"action": "pin", "memory_id": number}
        await driver.store.change_directly(private(ADA), ADA, [act])
    assert await sql("select id, status from memory") == [(number, "active")]
    await judge_again_now(sql)
    await judge_due(judge(driver.store, small))
    assert await sql("select count(*) from judge_again") == [(0,)]
    assert await sql("select id, status from memory") == [(number, "active")]


async def test_the_question_of_a_replaced_answer_is_judged_again(driver: TurnDriver, sql: Sql) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    first = await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, small))
    turn = await driver.turn(ADA, "again")
    again = incoming_of(turn, "", private(ADA), retry=True, retry_turn=first.turn.turn_id)
    again = replace(again, replaces=True)
    await driver.store.begin(again, "model-1")
    await driver.store.finish(again, reply("Oh!"))
    await driver.close(turn)
    assert await memories(sql) == [], "the findings of the old answer must be undone"
    await judge_due(judge(driver.store, small))
    assert [row[0] for row in await memories(sql)] == ["Ada lives in Lisbon."]
    assert small.judged == 2


async def test_judging_waits_while_the_budget_is_used_up(driver: TurnDriver, sql: Sql) -> None:
    from relay.core.spending.prices import Prices

    small = Small(Lisbon="Ada lives in Lisbon.")
    await driver.exchange(ADA, MOVED)
    await sql(
        "insert into spend (id, what, done, model, output) values (gen_random_uuid(), 'answer', true, %s, 1000000)",
        "claude-haiku-5-5",
    )
    assert (
        await judge_due(
            replace(judge(driver.store, small), gate=Gate(small, driver.store, Budget(total=0.01, prices=Prices())))
        )
        == 0
    )
    assert await judge_due(judge(driver.store, small)) == 1


@pytest.mark.slow("test_judging_sql.py, with fewer messages")
async def test_thousands_of_imported_messages_are_judged_in_order(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "hi there")
    await judge_due(judge(driver.store, Small()))
    await sql(
        "insert into message (space_id, thread_id, session_id, role, user_id, name, text, blocks, created_at)"
        " select space_id, thread_id, session_id, case n %% 2 when 1 then 'user' else 'assistant' end, %s, 'Ada',"
        " 'message ' || n || ' about nothing in particular but long enough to be judged', '[]', now()"
        " from (select * from message order by id limit 1) one, generate_series(1, 3000) n",
        ADA,
    )
    begun = time.monotonic()
    (due,) = await claim_judging(driver.store, 2)
    assert time.monotonic() - begun < 2
    assert [row.text.split()[1] for row in due.work.messages] == [str(n) for n in range(1, 13)]
    assert await driver.store.count_unjudged() == 3000
    await driver.exchange(BEN, MOVED)
    (live,) = await claim_judging(driver.store)
    assert "Lisbon" in live.work.messages[0].text, "the current conversation must come first"
    await sql("update job set lease_owner = null")
    small = Small(**{"message 2999 ": "Ada said the last thing."})
    assert await judge_due(judge(driver.store, small)) > 240
    assert [row[0] for row in await memories(sql)] == ["Ada said the last thing."]
    assert await sql("select count(*) from announcement") == [(0,)], (
        "findings from imported messages must not be announced"
    )
    assert await driver.store.count_unjudged() == 0


async def test_praise_for_an_earlier_answer_is_stored_with_that_answer(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "What is the answer to everything, and why is it that of all numbers?", "It is 42.")
    await judge_due(judge(driver.store, Small()))
    ((answered,),) = await sql("select max(id) from message where role = 'assistant'")
    said = await driver.exchange(ADA, "Exactly right!", "Glad to hear it.")
    small = Small(Exactly="Ada confirmed that the answer is 42.")
    small.names = [answered]
    await judge_due(judge(driver.store, small))
    assert await sql("select content, evidence, derivation ->> 'name' from memory") == [
        ("Ada confirmed that the answer is 42.", [answered, said.context.message_id], "judge")
    ]


def deciding(relation: str, words: str, sentence: str = "") -> Callable[[str], list[Json]]:
    """Relates the first finding to the known memory with these words."""

    def decide(text: str) -> list[Json]:
        known = next(int(line.split()[0]) for line in text.splitlines() if words in line)
        return [{"new": 1, "is": relation, "known": known, "sentence": sentence}]

    return decide


async def test_a_memory_forgotten_during_comparison_does_not_lose_the_finding(driver: TurnDriver, sql: Sql) -> None:
    await driver.teach(ADA, "Ada has a dog.")
    await judge_due(judge(driver.store, Small()))
    small = Small(Lisbon="Ada's dog is called Rex.")
    decide = deciding("refined", "dog", "Ada has a dog called Rex.")

    async def forgotten(candidates: Any, *rest: Any) -> Any:
        near = await Store.near_memories(driver.store, candidates, *rest)
        await sql("update memory set status = 'forgotten'")
        return near

    small.decides = decide
    await driver.exchange(ADA, MOVED)
    driver.store.near_memories = forgotten  # type: ignore[method-assign]
    await judge_due(judge(driver.store, small))
    assert [row[:2] for row in await memories(sql)] == [("Ada's dog is called Rex.", "active")]


async def test_facts_and_learnings_are_never_compared(driver: TurnDriver, sql: Sql) -> None:
    await driver.teach(ADA, "Ada likes her tea green.", "Ada has a cat.")
    small, other = Small(Lisbon="Green tea is made at 80 degrees."), Small(Lisbon="Ada lives in Lisbon.")
    small.kinds = {"Lisbon": "discovery"}
    await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, small))
    assert small.requests
    assert not any(one.tools[0]["name"] == "settle" for one in small.requests)
    await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, other))
    settle = other.requests[-1].messages[0]["content"][0]["text"]
    assert "cat" in settle, "memories without a common word must be compared too"
    assert "80 degrees" not in settle


async def test_texts_erased_or_paused_during_judging_teach_nothing(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "What is the answer to everything, and why is it that of all numbers?", "It is 42.")
    await judge_due(judge(driver.store, Small()))
    ((answered,),) = await sql("select max(id) from message where role = 'assistant'")
    await driver.exchange(ADA, "Exactly right!")
    small = Small(Exactly="Ada confirmed that the answer is 42.")
    small.names = [answered]
    (due,) = await claim_judging(driver.store)
    await sql("update space set paused_until = now() + interval '1 hour'")
    await judge_batch(judge(driver.store, small), due.job, due.work)
    assert await memories(sql) == []
    assert await claim_judging(driver.store) == [], "the space's memory is paused"
    await sql("update space set paused_until = null")
    (due,) = await claim_judging(driver.store)
    assert due.work.messages, "the messages must not have been skipped"
    await sql("update turn set assistant_message_id = null")
    await sql("delete from message where id = %s", answered)
    await judge_batch(judge(driver.store, small), due.job, due.work)
    assert await memories(sql) == []


async def test_an_earlier_statement_does_not_end_a_later_one(driver: TurnDriver, sql: Sql) -> None:
    await driver.teach(ADA, "Ada lives in Berlin.")
    await judge_due(judge(driver.store, Small()))
    small = Small(Lisbon="Ada lives in Lisbon.")
    small.decides = deciding("contradicts", "Berlin")
    said = await driver.exchange(ADA, MOVED)
    await sql("update message set created_at = '2020-05-01 10:00+00' where id = %s", said.context.message_id)
    await judge_due(judge(driver.store, small))
    assert "1 (2020-05-01)" in small.requests[-1].messages[0]["content"][0]["text"]
    rows = await sql(
        "select content, status, replaced_by is not null, valid_from::date::text, valid_until > valid_from"
        " from memory order by id"
    )
    assert rows == [
        ("Ada lives in Berlin.", "active", False, None, None),
        ("Ada lives in Lisbon.", "superseded", True, "2020-05-01", True),
    ]
    assert await sql("select count(*) from announcement") == [(0,)], "an ended fact must not be announced"


async def test_a_refined_memory_stays_tainted_and_keeps_its_tags(driver: TurnDriver, sql: Sql) -> None:
    await driver.teach(ADA, "Ada has a dog.")
    await judge_due(judge(driver.store, Small()))
    await sql("update memory set tainted = true, tags = '{pet}'")
    small = Small(Lisbon="Ada's dog is called Rex.")
    small.decides = deciding("refined", "dog", "Ada has a dog called Rex.")
    await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, small))
    rows = await sql("select content, tainted, tags from memory where status = 'active'")
    assert rows == [("Ada has a dog called Rex.", True, ["pet"])]


async def test_a_finding_records_its_inputs_and_the_model(driver: TurnDriver, sql: Sql) -> None:
    from relay.memory.derivations.derivation import Input, make_derivation

    small = Small(Lisbon="Ada has a dog.")
    first = (await driver.exchange(ADA, MOVED)).context.message_id
    await judge_due(judge(driver.store, small))
    small.found = {"Lisbon": "Ada's dog is called Rex."}
    small.decides = deciding("refined", "dog", "Ada has a dog called Rex.")
    second = (await driver.exchange(ADA, MOVED)).context.message_id
    await judge_due(judge(driver.store, small))
    (dog, made), (_, better) = await sql("select id, derivation - 'answer' from memory order by id")
    assert made == make_derivation("judge", "2/small", [Input("message", first, MOVED)]).as_json()
    inputs = [Input("message", second, MOVED), Input("memory", dog, "Ada has a dog.")]
    assert better == make_derivation("judge", "2/small", inputs).as_json()
    assert await sql("select version from judging") == [("2/small",)]


async def test_a_patient_caller_waits_for_a_short_outage_to_end(driver: TurnDriver, sql: Sql) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    small.raises = [ModelUnavailable()]
    await driver.exchange(ADA, MOVED)
    assert await judge_due(judge(driver.store, small)) == 0
    assert await judge_due(judge(driver.store, small), patience=1) == 0, "the outage ends later than that"
    assert await judge_due(judge(driver.store, small), patience=60) == 1
    assert [row[3] for row in await memories(sql)] == ["judge"]
    assert await judge_due(judge(driver.store, small), patience=60) == 0, "nothing is waiting"


async def test_replacing_an_answer_keeps_another_persons_fact(driver: TurnDriver, sql: Sql) -> None:
    turn = await driver.turn(ADA, MOVED, chat_id=GROUP)
    await driver.store.begin(incoming_of(turn, MOVED, group()), "model-1")
    await driver.store.finish(incoming_of(turn, MOVED, group()), {**reply(""), "blocks": []})
    await driver.close(turn)
    tea = "I prefer tea to coffee in the mornings, always have and always will."
    first = await driver.exchange(BEN, tea, chat_id=GROUP)
    await judge_due(judge(driver.store, Small(Lisbon="Ada lives in Lisbon.", tea="Ben prefers tea.")))
    assert await sql("select count(distinct turn_id) from memory") == [(1,)], "both findings belong to the same answer"
    turn = await driver.turn(BEN, "again", chat_id=GROUP)
    again = replace(incoming_of(turn, "", group(), retry=True, retry_turn=first.turn.turn_id), replaces=True)
    await driver.store.begin(again, "model-1")
    await driver.store.finish(again, reply("Oh!"))
    await driver.close(turn)
    assert [row[0] for row in await memories(sql)] == ["Ada lives in Lisbon."]


DENTIST = "I have to see the dentist at 14:00 on the fourth of December, in Main Street."
AT_TWO = "Ada sees the dentist on 2126-12-04."


async def dentist(driver: TurnDriver, sql: Sql, **more: Any) -> int:
    """An event whose time of day somebody told; its memory's id."""
    small = Small(dentist=AT_TWO)
    small.kinds["dentist"], small.more = "event", {"valid_from": "2126-12-04", "time": "14:00"}
    await driver.exchange(ADA, DENTIST)
    assert await judge_due(judge(driver.store, small, **more)) == 1
    [(made,)] = await sql("select id from memory where content = %s", AT_TWO)
    return int(made)


async def test_an_event_keeps_its_time_of_day_in_the_persons_zone(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await store.choose(ADA, {"zone": "Asia/Tokyo"})
    found = await store.dated_memory(private(ADA), await dentist(driver, sql, zone=ZoneInfo("Europe/Berlin")))
    assert found is not None
    assert (found.at, found.exact) == (datetime(2126, 12, 4, 14, tzinfo=ZoneInfo("Asia/Tokyo")), True)


async def test_an_event_with_only_a_day_is_stored_without_a_time(driver: TurnDriver, store: Store, sql: Sql) -> None:
    made = await dentist(driver, sql)
    await sql("update memory set exact_at = null")
    found = await store.dated_memory(private(ADA), made)
    assert found is not None
    assert (found.at, found.exact) == (datetime(2126, 12, 4, tzinfo=UTC), False)


async def test_a_persons_own_edit_drops_the_time_and_undo_restores_it(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    made = await dentist(driver, sql)
    edit = {"action": "edit", "memory_id": made, "content": "Ada sees the dentist on 2126-12-04 at 16:00."}
    done = await store.change_directly(private(ADA), ADA, [edit])
    found = await store.dated_memory(private(ADA), made)
    assert found is not None
    assert not found.exact, "the time may be another now"
    await store.decide_change(done.changes[0].id, ADA, False, "undo")
    found = await store.dated_memory(private(ADA), made)
    assert found is not None
    assert found.exact


async def test_an_edit_that_names_another_day_drops_the_day_and_undo_restores_it(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    made = await dentist(driver, sql)
    before = "select valid_from, valid_until, exact_at from memory where id = %s"
    dated = await sql(before, made)
    edit = {"action": "edit", "memory_id": made, "content": "Ada sees the dentist on 2126-12-09.", "undated": True}
    done = await store.change_directly(private(ADA), ADA, [edit])
    assert await store.dated_memory(private(ADA), made) is None
    await store.decide_change(done.changes[0].id, ADA, False, "undo")
    assert await sql(before, made) == dated


@pytest.mark.parametrize(("action", "exact"), [("refine", True), ("supersede", False)])
async def test_a_refinement_keeps_the_time_and_a_contradiction_drops_it(
    driver: TurnDriver, store: Store, sql: Sql, action: str, exact: bool
) -> None:
    made = await dentist(driver, sql)
    said = {"action": action, "memory_id": made, "content": "Ada sees Dr Pin on 2126-12-04.", "kind": "event"}
    await driver.exchange(ADA, "with Dr Pin", actions=[said | {"valid_from": "2126-12-04T00:00:00Z"}])
    [(new,)] = await sql("select id from memory where content like '%%Pin%%'")
    found = await store.dated_memory(private(ADA), new)
    assert found is not None
    assert found.exact is exact
