"""Tests browsing memory: lists, searches, opened memories, their sources, pins, and the changes of a space."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from relay.core.errors import DataRefused
from relay.core.models import Space
from relay.memory.rows.changes import Changed, ChangePlace, Failure
from relay.memory.rows.delivery import Part, PartResult
from relay.memory.rows.memories import ForeignWords, LastChange, MemoryFilter, Posted, Subject
from relay.memory.store import Store
from tests.integration.api import open_api
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, EVE, GROUP, TurnDriver, fact, forget, group, private

Json = dict[str, Any]


def learning(content: str, category: str = "knowledge", *tags: str) -> Json:
    return {"action": "learn", "kind": "learning", "content": content, "category": category, "tags": list(tags)}


async def change(driver: TurnDriver, user_id: int, action: Json, space: Space | None = None) -> Changed:
    """Changes memory by a person's own command, in their own space or another."""
    turn = await driver.turn(user_id, "x", space.chat_id if space else None)
    done = await driver.store.change_memory(turn, space or private(user_id), [action])
    await driver.close(turn)
    return done


async def contents(store: Store, space: Space, **chosen: Any) -> list[str]:
    return [row.content for row in (await store.memories(space, 0, 50, MemoryFilter(**chosen))).memories]


# Spaces


async def test_a_space_is_found_by_its_id(driver: TurnDriver, store: Store) -> None:
    own = await driver.exchange(ADA, "hi")
    shared = await driver.exchange(ADA, "hi", chat_id=GROUP)
    assert await store.space(own.context.space_id) == private(ADA)
    assert await store.space(shared.context.space_id) == group()
    assert await store.space(10**15) is None


# The list


async def test_a_list_shows_counts_and_can_be_filtered(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "likes tea", "lives in Berlin")
    actions = [learning("uses tabs", "operational", "style"), learning("is kind", "identity")]
    await driver.exchange(ADA, "x", actions=actions)
    tea = (await store.memories(private(ADA), 3, 1)).memories[0]
    await change(driver, ADA, {"action": "pin", "memory_id": tea.id})
    page = await store.memories(private(ADA), 0, 8)
    counts = {
        key: getattr(page, key) for key in ("total", "facts", "learnings", "pinned", "matching", "pending", "people")
    }
    assert counts == {
        "total": 4, "facts": 2, "learnings": 2, "pinned": 1, "matching": 4, "pending": 0, "people": ()
    }  # fmt: skip
    assert page.categories == {"operational": 1, "identity": 1}
    assert [row.content for row in page.memories] == ["is kind", "uses tabs", "lives in Berlin", "likes tea"]
    assert await contents(store, private(ADA), kind="fact") == ["lives in Berlin", "likes tea"]
    assert await contents(store, private(ADA), kind="learning", category="identity") == ["is kind"]
    assert await contents(store, private(ADA), pinned=True) == ["likes tea"]
    assert await contents(store, private(ADA), kind="learning", pinned=True) == []


async def test_a_list_marks_tainted_memories(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "likes tea")
    (tainted,) = await driver.teach(ADA, "likes spam", tainted=True)
    await store.decide_change(tainted.id, ADA, False, "keep")
    page = await store.memories(private(ADA), 0, 8)
    assert [(row.content, row.tainted) for row in page.memories] == [("likes spam", True), ("likes tea", False)]


async def test_an_unknown_space_has_an_empty_list(store: Store) -> None:
    page = await store.memories(private(ADA), 0, 8)
    assert (page.space_id, page.total, page.memories, page.offset) == (None, 0, (), 0)
    history = await store.history(private(ADA), False, 0, 8, ADA, False)
    assert (history.total, history.changes) == (0, ())


async def test_a_groups_list_can_be_filtered_by_person(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "x", chat_id=GROUP, actions=[fact(ADA, "brings salad"), learning("meets on Mondays")])
    await driver.exchange(BEN, "x", chat_id=GROUP, actions=[fact(BEN, "brings wine"), fact(BEN, "comes late")])
    page = await store.memories(group(), 0, 8)
    assert page.people == (Subject(BEN, "Ben", 2), Subject(ADA, "Ada", 1))
    assert await contents(store, group(), subject_id=ADA) == ["brings salad"]
    assert await contents(store, group(), subject_id=EVE) == []


@pytest.mark.parametrize(("words", "found"), [
    ("tea", ["green tea, no milk", "strong tea with milk"]),
    ("MILK tea", ["green tea, no milk", "strong tea with milk"]),
    ("tea strong", ["strong tea with milk"]),
    ("trong te", ["strong tea with milk"]),
    ("ЧАЙ", ["любит крепкий чай"]),
    ("style", ["uses tabs"]),
    ("Ada tabs", []),
    ("strong tea with mlik", ["strong tea with milk"]),
    ("100%", ["is 100% sure"]),
    ("_", []), ("\\", []), ("' or 1=1", []), ("submarine", []),
])  # fmt: skip
async def test_memories_are_found_by_words(driver: TurnDriver, store: Store, words: str, found: list[str]) -> None:
    await driver.teach(ADA, "strong tea with milk", "green tea, no milk", "любит крепкий чай", "is 100% sure")
    await driver.exchange(ADA, "x", actions=[learning("uses tabs", "operational", "style")])
    await driver.teach(BEN, "tea milk strong style")
    assert await contents(store, private(ADA), words=words) == found


# One memory


async def test_an_opened_memory_shows_its_space_and_its_last_undoable_change(driver: TurnDriver, store: Store) -> None:
    (taught,) = await driver.teach(ADA, "likes tea")
    number = taught.memory_id
    row = await store.open_memory(number, ADA, False)
    assert row is not None
    assert row.space == private(ADA)
    assert (row.status, row.by, row.last) == ("active", "tag", LastChange(taught.id, "learn"))
    edited = await change(driver, ADA, {"action": "edit", "memory_id": number, "content": "likes coffee"})
    row = await store.open_memory(number, ADA, False)
    assert row is not None
    assert row.last == LastChange(edited.changes[0].id, "refresh")
    assert row.updated_at > row.created_at
    for person, admin in ((BEN, False), (BEN, True)):
        other = await store.open_memory(number, person, admin)
        assert other is not None
        assert other.last is None
    await change(driver, ADA, forget(f"#{number}"))
    row = await store.open_memory(number, ADA, False)
    assert row is not None
    assert (row.status, row.last.action) == ("forgotten", "forget")
    assert await store.open_memory(10**15, ADA, True) is None


async def test_an_opened_memory_whose_only_change_was_undone_has_nothing_to_undo(
    driver: TurnDriver, store: Store
) -> None:
    (taught,) = await driver.teach(ADA, "likes tea")
    await store.decide_change(taught.id, ADA, False, "undo")
    row = await store.open_memory(taught.memory_id, ADA, False)
    assert row is not None
    assert (row.status, row.last) == ("discarded", None)


# Pins


async def test_a_pin_is_a_change_that_can_be_undone(driver: TurnDriver, store: Store) -> None:
    (taught,) = await driver.teach(ADA, "likes tea")
    pin = {"action": "pin", "memory_id": taught.memory_id}
    (pinned,) = (await change(driver, ADA, pin)).changes
    assert (pinned.action, pinned.status, pinned.content) == ("pin", "applied", "likes tea")
    assert (await driver.exchange(ADA, "hi")).context.memories[0].pinned
    assert await change(driver, ADA, pin) == Changed()
    (unpinned,) = (await change(driver, ADA, pin | {"action": "unpin"})).changes
    assert await contents(store, private(ADA), pinned=True) == []
    stays = await store.decide_change(pinned.id, ADA, False, "undo")
    assert stays is not None
    assert stays[0].status == "applied", "the later unpinning must be undone first"
    await store.decide_change(unpinned.id, ADA, False, "undo")
    assert await contents(store, private(ADA), pinned=True) == ["likes tea"]
    await store.decide_change(pinned.id, ADA, False, "undo")
    assert await contents(store, private(ADA), pinned=True) == []
    assert await driver.known(private(ADA)) == ["likes tea"]


async def test_a_pin_does_not_prevent_undoing_another_change(driver: TurnDriver, store: Store) -> None:
    (taught,) = await driver.teach(ADA, "likes tea")
    await change(driver, ADA, {"action": "pin", "memory_id": taught.memory_id})
    after = await store.decide_change(taught.id, ADA, False, "undo")
    assert after is not None
    assert after[0].status == "undone"
    assert await driver.known(private(ADA)) == []


async def test_the_same_press_twice_pins_once(driver: TurnDriver, store: Store, sql: Sql) -> None:
    (taught,) = await driver.teach(ADA, "likes tea")
    turn = await driver.turn(ADA, "x")
    pin = {"action": "pin", "memory_id": taught.memory_id}
    first = await store.change_memory(turn, private(ADA), [pin])
    assert await store.change_memory(turn, private(ADA), [pin]) == first
    assert await sql("select count(*) from memory_change where action = 'pin'") == [(1,)]


async def test_only_admins_may_pin_memories_about_other_people(driver: TurnDriver, store: Store) -> None:
    (own,) = await driver.teach(BEN, "private to Ben")
    await driver.exchange(BEN, "x", chat_id=GROUP, actions=[fact(BEN, "brings wine"), learning("on Mondays")])
    monday, wine = [row.id for row in (await store.memories(group(), 0, 8)).memories]

    async def pins(user_id: int, number: int, space: Space, admin: bool = False) -> bool:
        done = await change(driver, user_id, {"action": "pin", "memory_id": number, "admin": admin}, space)
        return not done.failed

    assert not await pins(ADA, own.memory_id, private(ADA), admin=True)
    assert not await pins(ADA, own.memory_id, group(), admin=True)
    assert not await pins(ADA, wine, group())
    assert await contents(store, group(), pinned=True) == []
    assert await pins(ADA, monday, group()), "a memory about nobody belongs to everyone"
    assert await pins(EVE, wine, group(), admin=True)
    assert not await pins(ADA, 10**15, group(), admin=True)


# Sources


async def test_a_fact_shows_the_message_and_answer_it_came_from(driver: TurnDriver, store: Store, sql: Sql) -> None:
    done = await driver.exchange(ADA, "I like tea", "Noted.", topic_id=4, actions=[fact(ADA, "likes tea")])
    await sql("insert into topic values (%s, %s, 4, 'Trips')", BOT.id, ADA)
    source = await store.source(done.told.changes[0].memory_id)
    assert source is not None
    said, answer = source.said, source.answer
    assert (said.name, said.user_id, said.text, said.foreign) == ("Ada", ADA, "I like tea", ())
    assert (answer.role, answer.text) == ("assistant", "Noted.")
    assert (source.chat_id, source.topic_id, source.topic) == (ADA, 4, "Trips")
    sent = done.turn.updates[0]["message"]["message_id"]
    assert source.posted == Posted(ADA, sent)
    assert not source.elsewhere


async def test_a_remembered_fact_shows_the_chat_it_came_from(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await driver.turn(ADA, "/remember I like tea", GROUP)
    done = await store.change_memory(turn, group(), [fact(ADA, "likes tea") | {"by": "user"}])
    await store.deliver(turn, BOT.id, [Part(1, GROUP, {"chat_id": GROUP, "text": "x"})])
    await store.store_sent(turn, [PartResult(1, "sent", 77)], True)
    source = await store.source(done.changes[0].memory_id)
    assert source is not None
    assert (source.said, source.answer, source.chat_id) == (None, None, GROUP)
    assert source.posted == Posted(GROUP, 77)


async def test_a_source_of_another_space_is_not_shown(driver: TurnDriver, store: Store, sql: Sql) -> None:
    (taught,) = await driver.teach(ADA, "likes tea")
    other = await driver.exchange(BEN, "a secret of Ben", "a secret answer")
    await sql(
        "update memory set source_message_id = %s, derivation = jsonb_build_object('answer', %s::bigint + 1)",
        other.context.message_id, other.context.message_id,
    )  # fmt: skip
    source = await store.source(taught.memory_id)
    assert source is not None
    assert source.elsewhere
    assert (source.said, source.answer, source.posted) == (None, None, None)
    assert "secret" not in str(source)


async def test_a_deleted_source_is_shown_as_missing(driver: TurnDriver, store: Store, sql: Sql) -> None:
    (taught,) = await driver.teach(ADA, "likes tea")
    await sql("update memory set source_message_id = null, turn_id = null, thread_id = null, derivation = '{}'")
    source = await store.source(taught.memory_id)
    assert source is not None
    assert (source.said, source.answer, source.chat_id, source.posted) == (None, None, None, None)
    assert source.at


async def test_a_tainted_source_says_who_wrote_it(driver: TurnDriver, store: Store, sql: Sql) -> None:
    (taught,) = await driver.teach(ADA, "likes tea", tainted=True)
    blocks = '[{"type": "text", "text": "x", "untrusted": "forward", "from": "Ben"}, {"type": "text", "text": "y"}]'
    await sql("update message set blocks = %s::jsonb where role = 'user'", blocks)
    source = await store.source(taught.memory_id)
    assert source is not None
    assert source.said.foreign == (ForeignWords("forward", "Ben"),)


# The changes of a space


async def test_the_changes_of_a_space_are_listed_newest_first(driver: TurnDriver, store: Store) -> None:
    (taught,) = await driver.teach(ADA, "likes tea")
    number = taught.memory_id
    for words in ("likes coffee", "likes milk"):
        await change(driver, ADA, {"action": "edit", "memory_id": number, "content": words})
    await change(driver, ADA, {"action": "pin", "memory_id": number})
    (gone,) = (await change(driver, ADA, forget(f"#{number}"))).changes
    await store.decide_change(gone.id, ADA, False, "undo")
    await driver.teach(BEN, "another's")
    found = await store.history(private(ADA), False, 0, 8, ADA, False)
    assert [(c.action, c.status, c.content, c.before) for c in found.changes] == [
        ("forget", "undone", "likes milk", "likes milk"),
        ("pin", "applied", "likes milk", "likes milk"),
        ("refresh", "applied", "likes milk", "likes coffee"),
        ("refresh", "applied", "likes coffee", "likes tea"),
        ("learn", "applied", "likes tea", None),
    ]
    assert (found.total, found.pending, {c.yours for c in found.changes}) == (5, 0, {True})
    assert [c.undoable for c in found.changes] == [False, True, True, False, False], "the others were changed since"
    page = await store.history(private(ADA), False, 8, 2, ADA, False)
    assert (page.offset, [c.action for c in page.changes]) == (4, ["learn"])


async def test_an_undone_rewording_is_shown_with_its_present_wording(driver: TurnDriver, store: Store) -> None:
    (taught,) = await driver.teach(ADA, "likes tea")
    edit = {"action": "edit", "memory_id": taught.memory_id, "content": "likes coffee"}
    (edited,) = (await change(driver, ADA, edit)).changes
    await store.decide_change(edited.id, ADA, False, "undo")
    found = await store.history(private(ADA), False, 0, 8, ADA, False)
    assert [(c.action, c.content) for c in found.changes] == [("refresh", "likes tea"), ("learn", "likes tea")]


async def test_pending_changes_are_listed_until_decided(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "has a cat called Mia", "has a cat called Leo", "has a boat")
    await driver.teach(ADA, "likes spam", tainted=True)
    asked = (await change(driver, ADA, forget("has a cat"))).changes
    waiting = await store.history(private(ADA), True, 0, 8, ADA, False)
    assert (waiting.pending, waiting.total) == (3, 6)
    assert {(c.action, c.content) for c in waiting.changes} == {
        ("learn", "likes spam"), ("forget", "has a cat called Mia"), ("forget", "has a cat called Leo")
    }  # fmt: skip
    await store.decide_change(asked[0].id, ADA, False, "keep")
    waiting = await store.history(private(ADA), True, 0, 8, ADA, False)
    assert [c.content for c in waiting.changes] == ["likes spam"], "the question which cat was meant has been answered"
    assert (await store.memories(private(ADA), 0, 8)).pending == 1


async def test_in_a_tainted_turn_each_forget_is_decided_separately(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "likes tea", "has a boat")
    done = await driver.exchange(ADA, "x", actions=[forget("likes tea"), forget("has a boat")], tainted=True)
    await store.decide_change(done.told.changes[0].id, ADA, False, "keep")
    waiting = await store.history(private(ADA), True, 0, 8, ADA, False)
    assert [c.content for c in waiting.changes] == ["has a boat"]


async def test_in_a_group_the_changes_are_marked_as_ones_own_or_not(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "x", chat_id=GROUP, actions=[fact(ADA, "brings salad")])
    await driver.exchange(BEN, "x", chat_id=GROUP, actions=[fact(BEN, "brings wine")])

    async def yours(user_id: int, admin: bool = False) -> list[bool]:
        return [c.yours for c in (await store.history(group(), False, 0, 8, user_id, admin)).changes]

    assert await yours(ADA) == [False, True]
    assert await yours(BEN) == [True, False]
    assert await yours(EVE) == [False, False]
    assert await yours(EVE, admin=True) == [True, True]


async def test_a_change_is_located_by_its_id_or_its_turn(driver: TurnDriver, store: Store) -> None:
    done = await driver.exchange(ADA, "hi", chat_id=GROUP, actions=[fact(ADA, "likes tea")])
    (made,) = done.told.changes
    place = ChangePlace(group(), done.turn.turn_id, None, None, keeps=True)
    assert await store.find_change_place(change_id=made.id) == replace(place, memory_id=made.memory_id)
    assert await store.find_change_place(turn_id=done.turn.turn_id) == place
    assert await store.find_change_place(change_id=10**15) is None
    assert await store.find_change_place(turn_id=10**15) is None


# Forgetting


async def test_forget_says_that_more_memories_match_than_it_asks_about(driver: TurnDriver) -> None:
    for start in range(0, 15, 5):
        await driver.teach(ADA, *[f"likes tea number {'abcdefghijklmno'[n] * 12}" for n in range(start, start + 5)])
    done = await change(driver, ADA, forget("likes tea"))
    assert len(done.changes) == 10
    assert done.failed == (Failure("forget", "likes tea", "more than 10 match, these are the closest"),)


async def test_forget_finds_ones_own_memory_among_many_of_others(driver: TurnDriver) -> None:
    for start in range(0, 15, 5):
        facts = [fact(BEN, f"likes tea number {'abcdefghijklmno'[n] * 12}") for n in range(start, start + 5)]
        await driver.exchange(BEN, "x", chat_id=GROUP, actions=facts)
    await driver.exchange(
        ADA, "x", chat_id=GROUP, actions=[fact(ADA, "likes tea, of all sorts and at any time of day")]
    )
    done = await change(driver, ADA, forget("likes tea"), group())
    assert [(c.status, c.subject) for c in done.changes] == [("applied", "Ada")]


# Ten thousand facts

MANY = 10_000
FILL = """
with said as (select id, space_id, thread_id, session_id, turn_id from message order by id limit 1),
    made as (
        insert into memory (space_id, kind, subject_id, subject, content, category, tags, pinned, thread_id,
            session_id, turn_id, source_message_id)
        select space_id, case when n % 5 = 0 then 'learning' else 'fact' end, 1001 + n % 30, 'Person ' || n % 30,
            'fact ' || n || ' about ' || md5(n::text) || ' and ' || md5((n * 7)::text),
            case when n % 5 = 0 then (array['identity', 'knowledge', 'operational'])[1 + n % 3] end, '{one,two}',
            n % 100 = 0, thread_id, session_id, turn_id, id
        from said, generate_series(1, 10000) n returning id, space_id, turn_id)
insert into memory_change (space_id, memory_id, turn_id, user_id, action)
select space_id, id, turn_id, 1001, 'learn' from made
"""


LOOKS = {
    "the first page": "relay_list_memories(:space, '{}', 0, 8)",
    "a page in the middle": "relay_list_memories(:space, '{}', 5000, 8)",
    "the last page": "relay_list_memories(:space, '{}', 9992, 8)",
    "learnings": """relay_list_memories(:space, '{"kind": "learning"}', 0, 8)""",
    "a category": """relay_list_memories(:space, '{"kind": "learning", "category": "identity"}', 0, 8)""",
    "the pinned": """relay_list_memories(:space, '{"pinned": true}', 0, 8)""",
    "a person": """relay_list_memories(:space, '{"subject_id": 1005}', 0, 8)""",
    "words": """relay_list_memories(:space, '{"words": "fact 77"}', 0, 8)""",
    "a word of all": """relay_list_memories(:space, '{"words": "about"}', 9992, 8)""",
    "words that nearly match": """relay_list_memories(:space, '{"words": "fact 7777 abuot"}', 0, 8)""",
    "words that nothing has": """relay_list_memories(:space, '{"words": "submarine periscope"}', 0, 8)""",
    "the last page of changes": "relay_memory_history(:space, false, 9992, 8, 1001, false)",
    "what waits": "relay_memory_history(:space, true, 0, 8, 1001, false)",
    "one opened": "relay_open_memory(5000, 1001, false)",
    "where it is from": "relay_memory_source(5000)",
}


def worked(process: int) -> float:
    """Returns the CPU seconds of a server process, whatever else the machine does; without /proc, the time."""
    told = Path(f"/proc/{process}/schedstat")
    return int(told.read_text().split()[0]) / 1e9 if told.exists() else time.perf_counter()


@pytest.mark.slow("test_plans.py and test_memories_are_found_by_words")
@pytest.mark.parametrize("chat_id", [None, GROUP])
async def test_ten_thousand_facts_are_searched_quickly(
    driver: TurnDriver, store: Store, sql: Sql, chat_id: int | None
) -> None:
    await driver.exchange(ADA, "hello", chat_id=chat_id)
    await sql("alter table memory disable trigger memory_written")
    await sql(FILL)
    await sql("alter table memory enable trigger memory_written")
    await sql("select relay.enter('memory', array_agg(id), array_agg(0)) from memory")  # at once, not one by one
    await sql("analyze")
    space = group() if chat_id else private(ADA)
    ((process,),) = await sql("select pg_backend_pid()")
    slow: dict[str, float] = {}
    for name, look in LOOKS.items():
        took: list[float] = []
        while len(took) < 3 and min(took, default=1.0) > 0.1:
            before = worked(process)
            ((found,),) = await sql("select " + look.replace(":space", f"'{json.dumps(space.as_json())}'"))
            took.append(worked(process) - before)
            assert found, name
        if min(took) > 0.1:
            slow[name] = min(took)
    assert not slow
    last = await store.memories(space, MANY - 8, 8)
    assert (last.total, last.offset, last.memories[-1].content[:7]) == (MANY, MANY - 8, "fact 1 ")
    assert any(text.startswith("fact 7777 ") for text in await contents(store, space, words="fact 7777 about"))
    await sql("insert into memory (space_id, content) select space_id, 'one more' from memory order by id limit 1")
    await sql("update memory set content = 'plays Qi' where id = (select min(id) from memory)")
    assert await contents(store, space, words="qi") == ["plays Qi"], "a short word must be found in the oldest, too"
    if chat_id is None:
        async with open_api(store) as api:
            page = (await api.get(f"/api/memories?cursor={MANY - 200}&limit=200")).json()
            assert (page["total"], page["next"]) == (MANY + 1, str(MANY)), "paging must reach the oldest"
            last = (await api.get(f"/api/memories?cursor={MANY}&limit=200")).json()
            assert ([one["content"] for one in last["memories"]], last["next"]) == (["plays Qi"], None)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**25])
async def test_an_impossible_id_is_refused_as_bad_data(store: Store, number: int) -> None:
    """It isn't reported as a wrong schema, which Relay waits for because another process may be migrating it."""
    with pytest.raises(DataRefused, match="cannot hold a value"):
        await store.open_memory(number, ADA, True)
    assert await store.open_memory(2**63 - 1, ADA, True) is None


async def test_each_space_numbers_its_memories_from_one_without_reuse(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    for user_id, text in ((ADA, "has a boat"), (BEN, "has a dog"), (ADA, "likes tea"), (BEN, "likes figs")):
        await change(driver, user_id, fact(user_id, text))
    asked = "select number from memory m join space s on s.id = m.space_id where owner_id = %s order by m.id"
    assert await sql(asked, ADA) == await sql(asked, BEN) == [(1,), (2,)]
    # A number only means a memory of the person's own space.
    (gone,) = (await change(driver, BEN, forget("#1"))).changes
    assert (gone.content, gone.status) == ("has a dog", "applied")
    assert await contents(store, private(ADA)) == ["likes tea", "has a boat"]
    assert (await change(driver, BEN, forget("#7"))).failed[0].failed == "nothing matches"
    # A deleted memory's number is not used again, even if it was the highest.
    await sql("delete from memory_change where memory_id in (select id from memory where content = 'likes tea')")
    await sql("delete from memory where content = 'likes tea'")
    await change(driver, ADA, fact(ADA, "likes juice"))
    assert await sql(asked, ADA) == [(1,), (3,)]
    row = await store.open_memory(await store.find_by_number(private(ADA), 3), ADA, False)
    assert row is not None
    assert (row.number, row.content) == (3, "likes juice")
    assert await store.find_by_number(private(ADA), 2) == 0


async def test_an_older_memory_keeps_its_number(driver: TurnDriver, store: Store, sql: Sql) -> None:
    """Older memories keep the numbers that people were told. Those numbers counted across all spaces."""
    await change(driver, ADA, fact(ADA, "has a boat"))
    await sql("update memory set number = 57")
    await change(driver, ADA, fact(ADA, "likes tea"))
    assert await sql("select number from memory order by id") == [(57,), (58,)]
    await change(driver, ADA, forget("#57"))
    assert await contents(store, private(ADA)) == ["likes tea"]


async def test_memories_moved_to_another_space_keep_or_change_their_numbers(sql: Sql) -> None:
    await sql("insert into space (kind, chat_id) values ('group', -1), ('group', -2), ('group', -3)")
    one, two, three = [id for (id,) in await sql("select id from space where chat_id in (-1, -2, -3) order by id")]
    for space, text in ((one, "a"), (one, "b"), (two, "c")):
        await sql("insert into memory (space_id, content) values (%s, %s)", space, text)
    await sql("select relay.move_memories(%s, %s)", three, one)
    await sql("select relay.move_memories(%s, %s)", three, two)
    asked = "select content, number from memory where space_id = %s order by number"
    assert await sql(asked, three) == [("a", 1), ("b", 2), ("c", 3)]
