"""Tests nights: each phase runs once, goes on after a kill, and does nothing without news; nothing is lost silently."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from relay.clients.offline import OfflineModel
from relay.core.errors import ModelUnavailable
from relay.core.models import ModelRequest, Step
from relay.core.ports import Database
from relay.core.settings import Settings
from relay.memory.night.asking import BatchModel
from relay.memory.night.consolidate import Consolidation
from relay.memory.night.digest import Digests
from relay.memory.night.run import NightFailed, Phase, prepare, run_night
from relay.memory.rows.upkeep.digest import DigestPlace
from relay.memory.rows.upkeep.night import TidiedCounts
from relay.memory.spending.budget import UNLIMITED
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.runtime.clients import Clients
from relay.runtime.night import writings
from relay.runtime.runtime import Runtime
from relay.runtime.storage import Storage
from relay.surfaces.server.job_list import runner_of
from relay.surfaces.telegram.turns.notices import make_queued_parts
from tests.integration.conftest import Sql
from tests.integration.dump import holding
from tests.integration.test_erase_sql import erase
from tests.integration.turn_driver import ADA, BEN, BOT, GROUP, TurnDriver, dm, group, private
from tests.standins.fakes import FakeMessenger

Json = dict[str, Any]
FACTS = [
    "Ada has a parrot called Polly",
    "The piano lesson is on Tuesday",
    "Ada's brother Max builds boats in Kiel",
    "Ada is allergic to peanuts",
    "The garden shed needs a new roof",
    "Ada prefers trains over planes",
    "Grandma's recipe uses buttermilk",
    "The office code changed in March",
    "Ada runs on Sunday mornings",
    "Zoe borrowed the tent",
]
"""Facts that resemble none of the others."""


MERGED = "Since May Ada lives in Lisbon now"


class Small:
    """A small model. `verdict`: its verdict on two notes with three common words; `topic`: the topic of its digest."""

    def __init__(self, verdict: str = "same", content: str = MERGED, topic: str = "Garden") -> None:
        self.verdict, self.content, self.topic = verdict, content, topic
        self.requests: list[ModelRequest] = []
        self.trouble: Exception | None = None
        self.broken = 0
        self.alike = 3
        self.pairs: list[tuple[str, str]] = []

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        self.requests.append(request)
        await asyncio.sleep(0)
        if self.trouble:
            raise self.trouble
        said = request.messages[-1]["content"][0]["text"]
        pairs = re.findall(r"^(\d+)\.\n  older \(.*?\): (.*)\n  newer \(.*?\): (.*)$", said, re.MULTILINE)
        rows: list[Json] = [
            {
                "pair": int(number),
                "verdict": self.verdict if len({*older.split()} & {*newer.split()}) >= self.alike else "different",
                "content": self.content,
            }
            for number, older, newer in pairs
        ]
        self.pairs += [(older, newer) for _, older, newer in pairs]
        if "digest" in str(request.system[0]["text"]):
            rows = [{"topic": self.topic, "points": [" ".join(re.findall(r"q\w+", said)) or "nothing"]}]
        text = json.dumps(rows) if self.broken <= 0 else "I would say they are the same."
        self.broken -= 1
        return Step([{"type": "text", "text": f"Here it is:\n{text}"}], "end_turn", {"output_tokens": 5}, "small")


def phases(store: Store, model: Any, asks: Sequence[int] = (BEN,)) -> list[Phase]:
    mind = BatchModel(store, Gate(model, store), "small")
    return [
        Phase("consolidate", Consolidation(mind, BOT.id, lambda: asks).run),
        Phase("digest", Digests(mind, BOT.id, lambda: (ADA, BEN)).run),
        Phase("prepare", partial(prepare, store, {})),
    ]


async def night(store: Store, model: Any, **more: Any) -> Json:
    return await run_night(store, phases(store, model, **more))


async def notices(sql: Sql) -> list[tuple[int, Json]]:
    """Returns the queued notices: the chat and the request."""
    rows = await sql("select chat_id, request from outbox where not_before is not null order by id")
    return [(chat, notice) for chat, notice in rows]


async def taught(driver: TurnDriver, *facts: str) -> None:
    for fact in [*FACTS, *facts]:
        await driver.teach(ADA, fact)


async def known(sql: Sql, status: str = "active") -> list[str]:
    return [text for (text,) in await sql("select content from memory where status = %s order by id", status)]


async def test_equal_memories_are_merged_into_one_with_its_lineage(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await taught(driver, "Ada lives in Lisbon", "Ada lives in Lisbon since May")
    told = await night(store, Small(content="Ada has lived in Lisbon since May"))
    assert told["consolidate"]["merged"] == 1
    assert await known(sql) == [*FACTS, "Ada has lived in Lisbon since May"]
    rows = await sql(
        "select m.content, m.status, n.content, c.action, c.before ->> 'content', n.derivation ->> 'name',"
        " n.derivation -> 'inputs' ? ('memory:' || m.id), length(n.derivation ->> 'hash')"
        " from memory m join memory n on n.id = m.replaced_by join memory_change c on c.memory_id = n.id"
        " and c.action = 'merge' and (c.before ->> 'id')::bigint = m.id order by m.id"
    )
    one = "Ada has lived in Lisbon since May"
    assert rows == [
        (text, "superseded", one, "merge", text, "consolidate", True, 32)
        for text in ("Ada lives in Lisbon", "Ada lives in Lisbon since May")
    ]
    sources = await sql("select source_message_id from memory where content like 'Ada lives%%'")
    [(evidence,)] = await sql("select evidence from memory where content = %s", one)
    assert {source for (source,) in sources} <= set(evidence)


@pytest.mark.parametrize(("older", "newer", "merged"), [(9, None, 9), (9, 5, 5), (-9, None, None), (None, None, None)])
async def test_a_merged_memory_keeps_the_date_that_it_states(
    driver: TurnDriver, store: Store, sql: Sql, older: int | None, newer: int | None, merged: int | None
) -> None:
    """The date of a memory that was said again without one, once it had passed, is no longer the merged one's."""
    await taught(driver, "Ada lives in Lisbon", "Ada lives in Lisbon since May")
    for text, days in (("Ada lives in Lisbon", older), ("Ada lives in Lisbon since May", newer)):
        await sql("update memory set valid_until = now() + make_interval(days => %s) where content = %s", days, text)
    await night(store, Small())
    assert await sql(
        "select round(extract(epoch from valid_until - now()) / 86400)::integer from memory where content = %s", MERGED
    ) == [(merged,)]


async def test_a_memory_contradicted_by_a_newer_one_is_superseded(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await taught(driver, "Ada lives in Berlin with Max", "Ada lives in Lisbon with Max")
    told = await night(store, Small("contradicts"))
    assert told["consolidate"]["superseded"] == 1
    assert await known(sql, "superseded") == ["Ada lives in Berlin with Max"]
    assert await sql(
        "select n.content, m.valid_until is not null from memory m join memory n on n.id = m.replaced_by"
    ) == [("Ada lives in Lisbon with Max", True)]


async def test_a_memory_learned_late_but_said_long_ago_is_superseded(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await taught(driver, "Ada lives in Lisbon with Max", "Ada lives in Berlin with Max")
    await sql(
        "update message set created_at = '2020-05-01' where id = (select source_message_id from memory"
        " where content = 'Ada lives in Berlin with Max')"
    )
    model = Small("contradicts")
    assert (await night(store, model))["consolidate"]["superseded"] == 1
    assert ("Ada lives in Berlin with Max", "Ada lives in Lisbon with Max") in model.pairs
    assert "older (2020-05-01): Ada lives in Berlin" in str(model.requests)
    assert await known(sql, "superseded") == ["Ada lives in Berlin with Max"]


async def test_facts_of_two_people_are_never_merged(driver: TurnDriver, store: Store, sql: Sql) -> None:
    for user_id in (ADA, BEN):
        await driver.teach(user_id, "likes green tea in the morning", chat_id=GROUP)
    model = Small()
    await night(store, model)
    assert model.requests == []
    assert len(await known(sql)) == 2


async def test_expired_goals_are_archived_and_pinned_ones_stay(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await taught(driver, "Run a marathon", "Read Proust", "Sail to Crete")
    await sql(
        "update memory set kind = 'goal', valid_until = now() + case content when 'Sail to Crete' then interval '1 day'"
        " else interval '-1 day' end, pinned = content = 'Read Proust' where content in"
        " ('Run a marathon', 'Read Proust', 'Sail to Crete')"
    )
    told = await night(store, Small())
    assert told["consolidate"]["archived"] == 1
    assert await known(sql, "archived") == ["Run a marathon"]


async def test_a_person_is_asked_before_much_is_changed(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.teach(ADA, "Ada lives in Berlin with Max")
    await driver.teach(ADA, "Ada lives in Lisbon with Max")
    model = Small("contradicts")
    told = await night(store, model)
    assert told["consolidate"]["asked"] == 1
    assert len(await known(sql)) == 2
    ((chat, notice),) = await notices(sql)
    assert chat == ADA
    assert "1 of 2 memories (50%)" in notice["text"]
    ((number,),) = await sql("select id from consolidation")
    await sql("update outbox set not_before = now() where not_before is not null")
    (asked,) = (turn for turn in await driver.claim() if turn.message)
    (part,) = await make_queued_parts(store, FakeMessenger(), BOT.id, asked, asked.message)
    ((go, leave),) = part.request["reply_markup"]["inline_keyboard"]
    assert (go["callback_data"], leave["callback_data"]) == (f"nt:{number}:y", f"nt:{number}:n")
    await driver.teach(ADA, "Ada lives in Porto with Max")
    await night(store, model)
    assert len(await notices(sql)) == 1, "the question must be asked once until it is answered"
    assert await store.settle_consolidation(number, True) == TidiedCounts(superseded=1)
    assert await store.settle_consolidation(number, True) is None
    assert await known(sql) == ["Ada lives in Lisbon with Max", "Ada lives in Porto with Max"]


async def test_a_person_who_wants_quiet_is_not_asked_at_night(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.teach(ADA, "Ada lives in Berlin with Max")
    await driver.teach(ADA, "Ada lives in Lisbon with Max")
    await store.quiet(private(ADA), datetime.now(UTC) + timedelta(days=3))
    assert (await night(store, Small("contradicts")))["consolidate"]["asked"] == 1
    held = "select count(*)::integer from outbox where status = 'queued' and not_before > now() + interval '2 days'"
    assert await sql(held) == [(1,)]
    await store.quiet(private(ADA), None)
    assert await sql(held) == [(0,)]


async def test_changing_exactly_a_quarter_asks_nobody(driver: TurnDriver, store: Store, sql: Sql) -> None:
    for fact in (*FACTS[:2], "Ada lives in Berlin with Max", "Ada lives in Lisbon with Max"):
        await driver.teach(ADA, fact)
    told = await night(store, Small("contradicts"))
    assert (told["consolidate"]["superseded"], told["consolidate"]["asked"]) == (1, 0)


async def test_a_question_about_a_groups_memory_goes_to_the_admins(driver: TurnDriver, store: Store, sql: Sql) -> None:
    for fact in ("Ada lives in Berlin with Max", "Ada lives in Lisbon with Max"):
        await driver.teach(ADA, fact, chat_id=GROUP)
    await night(store, Small("contradicts"), asks=(BEN, ADA))
    assert [chat for chat, _ in await notices(sql)] == [BEN, ADA]


async def test_a_memory_changed_since_the_question_is_left_unchanged(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    for fact in ("Ada lives in Berlin with Max", "Ada lives in Lisbon with Max"):
        await driver.teach(ADA, fact)
    await night(store, Small("contradicts"))
    await sql("update memory set content = 'Ada lives in Bonn with Max' where content like '%%Berlin%%'")
    ((number,),) = await sql("select id from consolidation")
    assert await store.settle_consolidation(number, True) == TidiedCounts()
    assert len(await known(sql)) == 2


async def test_an_idle_space_is_not_processed(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await taught(driver, "Ada lives in Lisbon", "Ada lives in Lisbon since May")
    await store.want_digest(private(ADA), DigestPlace(ADA, ADA, 0))
    model = Small("different")
    first = await night(store, model)
    asked = len(model.requests)
    second = await night(store, model)
    assert (first["consolidate"]["spaces"], second["consolidate"]["spaces"]) == (1, 0)
    assert (first["digest"]["sent"], second["digest"]["sent"]) == (1, 0)
    assert len(model.requests) == asked
    await driver.exchange(ADA, "and now q00001az")
    assert (await night(store, model))["digest"]["sent"] == 1


async def test_quiet_holds_digests_back_and_releases_the_latest(driver: TurnDriver, store: Store, sql: Sql) -> None:
    due = "select request ->> 'text' from outbox where dedupe_key like 'digest %%' and not_before <= now()"
    await store.want_digest(private(ADA), DigestPlace(ADA, ADA, 0))
    await store.quiet(private(ADA), "9999-01-01T00:00:00+00:00")
    for word in ("q00001az", "q00002az"):
        await driver.exchange(ADA, f"We chose {word}")
        assert (await night(store, Small()))["digest"]["sent"] == 1
    assert await sql(due) == []
    await store.quiet(private(ADA), None)
    [(text,)] = await sql(due)
    assert "q00002az" in text


async def test_quiet_delays_an_already_queued_digest(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await store.want_digest(private(ADA), DigestPlace(ADA, ADA, 0))
    await driver.exchange(ADA, "We chose q00001az")
    await night(store, Small())
    until = datetime.now(UTC) + timedelta(hours=8)
    await store.quiet(private(ADA), until.isoformat())
    assert await sql("select not_before from outbox where dedupe_key like 'digest %%'") == [(until,)]


@pytest.mark.parametrize("phase", ["consolidate", "digest", "prepare"])
async def test_an_interrupted_night_continues_without_repeating_anything(
    driver: TurnDriver, store: Store, sql: Sql, phase: str
) -> None:
    await taught(driver, "Ada lives in Lisbon", "Ada lives in Lisbon since May")
    await store.want_digest(private(ADA), DigestPlace(ADA, ADA, 0))
    model = Small()

    async def killed(done: int) -> Json:
        (made,) = [one for one in phases(store, model) if one.name == phase]
        await made.run(done)
        raise asyncio.CancelledError

    broken = [Phase(one.name, killed) if one.name == phase else one for one in phases(store, model)]
    with pytest.raises(asyncio.CancelledError):
        await run_night(store, broken)
    assert await sql("select count(*) from night where ended_at is null") == [(1,)]
    asked = len(model.requests)
    told = await night(store, model)
    assert set(told) == {"consolidate", "digest", "prepare"}
    assert await sql("select count(*) from night where ended_at is null") == [(0,)]
    assert len([notice for _, notice in await notices(sql) if "What the day brought" in notice["text"]]) == 1
    assert (
        len({str(request) for request in model.requests[:asked]} & {str(request) for request in model.requests[asked:]})
        == 0
    ), "no request may be repeated"
    assert await sql("select count(*) from night") == [(1,)]
    assert await sql("select count(*) from memory where status = 'superseded'") == [(2,)]


async def test_a_failed_phase_is_reported_and_the_others_run(driver: TurnDriver, store: Store) -> None:
    async def broken(_: int) -> Json:
        raise ModelUnavailable("The model is away.")

    with pytest.raises(NightFailed, match="backup: The model is away"):
        await run_night(store, [Phase("backup", broken), *phases(store, Small())])
    night = (await store.status(private(ADA))).night
    assert night is not None
    assert night.ended_at
    assert night.phases["backup"] == {"failed": "The model is away."}
    assert "tables analysed" in night.phases["prepare"]


async def test_an_unexpected_error_in_a_phase_does_not_stop_the_night(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    async def broken(_: int) -> Json:
        raise OSError("/home/ada/backups: no such device")

    with pytest.raises(NightFailed, match=r"^backup: OSError$"):
        await run_night(store, [Phase("backup", broken), *phases(store, Small())])
    assert await sql("select count(*) from night where ended_at is null") == [(0,)]
    night = (await store.status(private(ADA))).night
    assert night is not None
    assert "tables analysed" in night.phases["prepare"]


async def test_the_next_night_does_what_an_unavailable_model_could_not(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await taught(driver, "Ada lives in Lisbon", "Ada lives in Lisbon since May")
    model = Small()
    model.trouble = ModelUnavailable("away")
    assert (await night(store, model))["consolidate"]["left"] == 1
    model.trouble = None
    assert (await night(store, model))["consolidate"]["merged"] == 1


async def test_an_unclear_model_result_is_requested_once_more(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await taught(driver, "Ada lives in Lisbon", "Ada lives in Lisbon since May")
    model = Small()
    model.broken = 1
    assert (await night(store, model))["consolidate"]["merged"] == 1
    assert model.requests[0] == model.requests[1], "the same request must be sent once more"
    await driver.teach(ADA, "Ada lives in Lisbon near the river")
    model.broken = 2
    assert (await night(store, model))["consolidate"]["left"] == 1


async def test_a_digest_contains_only_its_own_space_and_nothing_off_the_record(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    for user_id, word in ((ADA, "q1"), (BEN, "q2")):
        await driver.exchange(user_id, f"my word is {word}", "Fine.")
    await driver.exchange(ADA, "ours is q3", "Fine.", chat_id=GROUP)
    await driver.exchange(ADA, "in the other thread q4", "Fine.", topic_id=7)
    await sql("update session set private = true where thread_id = (select id from thread where topic_id = 7)")
    for space, chat in ((private(ADA), ADA), (group(), GROUP)):
        await store.want_digest(space, DigestPlace(ADA, chat, 0))
    model = Small()
    assert (await night(store, model))["digest"]["sent"] == 2
    said = {chat: notice["text"] for chat, notice in await notices(sql)}
    assert set(said) == {ADA, GROUP}
    assert re.findall(r"q\d", said[ADA]) == ["q1"]
    assert re.findall(r"q\d", said[GROUP]) == ["q3"]
    assert not any("q2" in str(request.messages) or "q4" in str(request.messages) for request in model.requests)


async def faded(store: Store, sql: Sql, pattern: str, polarity: int, days: int, turn_id: int | None = None) -> None:
    """Stores a preference that was expressed this many days ago."""
    act: Json = {"kind": "said" if turn_id is None else "tag", "source": "command", "value": {}}
    act["about"] = {"turn_id": turn_id} if turn_id else None
    one = {"type": "other", "pattern": pattern, "polarity": polarity, "weight": 1.6, "reinforcing": 2}
    done = await store.feedback(dm(ADA), ADA, act | {"observations": [one]})
    await sql("update observation set at = now() - make_interval(days => %s) where feedback_id = %s", days, done.id)
    await sql("select relay.refold(space_id, user_id, null, type, pattern) from observation")


async def test_a_digest_reports_archived_preferences_once(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "Hello q1", "Hi q2")
    for pattern, polarity, days in [("puns", 1, 185), ("emoji", -1, 181), ("charts", 1, 100), ("tables", 1, 300)]:
        await faded(store, sql, pattern, polarity, days)
    await night(store, Small())
    assert await notices(sql) == [], "without a digest nothing may be sent"
    assert await sql("select pattern from preference where status = 'archived' order by pattern") == [
        ("emoji",), ("puns",), ("tables",),
    ]  # fmt: skip
    await store.want_digest(private(ADA), DigestPlace(ADA, ADA, 0))
    for text in ("More q3", "And more q4"):
        await driver.exchange(ADA, text, "Fine q5")
        await night(store, Small())
    [(_, first), (_, second)] = await notices(sql)
    assert first["text"].endswith("🎚 Retired, not seen for 180 days: avoid emoji, prefer puns. /preferences")
    assert "🎚" not in second["text"], "each preference must be reported once"
    rows = (await store.preferences(dm(ADA), ADA)).rows
    assert {row.pattern: row.faded for row in rows} == {"puns": True, "emoji": True, "charts": False, "tables": True}


async def test_a_digest_repeats_nothing_that_was_learned_the_day_before(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await store.want_digest(private(ADA), DigestPlace(ADA, ADA, 0))
    model = Small()
    for fact in ("Ada plays the oboe", "Zoe borrowed the tent"):
        await driver.teach(ADA, fact)
        await night(store, model)
    first, second = (
        one.messages[-1]["content"][0]["text"] for one in model.requests if "digest" in one.system[0]["text"]
    )
    assert "oboe" in first
    assert "oboe" not in second
    assert "- Zoe borrowed the tent" in second
    ((at,),) = await sql("select max(created_at) from message where started_by is null")
    assert f"## Conversation ({at.astimezone(UTC):%A, %Y-%m-%d})\n" in second


async def test_an_archived_preference_is_reported_on_a_day_without_topics(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await store.want_digest(private(ADA), DigestPlace(ADA, ADA, 0))
    await driver.exchange(ADA, "Hello q1", "Hi q2")
    await faded(store, sql, "puns", 1, 185)
    await sql("update message set created_at = created_at - interval '2 days'")
    for _ in range(2):
        await night(store, Small())
        await driver.exchange(ADA, "Good night")
        await sql("update message set created_at = created_at - interval '2 days'")
    assert [one["text"] for _, one in await notices(sql)] == [
        "🎚 Retired, not seen for 180 days: prefer puns. /preferences"
    ]


async def test_a_digest_naming_a_preference_is_erased_with_its_source_answer(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    taught = await driver.exchange(ADA, "A zebra", "Its answer")
    await faded(store, sql, "stripes", 1, 185, taught.turn.turn_id)
    await store.want_digest(private(ADA), DigestPlace(ADA, ADA, 0))
    await night(store, Small())
    assert "prefer stripes" in str(await notices(sql))
    await erase(store, private(ADA), {"words": "zebra"})
    assert await holding(sql, "stripes") == {}


async def test_a_groups_digest_names_no_persons_preferences(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "Hello q1", chat_id=GROUP)
    await faded(store, sql, "puns", 1, 185)
    await sql("update preference set space_id = (select id from space where kind = 'group')")
    await store.want_digest(group(), DigestPlace(ADA, GROUP, 0))
    await night(store, Small())
    [(_, notice)] = await notices(sql)
    assert "puns" not in notice["text"]


async def test_text_in_a_digest_never_becomes_a_link_or_markup(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "hello", "Fine.")
    await store.want_digest(private(ADA), DigestPlace(ADA, ADA, 0))
    await night(store, Small(topic="[win](https://evil.example) <b>"))
    ((_, notice),) = await notices(sql)
    assert "](" not in notice["text"]
    assert "&#91;win&#93;" in notice["text"]


async def test_a_space_with_memory_off_is_not_processed(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await taught(driver, "Ada lives in Lisbon", "Ada lives in Lisbon since May")
    await sql("update space set memory = 'off'")
    model = Small()
    told = await night(store, model)
    assert (told["consolidate"]["spaces"], model.requests) == (0, [])


async def state(sql: Sql) -> list[Any]:
    """Returns all memories, without their times of change and their uses."""
    return await sql(
        "select id, content, status, replaced_by, valid_until, pinned, tainted, importance, confidence from memory"
        " where status <> 'discarded' order by id"
    )


@pytest.mark.parametrize("which", [0, 1])
async def test_a_nightly_merge_is_undone_by_either_of_its_changes(
    driver: TurnDriver, store: Store, sql: Sql, which: int
) -> None:
    await taught(driver, "Ada lives in Lisbon", "Ada lives in Lisbon since May")
    await sql("update memory set valid_until = now() + interval '1 year' where content = 'Ada lives in Lisbon'")
    before = await state(sql)
    await night(store, Small())
    changes = await sql("select id from memory_change where action = 'merge' order by id")
    assert len(changes) == 2
    await store.decide_change(changes[which][0], ADA, False, "undo")
    assert await state(sql) == before
    assert await sql("select distinct status from memory_change where action = 'merge'") == [("undone",)]


async def test_a_nightly_contradiction_can_be_undone(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await taught(driver, "Ada lives in Berlin with Max", "Ada lives in Lisbon with Max")
    await sql("update memory set valid_until = now() + interval '1 year' where content like '%%Berlin%%'")
    before = await state(sql)
    await night(store, Small("contradicts"))
    assert await state(sql) != before
    ((change,),) = await sql("select id from memory_change where action = 'supersede'")
    await store.decide_change(change, ADA, False, "undo")
    assert await state(sql) == before


async def test_a_memory_superseded_at_night_is_restored_with_its_date(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await taught(driver, "Ada lives in Berlin with Max", "Ada lives in Lisbon with Max")
    await sql("update memory set valid_until = '2040-01-01' where content like '%%Berlin%%'")
    before = await state(sql)
    await night(store, Small("contradicts"))
    ((old,),) = await sql("select id from memory where status = 'superseded'")
    await driver.exchange(ADA, "Bring it back", actions=[{"action": "restore", "memory_id": old}])
    assert await state(sql) == before


async def test_others_words_change_no_memory_of_the_person_at_night(driver: TurnDriver, store: Store, sql: Sql) -> None:
    facts = ("Ada lives in Berlin with Max", "Ada lives in Lisbon with Max")
    await taught(driver, *facts)
    await sql("update memory set tainted = true where content = %s", facts[1])
    for verdict in ("same", "contradicts"):
        await sql("delete from night where id not in (select night_id from sleep_due)")
        model = Small(verdict)
        told = await night(store, model)
        assert (told["consolidate"]["merged"], told["consolidate"]["superseded"]) == (0, 0)
        assert not [pair for pair in model.pairs if pair == facts]
    plan = [
        {"action": action, "older": {"id": old, "content": facts[0]}, "newer": {"id": new, "content": facts[1]},
         "content": "Ada lives in Lisbon", "derivation": {}}
        for action in ("merge", "supersede")
        for ((old, new),) in [await sql("select min(id), max(id) from memory where content = any (%s)", list(facts))]
    ]  # fmt: skip
    before = await state(sql)
    for own, pinned in ((False, False), (True, True)):
        await sql("update memory set tainted = %s, pinned = %s where content = %s", own, pinned, facts[0])
        assert await sql("select relay.carry_out(space_id, %s::jsonb) from memory limit 1", json.dumps(plan)) == [
            ({"merged": 0, "superseded": 0, "archived": 0, "patterns": 0},)
        ]
    assert [row[:3] for row in await state(sql)] == [row[:3] for row in before]


async def test_facts_without_a_common_word_are_compared_by_meaning(driver: TurnDriver, store: Store, sql: Sql) -> None:
    facts = ("lives in Berlin", "moved to Lisbon")
    await driver.teach(ADA, facts[0], *FACTS, facts[1])
    for content, vector in ((facts[0], "[1,0.1,0]"), (facts[1], "[1,0,0]"), *((one, "[0,0,1]") for one in FACTS)):
        await sql(
            "insert into embedding (entry_id, space_id, model, vector) select e.id, e.space_id, 'm', %s::vector"
            " from entry e join memory m on m.id = e.source_id and e.kind = 'memory' where m.content = %s",
            vector, content,
        )  # fmt: skip
    model = Small("contradicts")
    await night(store, model)
    assert facts in model.pairs


async def test_without_vectors_the_latest_facts_of_a_kind_are_compared(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.teach(ADA, *FACTS[:5], "lives in Berlin")
    await driver.teach(BEN, "lives in Bonn")
    await driver.teach(ADA, "moved to Lisbon")
    model = Small("contradicts")
    model.alike = 0
    await night(store, Small("different"))
    await night(store, model)
    assert ("lives in Berlin", "moved to Lisbon") not in model.pairs, "a pair must be compared only once"
    await driver.teach(ADA, "is in Porto now")
    await night(store, model)
    assert ("moved to Lisbon", "is in Porto now") in model.pairs
    assert not [pair for pair in model.pairs if "lives in Bonn" in pair]


async def test_an_expired_pinned_goal_causes_no_work(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.teach(ADA, "Run a marathon")
    await sql("update memory set kind = 'goal', valid_until = now() - interval '1 day', pinned = true")
    await night(store, Small())
    ahead = await store.night_ahead()
    assert (ahead.spaces, ahead.goals) == (0, 0)
    assert (await night(store, Small()))["consolidate"]["spaces"] == 0


@pytest.mark.parametrize("answered", [True, False])
async def test_a_rejected_or_ignored_proposal_is_not_made_again(
    driver: TurnDriver, store: Store, sql: Sql, answered: bool
) -> None:
    await driver.teach(ADA, "Run a marathon", "Read Proust")
    await sql("update memory set kind = 'goal', valid_until = now() - interval '1 day'")
    await night(store, Small("different"))
    ((number,),) = await sql("select id from consolidation")
    if answered:
        await store.settle_consolidation(number, False)
    else:
        await night(store, Small("different"))
        assert await store.consolidation(number), "the question may still be answered"
        await sql("update consolidation set asked_at = now() - interval '8 days'")
        await night(store, Small("different"))
        assert await store.consolidation(number) is None
    told = await night(store, Small("different"))
    assert (told["consolidate"]["spaces"], len(await notices(sql))) == (0, 1)
    await sql("update memory set valid_until = now() - interval '1 hour' where content = 'Read Proust'")
    assert (await night(store, Small("different")))["consolidate"]["asked"] == 1, (
        "a new date must lead to a new question"
    )


@pytest.mark.parametrize(
    ("switch", "back"),
    [
        ("update space set memory = 'off'", "update space set memory = 'on'"),
        ("update space set paused_until = now() + interval '1 hour'", "update space set paused_until = null"),
        ("update thread set teaches = false", "update thread set teaches = true"),
    ],
)
async def test_a_digest_omits_messages_said_while_memory_was_off(
    driver: TurnDriver, store: Store, sql: Sql, switch: str, back: str
) -> None:
    await driver.exchange(ADA, "my word is q1", "Fine.")
    await sql(switch)
    await driver.exchange(ADA, "off the record: q2", "Fine.")
    await sql(back)
    said = [row.text for row in (await store.digest_now(private(ADA))).messages]
    assert "my word is q1" in said
    assert not [text for text in said if "q2" in text]


async def test_a_night_prepares_titles_and_index_entries(
    driver: TurnDriver, store: Store, sql: Sql, database: Database
) -> None:
    for number in range(2):
        await driver.exchange(ADA, f"question {number}", "An answer.")
    await sql("delete from entry")
    await sql("delete from index_progress")
    settings = Settings(DATABASE_URL="", SUPABASE_URL="")
    relay = Runtime(Clients(settings), Storage(database, None, "a test"), str(uuid.uuid4()), UNLIMITED, OfflineModel())
    owed = writings(runner_of(relay, FakeMessenger(), BOT.id))
    told = await prepare(store, owed, 1)
    assert (told["titles"], told["index"]) == (1, 4)
    assert await sql("select count(*) from entry") == [(4,)]
    assert "titles" not in writings(runner_of(relay, None, BOT.id)), (
        "titles need a messenger, because topics are named after them"
    )


class Ruler(Small):
    """A small model that finds a rule in similar notes."""

    rule = "Ada wants short answers"

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        step = await super().reply(request, on_text)
        step.blocks[0]["text"] = step.blocks[0]["text"].replace('"verdict":', f'"pattern": "{self.rule}", "verdict":')
        return step


WISHES = ("Ada wants answers short", "Ada wants short answers at work", "Ada wants answers short and plain")
PATTERNS = """select content, kind, category, tags, confidence, cardinality(evidence), status from memory
    where 'pattern' = any (tags)"""


async def wished(driver: TurnDriver, sessions: int) -> None:
    """Ada says the same three times, in this many sessions."""
    await taught(driver)
    for number, wish in enumerate(WISHES):
        await driver.teach(ADA, wish)
        if number + 1 < sessions:
            await driver.store.new_session(dm(ADA), "")


async def test_a_wish_from_three_sessions_becomes_a_pattern(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await wished(driver, 3)
    model = Ruler(content="Ada wants answers short and plain")
    told = await night(store, model)
    assert told["consolidate"]["patterns"] == 1
    assert await sql(PATTERNS) == [
        ("Ada wants short answers", "learning", "operational", ["pattern"], pytest.approx(0.8), 3, "active")
    ]
    [(inputs, version)] = await sql(
        "select derivation -> 'inputs', derivation ->> 'version' from memory where 'pattern' = any (tags)"
    )
    assert len(inputs) == 3
    assert version.startswith("2/")
    await driver.store.new_session(dm(ADA), "")
    await driver.teach(ADA, "Ada wants answers short, plain and friendly")
    assert (await night(store, model))["consolidate"]["patterns"] == 0
    [(_, _, _, _, confidence, evidence, _)] = await sql(PATTERNS)
    assert (confidence, evidence) == (pytest.approx(0.9), 4), "repeating it must halve the doubt"


async def test_a_forgotten_pattern_is_not_found_again(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await wished(driver, 3)
    model = Ruler(content="Ada wants answers short and plain")
    await night(store, model)
    await sql("update memory set status = 'forgotten' where 'pattern' = any (tags)")
    await driver.store.new_session(dm(ADA), "")
    await driver.teach(ADA, "Ada wants answers short, plain and friendly")
    assert (await night(store, model))["consolidate"]["patterns"] == 0
    assert [row[-1] for row in await sql(PATTERNS)] == ["forgotten"]


@pytest.mark.parametrize(
    ("sessions", "rule", "tainted"),
    [(2, "Ada wants short answers", False), (3, "Ada wants answers of 50 words", False),
     (3, "Ada and Tom want it", False),
     (3, "", False), (3, "x" * 999, False), (3, "Ada wants short answers", True)],
    ids=["two sessions", "a number of its own", "a name of its own", "none", "too long", "others' words"],
)  # fmt: skip
async def test_an_unsupported_or_invalid_pattern_is_not_stored(
    driver: TurnDriver, store: Store, sql: Sql, sessions: int, rule: str, tainted: bool
) -> None:
    await wished(driver, sessions)
    await sql("update memory set tainted = true where content = %s and %s", WISHES[0], tainted)
    model = Ruler()
    model.rule = rule
    assert (await night(store, model))["consolidate"]["patterns"] == 0
    assert await sql(PATTERNS) == []
