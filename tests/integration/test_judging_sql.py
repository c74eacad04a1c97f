"""Judging: each exchange once, in order, whatever dies meanwhile; what it finds is kept with its source."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from relay.core.errors import ModelAccountError, ModelThrottled, ModelUnavailable
from relay.core.models import ModelRequest, Step
from relay.core.ports import Database
from relay.memory.review.judging import Judge, found_in, judge_batch
from relay.memory.spending.budget import Budget
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from tests.integration.conftest import Opened, Sql
from tests.integration.house import ADA, BEN, BOT, GROUP, House, due_announcements, fact, private
from tests.integration.work import claim_judging, judge_again_now, judge_due
from tests.judging import learned, result_of

Json = dict[str, Any]
SMALL = -4242
MOVED = "I moved to Lisbon last week, it is so much warmer here than in Berlin."


class Small:
    """A small model that finds a sentence in each message that it knows, and decides as it is told."""

    def __init__(self, **found: str) -> None:
        self.found = {words.replace("_", " "): sentence for words, sentence in found.items()}
        self.kinds: dict[str, str] = {}
        self.decides: Callable[[str], list[Json]] = lambda text: []
        self.raises: list[Exception | None] = []
        self.says: list[str] = []
        self.requests: list[ModelRequest] = []
        self.names: list[int] = []
        """Messages that it names as evidence besides."""

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


async def test_what_was_said_is_kept_with_its_source_and_told_under_its_answer(house: House, sql: Sql) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    said = await house.exchange(ADA, MOVED, "Nice!")
    assert await judge_due(judge(house.store, small)) == 1
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
    assert await judge_due(judge(house.store, small)) == 0
    assert small.judged == 1, "nothing is judged twice"


async def test_a_question_alone_is_not_judged_before_its_answer(house: House, sql: Sql) -> None:
    turn = await house.turn(ADA, MOVED)
    from tests.integration.house import incoming_of, reply

    incoming = incoming_of(turn, MOVED, private(ADA))
    await house.store.begin(incoming, "model-1")
    small = Small(Lisbon="Ada lives in Lisbon.")
    assert await judge_due(judge(house.store, small)) == 0
    await house.store.finish(incoming, reply())
    assert await judge_due(judge(house.store, small)) == 1
    assert len(await memories(sql)) == 1


async def test_a_crash_between_judging_and_writing_loses_and_doubles_nothing(house: House, sql: Sql) -> None:
    await house.exchange(ADA, MOVED)
    (lost,) = await claim_judging(house.store, 2)
    assert await claim_judging(house.store, 2) == [], "it is leased"
    await sql("update job set lease_until = now() - interval '1 second'")
    small = Small(Lisbon="Ada lives in Lisbon.")
    other = Store(house.store._database, str(uuid.uuid4()))
    assert await judge_due(judge(other, small)) == 1
    found = learned("Ada lives in Lisbon by the sea.", lost.work.through - 1, subject_id=ADA)
    result = result_of(lost.work, found)
    assert not await house.store.store_judged(lost.job, result), "the dead one comes back too late"
    assert [row[0] for row in await memories(sql)] == ["Ada lives in Lisbon."]


async def test_the_same_result_twice_changes_nothing_more(house: House, sql: Sql) -> None:
    await house.exchange(ADA, MOVED)
    (due,) = await claim_judging(house.store, 2)
    found = learned("Ada lives in Lisbon.", due.work.through - 1, subject_id=ADA, subject="Ada")
    result = result_of(due.work, found)
    assert await house.store.store_judged(due.job, result)
    assert not await house.store.store_judged(due.job, result)
    assert len(await memories(sql)) == 1


async def test_what_is_said_while_a_result_is_stored_stays_owed(house: House, sql: Sql, opened: Opened) -> None:
    await house.exchange(ADA, MOVED)
    (due,) = await claim_judging(house.store)
    async with await psycopg.AsyncConnection.connect(opened.server.url(opened.name, superuser=True)) as speaking:
        await speaking.execute(
            "insert into relay.message (space_id, thread_id, session_id, turn_id, role, text, blocks)"
            " select space_id, thread_id, session_id, turn_id, role, 'And more.', '[]' from relay.message"
            " where role = 'assistant'"
        )
        storing = asyncio.create_task(house.store.store_judged(due.job, result_of(due.work)))
        await asyncio.sleep(0.3)
        assert not storing.done(), "whoever speaks holds the job for a moment"
        await speaking.commit()
    assert await storing
    (more,) = await claim_judging(house.store)
    assert [one.text for one in more.work.messages] == ["And more."]


async def test_a_thread_that_failed_for_good_is_judged_again_with_what_is_said_next(house: House, sql: Sql) -> None:
    await house.exchange(ADA, MOVED)
    (due,) = await claim_judging(house.store)
    assert await house.store.fail_job(due.job, "It failed.", 5, 1), "parked"
    assert await claim_judging(house.store) == []
    await house.exchange(ADA, "And how warm it is!")
    assert await judge_due(judge(house.store, Small(Lisbon="Ada lives in Lisbon."))) == 1
    assert [row[0] for row in await memories(sql)] == ["Ada lives in Lisbon."]


async def test_a_process_that_is_killed_between_any_two_calls_has_its_thread_judged_by_the_next(
    house: House, sql: Sql, database: Database
) -> None:
    await house.exchange(ADA, MOVED)
    for _ in range(3):
        dead = Store(database, str(uuid.uuid4()))
        (due,) = await claim_judging(dead)
        await dead.release()
    result = result_of(due.work, learned("Ada lives in Lisbon.", due.work.through - 1, subject_id=ADA))
    assert not await house.store.store_judged(due.job, result)
    assert await judge_due(judge(house.store, Small(Lisbon="Ada lives in Lisbon."))) == 1
    assert len(await memories(sql)) == 1


async def test_what_a_backup_of_an_older_version_had_to_be_judged_is_owed(house: House, sql: Sql) -> None:
    await house.exchange(ADA, MOVED)
    await sql("delete from job")
    await sql("update judging set due_at = now(), lease_owner = gen_random_uuid(), lease_until = now()")
    await sql("select restore_queue()")
    assert await judge_due(judge(house.store, Small(Lisbon="Ada lives in Lisbon."))) == 1
    assert await sql("select due_at, lease_owner from judging") == [(None, None)]


@pytest.mark.parametrize("later", [False, True])
async def test_what_was_to_be_judged_in_a_group_is_judged_once_it_is_a_supergroup(
    house: House, sql: Sql, later: bool
) -> None:
    """later: the thread that takes in the other one has been judged beyond what waits there."""
    small = Small()
    await house.exchange(ADA, "I have a sister in Bergen.", chat_id=SMALL)
    await judge_due(judge(house.store, small))
    await house.exchange(ADA, MOVED, chat_id=GROUP)
    if later:
        await house.exchange(ADA, "I have a brother in Oslo.", chat_id=SMALL)
        await sql("update job set lease_owner = gen_random_uuid(), lease_until = now() + interval '5 minutes'"
                  " where key = (select thread_id::text from message where text = %s)", MOVED)  # fmt: skip
        await judge_due(judge(house.store, small))
        assert len(small.requests) == 2, "the supergroup waits"
    await house.store.regroup(BOT.id, SMALL, GROUP)
    assert await sql("select count(*) from thread") == [(1,)]
    await judge_due(judge(house.store, small))
    judged = [one.messages[0]["content"][0]["text"].partition("To be judged:")[2] for one in small.requests]
    assert [text.count(MOVED) for text in judged] == [0] * (len(judged) - 1) + [1]
    assert len(judged) == 2 + later, "nothing is judged twice"
    assert await sql("select count(*) from job where kind = 'judging'") == [(0,)]


async def test_two_workers_share_the_work(house: House, database: Database, sql: Sql) -> None:
    for topic in range(1, 9):
        await house.exchange(ADA, f"{MOVED} Topic {topic}.", topic_id=topic)
    one, two = Small(**{"Lisbon": "Ada lives in Lisbon."}), Small(**{"Lisbon": "Ada lives in Lisbon."})
    others = [Store(database, str(uuid.uuid4())) for _ in range(2)]
    done = await asyncio.gather(judge_due(judge(others[0], one)), judge_due(judge(others[1], two)))
    assert sum(done) == one.judged + two.judged == 8
    assert len(await memories(sql)) == 1, "the same thing said eight times is one memory"


async def test_what_is_off_the_record_is_passed_by(house: House, sql: Sql) -> None:
    await house.exchange(ADA, "warm up")
    await judge_due(judge(house.store, Small()))
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
        await house.exchange(ADA, MOVED)
    await sql("update space set paused_until = null")
    await house.exchange(ADA, "I prefer tea to coffee in the mornings, always have and always will.")
    small = Small(Lisbon="Ada lives in Lisbon.", tea="Ada prefers tea.")
    await judge_due(judge(house.store, small))
    assert [row[0] for row in await memories(sql)] == ["Ada prefers tea."]
    assert not any("Lisbon" in str(one.messages) for one in small.requests)


async def test_a_session_that_goes_off_the_record_meanwhile_teaches_nothing(house: House, sql: Sql) -> None:
    await house.exchange(ADA, MOVED)
    small = Small(Lisbon="Ada lives in Lisbon.")
    (due,) = await claim_judging(house.store)
    await sql("update session set private = true")
    await judge_batch(judge(house.store, small), due.job, due.work)
    assert await memories(sql) == []


async def test_nobody_is_judged_who_wants_nothing_learned_and_some_are_asked(house: House, sql: Sql) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    await house.store.choose(ADA, {"learning": "off"})
    await house.exchange(ADA, MOVED)
    await judge_due(judge(house.store, small))
    assert small.requests == []
    await house.store.choose(ADA, {"learning": "ask"})
    await house.exchange(ADA, MOVED)
    await judge_due(judge(house.store, small))
    assert [row[:2] for row in await memories(sql)] == [("Ada lives in Lisbon.", "pending")]


async def test_with_tags_and_off_nothing_waits_and_nothing_is_judged_later(house: House, sql: Sql) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    await house.exchange(ADA, MOVED)
    assert await judge_due(judge(house.store, small, capture="tags")) == 0
    assert await judge_due(judge(house.store, small)) == 0
    assert small.requests == []


async def test_a_contradiction_ends_what_held_before(house: House, sql: Sql) -> None:
    await house.teach(ADA, "Ada lives in Berlin.")
    await judge_due(judge(house.store, Small()))
    small = Small(Lisbon="Ada lives in Lisbon.")

    def decide(text: str) -> list[Json]:
        known = next(int(line.split()[0]) for line in text.splitlines() if "Berlin" in line)
        return [{"new": 1, "is": "contradicts", "known": known}]

    small.decides = decide
    await house.exchange(ADA, MOVED)
    await judge_due(judge(house.store, small))
    rows = await sql("select content, status, replaced_by is not null, valid_until is not null from memory order by id")
    assert rows == [
        ("Ada lives in Berlin.", "superseded", True, True),
        ("Ada lives in Lisbon.", "active", False, False),
    ]


async def test_what_the_answers_own_tag_contradicts_ends(house: House, sql: Sql) -> None:
    await house.teach(ADA, "Ada lives in Berlin.")
    await judge_due(judge(house.store, Small()))
    small = Small()

    def decide(text: str) -> list[Json]:
        known, _, new = text.partition("New:")
        assert "Lisbon" in new
        assert "Lisbon" not in known
        number = next(int(line.split()[0]) for line in known.splitlines() if "Berlin" in line)
        return [{"new": 1, "is": "contradicts", "known": number}]

    small.decides = decide
    done = await house.exchange(ADA, MOVED, actions=[fact(ADA, "Ada has moved to Lisbon.")])
    await judge_due(judge(house.store, small))
    states = "select content, status, replaced_by from memory order by id"
    berlin, lisbon = await sql(states)
    assert berlin[:2] == ("Ada lives in Berlin.", "superseded")
    assert lisbon == ("Ada has moved to Lisbon.", "active", None)
    (told,) = await due_announcements(house.store)
    assert [one.action for one in told.changes if one.id in told.tells] == ["supersede"]
    ended = next(one.id for one in told.changes if one.action == "supersede")
    await house.store.decide_change(ended, ADA, False, "undo")
    assert [status for _, status, _ in await sql(states)] == ["active", "active"], "what the answer kept stays"
    assert done.told.changes[0].action == "learn"


async def test_who_looks_for_what_is_to_be_judged_waits_for_nobody_who_speaks(
    house: House, sql: Sql, opened: Opened
) -> None:
    """They waited for each other in a circle: each tenth message right behind an answer took a second more."""
    await house.exchange(ADA, MOVED)
    await judge_due(judge(house.store, Small()))
    await sql("select owe_sooner('judging', id::text, jsonb_build_object('thread_id', id), '-infinity') from thread")
    async with await psycopg.AsyncConnection.connect(opened.server.url(opened.name, superuser=True)) as speaking:
        await speaking.execute("select from relay.thread for update")
        async with asyncio.timeout(5):
            assert await claim_judging(house.store) == []
    assert await sql("select from job where kind = 'judging'") == []


async def test_what_is_found_while_another_finding_is_told_is_told_as_well(house: House, sql: Sql) -> None:
    done = await house.exchange(ADA, MOVED)
    finding = {"action": "learn", "kind": "fact", "subject_id": ADA, "subject": "Ada", "pending": False,
               "tainted": False, "evidence": [done.context.message_id]}  # fmt: skip
    keep = "select relay.keep_finding((select id from thread), %s::jsonb)"
    await sql(keep, json.dumps(finding | {"content": "Ada has moved to Lisbon."}))
    (telling,) = (await house.store.claim(BOT.id, 5))[0]
    assert telling.message
    told = await house.store.announcement(telling.message.under_turn_id or 0)
    assert told
    await sql(keep, json.dumps(finding | {"content": "Ada has a cat that hates boxes."}))
    assert await due_announcements(house.store) == [], "one after the other"
    await house.store.announced(told.turn_id, None, None)
    await house.close(telling)
    (again,) = await due_announcements(house.store)
    assert (len(told.tells), len(again.tells)) == (1, 2)
    assert await due_announcements(house.store) == []


async def test_what_somebody_took_back_meanwhile_ends_nothing(house: House, sql: Sql) -> None:
    await house.teach(ADA, "Ada lives in Berlin.")
    await judge_due(judge(house.store, Small()))
    done = await house.exchange(ADA, MOVED, actions=[fact(ADA, "Ada has moved to Lisbon.")])
    (due,) = await claim_judging(house.store)
    small = Small()
    small.decides = lambda text: [{"new": 1, "is": "contradicts", "known": int(text.splitlines()[1].split()[0])}]
    asks = judge(house.store, small)
    found = await found_in(asks, due.work, asks.gate)
    await house.store.decide_change(done.told.changes[0].id, ADA, False, "undo")
    result = result_of(due.work, *found.actions)
    assert len(found.actions) == 1
    assert await house.store.store_judged(due.job, result)
    assert [row[:2] for row in await memories(sql)] == [("Ada lives in Berlin.", "active")]


async def test_what_the_answers_own_tag_kept_is_not_doubled(house: House, sql: Sql) -> None:
    small = Small(Lisbon="Ada moved to the city of Lisbon.")
    small.decides = lambda text: [{"new": 1, "is": "same", "known": int(text.splitlines()[1].split()[0])}]
    await house.exchange(ADA, MOVED, actions=[fact(ADA, "Ada lives in Lisbon.")])
    await judge_due(judge(house.store, small))
    assert 'Kept already:\n- "Ada lives in Lisbon."' in small.requests[0].messages[0]["content"][0]["text"]
    assert [row[0] for row in await memories(sql)] == ["Ada lives in Lisbon."]
    assert await sql("select count(*) from memory_change") == [(1,)]
    assert await sql("select count(*) from announcement") == [(0,)]


async def test_two_peoples_facts_never_meet(house: House, sql: Sql) -> None:
    small = Small(Lisbon="Lives in Lisbon by the river.")
    await house.exchange(ADA, MOVED, chat_id=GROUP)
    await judge_due(judge(house.store, small))
    await house.exchange(BEN, MOVED, chat_id=GROUP)
    await judge_due(judge(house.store, small))
    assert await sql("select subject_id, status from memory order by id") == [(ADA, "active"), (BEN, "active")]
    assert not any(one.tools[0]["name"] == "settle" for one in small.requests), "they are not even compared"


@pytest.mark.parametrize("later", ["valid", "not valid"])
async def test_an_invalid_answer_is_retried_then_left_to_keywords_and_judged_again_once(
    house: House, sql: Sql, later: str
) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    small.says = ["no idea", json.dumps({"findings": "none"})]
    await house.exchange(ADA, MOVED)
    await judge_due(judge(house.store, small))
    assert len(small.requests) == 2
    assert small.requests[0].tool_choice == {"type": "tool", "name": "keep"}
    assert [(row[1], row[3]) for row in await memories(sql)] == [("active", "keyword judge")]
    assert await judge_due(judge(house.store, small)) == 0, "not at once"
    await judge_again_now(sql)
    small.says = [] if later == "valid" else ["no idea", "none"]
    assert await judge_due(judge(house.store, small)) == 1
    by = "judge" if later == "valid" else "keyword judge"
    assert [(row[1], row[3]) for row in await memories(sql)] == [("active", by)]
    assert await sql("select count(*) from judge_again") == [(0,)], "once"


async def test_a_busy_model_is_waited_for(house: House, sql: Sql) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    small.raises = [ModelThrottled(0.2)]
    await house.exchange(ADA, MOVED)
    begun = time.monotonic()
    assert await judge_due(judge(house.store, small)) == 1
    assert time.monotonic() - begun >= 0.2
    assert [row[3] for row in await memories(sql)] == ["judge"]


async def test_while_the_model_is_gone_keywords_judge_and_the_model_later(house: House, sql: Sql) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    await house.exchange(ADA, MOVED)
    for _ in range(3):
        small.raises = [ModelUnavailable()]
        await judge_due(judge(house.store, small))
        await sql("update job set due_at = now() where last_error is not null")
    assert [(row[1], row[3]) for row in await memories(sql)] == [("active", "keyword judge")]
    assert await judge_due(judge(house.store, small)) == 0, "not at once"
    await judge_again_now(sql)
    small.raises = [ModelUnavailable()]
    await judge_due(judge(house.store, small))
    assert len(await memories(sql)) == 1, "keywords judge nothing twice"
    await judge_again_now(sql)
    await judge_due(judge(house.store, small))
    assert [(row[0], row[3]) for row in await memories(sql)] == [("Ada lives in Lisbon.", "judge")]
    assert await sql("select count(*) from judge_again") == [(0,)]
    (told,) = await due_announcements(house.store)
    assert [one.content for one in told.changes if one.id in told.tells] == ["Ada lives in Lisbon."]


async def test_what_somebody_kept_of_the_keywords_stays(house: House, sql: Sql) -> None:
    small = Small()
    small.raises = [ModelAccountError()]
    await house.exchange(ADA, MOVED)
    await judge_due(judge(house.store, small, capture="ask"))
    ((change,),) = await sql("select id from memory_change")
    await house.store.decide_change(change, ADA, False, "keep")
    await judge_again_now(sql)
    await judge_due(judge(house.store, small))
    assert [row[1] for row in await memories(sql)] == ["active"]


async def test_an_answer_that_is_replaced_has_its_question_judged_again(house: House, sql: Sql) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    first = await house.exchange(ADA, MOVED)
    await judge_due(judge(house.store, small))
    turn = await house.turn(ADA, "again")
    from tests.integration.house import incoming_of, reply

    again = incoming_of(turn, "", private(ADA), retry=True, retry_turn=first.turn.turn_id)
    again = replace(again, replaces=True)
    await house.store.begin(again, "model-1")
    await house.store.finish(again, reply("Oh!"))
    await house.close(turn)
    assert await memories(sql) == [], "what the old answer stood for is taken back"
    await judge_due(judge(house.store, small))
    assert [row[0] for row in await memories(sql)] == ["Ada lives in Lisbon."]
    assert small.judged == 2


async def test_a_used_up_budget_leaves_it_waiting(house: House, sql: Sql) -> None:
    from relay.core.prices import Prices

    small = Small(Lisbon="Ada lives in Lisbon.")
    await house.exchange(ADA, MOVED)
    await sql(
        "insert into spend (id, what, done, model, output) values (gen_random_uuid(), 'answer', true, %s, 1000000)",
        "claude-haiku-5-5",
    )
    assert (
        await judge_due(
            replace(judge(house.store, small), gate=Gate(small, house.store, Budget(total=0.01, prices=Prices())))
        )
        == 0
    )
    assert await judge_due(judge(house.store, small)) == 1


async def test_ten_thousand_imported_messages_are_judged_in_order(house: House, sql: Sql) -> None:
    await house.exchange(ADA, "hi there")
    await judge_due(judge(house.store, Small()))
    await sql(
        "insert into message (space_id, thread_id, session_id, role, user_id, name, text, blocks, created_at)"
        " select space_id, thread_id, session_id, case n %% 2 when 1 then 'user' else 'assistant' end, %s, 'Ada',"
        " 'message ' || n || ' about nothing in particular but long enough to be judged', '[]', now()"
        " from (select * from message order by id limit 1) one, generate_series(1, 10000) n",
        ADA,
    )
    begun = time.monotonic()
    (due,) = await claim_judging(house.store, 2)
    assert time.monotonic() - begun < 2
    assert [row.text.split()[1] for row in due.work.messages] == [str(n) for n in range(1, 13)]
    assert await house.store.unjudged() == 10000
    await house.exchange(BEN, MOVED)
    (live,) = await claim_judging(house.store)
    assert "Lisbon" in live.work.messages[0].text, "who is just speaking comes first"
    await sql("update job set lease_owner = null")
    small = Small(**{"message 9999 ": "Ada said the last thing."})
    assert await judge_due(judge(house.store, small)) > 800
    assert [row[0] for row in await memories(sql)] == ["Ada said the last thing."]
    assert await sql("select count(*) from announcement") == [(0,)], "what was imported is told nowhere"
    assert await house.store.unjudged() == 0


async def test_praise_for_an_earlier_answer_is_kept_with_that_answer(house: House, sql: Sql) -> None:
    await house.exchange(ADA, "What is the answer to everything, and why is it that of all numbers?", "It is 42.")
    await judge_due(judge(house.store, Small()))
    ((answered,),) = await sql("select max(id) from message where role = 'assistant'")
    said = await house.exchange(ADA, "Exactly right!", "Glad to hear it.")
    small = Small(Exactly="Ada confirmed that the answer is 42.")
    small.names = [answered]
    await judge_due(judge(house.store, small))
    assert await sql("select content, evidence, derivation ->> 'name' from memory") == [
        ("Ada confirmed that the answer is 42.", [answered, said.context.message_id], "judge")
    ]


def deciding(relation: str, words: str, sentence: str = "") -> Callable[[str], list[Json]]:
    """How the first finding stands to the known memory with these words."""

    def decide(text: str) -> list[Json]:
        known = next(int(line.split()[0]) for line in text.splitlines() if words in line)
        return [{"new": 1, "is": relation, "known": known, "sentence": sentence}]

    return decide


async def test_a_memory_that_went_while_it_was_compared_takes_no_finding_with_it(house: House, sql: Sql) -> None:
    await house.teach(ADA, "Ada has a dog.")
    await judge_due(judge(house.store, Small()))
    small = Small(Lisbon="Ada's dog is called Rex.")
    decide = deciding("refined", "dog", "Ada has a dog called Rex.")

    async def forgotten(candidates: Any, *rest: Any) -> Any:
        near = await Store.near_memories(house.store, candidates, *rest)
        await sql("update memory set status = 'forgotten'")
        return near

    small.decides = decide
    await house.exchange(ADA, MOVED)
    house.store.near_memories = forgotten  # type: ignore[method-assign]
    await judge_due(judge(house.store, small))
    assert [row[:2] for row in await memories(sql)] == [("Ada's dog is called Rex.", "active")]


async def test_facts_and_learnings_are_not_even_compared(house: House, sql: Sql) -> None:
    await house.teach(ADA, "Ada likes her tea green.", "Ada has a cat.")
    small, other = Small(Lisbon="Green tea is made at 80 degrees."), Small(Lisbon="Ada lives in Lisbon.")
    small.kinds = {"Lisbon": "discovery"}
    await house.exchange(ADA, MOVED)
    await judge_due(judge(house.store, small))
    assert small.requests
    assert not any(one.tools[0]["name"] == "settle" for one in small.requests)
    await house.exchange(ADA, MOVED)
    await judge_due(judge(house.store, other))
    settle = other.requests[-1].messages[0]["content"][0]["text"]
    assert "cat" in settle, "what shares no word is compared, too"
    assert "80 degrees" not in settle


async def test_what_is_erased_or_put_to_rest_while_it_is_judged_teaches_nothing(house: House, sql: Sql) -> None:
    await house.exchange(ADA, "What is the answer to everything, and why is it that of all numbers?", "It is 42.")
    await judge_due(judge(house.store, Small()))
    ((answered,),) = await sql("select max(id) from message where role = 'assistant'")
    await house.exchange(ADA, "Exactly right!")
    small = Small(Exactly="Ada confirmed that the answer is 42.")
    small.names = [answered]
    (due,) = await claim_judging(house.store)
    await sql("update space set paused_until = now() + interval '1 hour'")
    await judge_batch(judge(house.store, small), due.job, due.work)
    assert await memories(sql) == []
    assert await claim_judging(house.store) == [], "its memory is at rest"
    await sql("update space set paused_until = null")
    (due,) = await claim_judging(house.store)
    assert due.work.messages, "it was not passed by"
    await sql("update turn set assistant_message_id = null")
    await sql("delete from message where id = %s", answered)
    await judge_batch(judge(house.store, small), due.job, due.work)
    assert await memories(sql) == []


async def test_what_was_said_earlier_does_not_end_what_was_said_later(house: House, sql: Sql) -> None:
    await house.teach(ADA, "Ada lives in Berlin.")
    await judge_due(judge(house.store, Small()))
    small = Small(Lisbon="Ada lives in Lisbon.")
    small.decides = deciding("contradicts", "Berlin")
    said = await house.exchange(ADA, MOVED)
    await sql("update message set created_at = '2020-05-01 10:00+00' where id = %s", said.context.message_id)
    await judge_due(judge(house.store, small))
    assert "1 (2020-05-01)" in small.requests[-1].messages[0]["content"][0]["text"]
    rows = await sql(
        "select content, status, replaced_by is not null, valid_from::date::text, valid_until > valid_from"
        " from memory order by id"
    )
    assert rows == [
        ("Ada lives in Berlin.", "active", False, None, None),
        ("Ada lives in Lisbon.", "superseded", True, "2020-05-01", True),
    ]
    assert await sql("select count(*) from announcement") == [(0,)], "what is over is no news"


async def test_a_better_wording_stays_what_others_wrote_and_keeps_its_tags(house: House, sql: Sql) -> None:
    await house.teach(ADA, "Ada has a dog.")
    await judge_due(judge(house.store, Small()))
    await sql("update memory set tainted = true, tags = '{pet}'")
    small = Small(Lisbon="Ada's dog is called Rex.")
    small.decides = deciding("refined", "dog", "Ada has a dog called Rex.")
    await house.exchange(ADA, MOVED)
    await judge_due(judge(house.store, small))
    rows = await sql("select content, tainted, tags from memory where status = 'active'")
    assert rows == [("Ada has a dog called Rex.", True, ["pet"])]


async def test_a_finding_tells_of_what_and_by_which_model_it_was_made(house: House, sql: Sql) -> None:
    from relay.memory.derivations.derivation import Input, make_derivation

    small = Small(Lisbon="Ada has a dog.")
    first = (await house.exchange(ADA, MOVED)).context.message_id
    await judge_due(judge(house.store, small))
    small.found = {"Lisbon": "Ada's dog is called Rex."}
    small.decides = deciding("refined", "dog", "Ada has a dog called Rex.")
    second = (await house.exchange(ADA, MOVED)).context.message_id
    await judge_due(judge(house.store, small))
    (dog, made), (_, better) = await sql("select id, derivation - 'answer' from memory order by id")
    assert made == make_derivation("judge", "1/small", [Input("message", first, MOVED)]).as_json()
    inputs = [Input("message", second, MOVED), Input("memory", dog, "Ada has a dog.")]
    assert better == make_derivation("judge", "1/small", inputs).as_json()
    assert await sql("select version from judging") == [("1/small",)]


async def test_a_short_outage_is_waited_out_by_who_has_patience(house: House, sql: Sql) -> None:
    small = Small(Lisbon="Ada lives in Lisbon.")
    small.raises = [ModelUnavailable()]
    await house.exchange(ADA, MOVED)
    assert await judge_due(judge(house.store, small)) == 0
    assert await judge_due(judge(house.store, small), patience=1) == 0, "it is over later than that"
    assert await judge_due(judge(house.store, small), patience=60) == 1
    assert [row[3] for row in await memories(sql)] == ["judge"]
    assert await judge_due(judge(house.store, small), patience=60) == 0, "nothing waits"


async def test_an_answer_that_is_replaced_takes_no_other_persons_fact_with_it(house: House, sql: Sql) -> None:
    from tests.integration.house import group, incoming_of, reply

    turn = await house.turn(ADA, MOVED, chat_id=GROUP)
    await house.store.begin(incoming_of(turn, MOVED, group()), "model-1")
    await house.store.finish(incoming_of(turn, MOVED, group()), {**reply(""), "blocks": []})
    await house.close(turn)
    tea = "I prefer tea to coffee in the mornings, always have and always will."
    first = await house.exchange(BEN, tea, chat_id=GROUP)
    await judge_due(judge(house.store, Small(Lisbon="Ada lives in Lisbon.", tea="Ben prefers tea.")))
    assert await sql("select count(distinct turn_id) from memory") == [(1,)], "both are told under the one answer"
    turn = await house.turn(BEN, "again", chat_id=GROUP)
    again = replace(incoming_of(turn, "", group(), retry=True, retry_turn=first.turn.turn_id), replaces=True)
    await house.store.begin(again, "model-1")
    await house.store.finish(again, reply("Oh!"))
    await house.close(turn)
    assert [row[0] for row in await memories(sql)] == ["Ada lives in Lisbon."]
