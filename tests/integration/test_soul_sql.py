"""Tests souls, their drafts and personas in the database: nothing is overwritten, and nothing is done twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from relay.memory.claims import ClaimedTurn
from relay.memory.rows.soul import Persona
from relay.memory.rows.turns.context import ShownPersona, ShownSoul
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, GROUP, TurnDriver

ODD = "It's “odd”: ümläut 🐝 {[($1)]} %s\n\t\\n --"


async def activate(store: Store, text: str, reason: str = "") -> int:
    return await store.activate_soul(text, ADA, "Ada", reason)


async def drafted(
    driver: TurnDriver, text: str = "You are a monk.", based_on: int | None = 1
) -> tuple[int, ClaimedTurn]:
    turn = await driver.turn(ADA, "/soul set")
    return await driver.store.draft_soul(turn.turn_id, text, ADA, "Ada", "edited", based_on), turn


async def put(store: Store, *given: Any) -> tuple[Persona | None, Persona | None]:
    """Sets a persona. Returns the current one and the one that it replaced."""
    done = await store.set_persona(*given)
    return done.present, done.before


async def test_the_soul_is_versioned(driver: TurnDriver, store: Store, sql: Sql) -> None:
    assert await activate(store, "You are a pirate.", "fun") == 2
    assert await activate(store, "You are a pirate.", "fun") == 2
    assert await store.activate_soul(ODD, 2**52 - 17, "Ädä", "calm") == 3
    active = await store.soul()
    assert active is not None
    assert (active.version, active.text, active.author_id, active.author) == (3, ODD, 2**52 - 17, "Ädä")
    assert (await driver.exchange(ADA, "hi")).context.soul == ShownSoul(3, ODD)
    assert await sql("select count(*) from soul") == [(3,)]
    second = await store.soul_version(2)
    assert second is not None
    assert (second.text, second.reason, second.active) == ("You are a pirate.", "fun", False)
    assert await store.soul_version(4) is None
    assert await store.soul_version(10**17) is None
    # restoring an old text makes a new version
    assert await activate(store, "You are a pirate.", "restored from version 2") == 4


async def test_souls_activated_concurrently_get_separate_versions(another: Callable[[], Store], sql: Sql) -> None:
    versions = await asyncio.gather(*(activate(another(), f"Soul {n}") for n in range(8)))
    assert sorted(versions) == list(range(2, 10))
    assert await sql("select count(*) from soul where active") == [(1,)]
    assert await sql("select active from soul order by version desc limit 1") == [(True,)]


async def test_versions_are_paged_newest_first(store: Store) -> None:
    for number in range(2, 9):
        await activate(store, f"Soul {number}")
    page = await store.souls(0, 5)
    assert page.total == 8
    assert [row.version for row in page.souls] == [8, 7, 6, 5, 4]
    assert [row.active for row in page.souls] == [True, False, False, False, False]
    assert [row.version for row in (await store.souls(5, 5)).souls] == [3, 2, 1]
    assert (await store.souls(5_000_000_000, 5)).souls == ()


async def test_a_draft_changes_nothing_until_it_is_activated_once(driver: TurnDriver, store: Store, sql: Sql) -> None:
    draft, turn = await drafted(driver)
    assert await store.draft_soul(turn.turn_id, "another", ADA, "Ada", "again", 1) == draft, "the turn ran twice"
    active = await store.soul()
    assert active is not None
    assert active.version == 1
    for _ in range(2):
        done = await store.decide_soul_draft(draft, "activate", 1, BEN)
        assert done is not None
        assert (done.status, done.version, done.text) == ("activated", 2, "You are a monk.")
    done = await store.decide_soul_draft(draft, "discard", 0, ADA)
    assert done is not None
    assert done.status == "activated"
    assert await sql("select version, text, author_id, author, reason from soul where active") == [
        (2, "You are a monk.", ADA, "Ada", "edited")
    ]
    assert await sql("select count(*), max(decided_by) from soul_draft") == [(1, BEN)]


async def test_a_discarded_draft_stays_discarded(driver: TurnDriver, store: Store) -> None:
    draft, _ = await drafted(driver)
    for decision in ("discard", "activate"):
        done = await store.decide_soul_draft(draft, decision, 1, ADA)
        assert done is not None
        assert (done.status, done.version) == ("discarded", None)
    assert (await store.souls(0, 5)).total == 1
    assert await store.decide_soul_draft(draft + 1000, "activate", 1, ADA) is None
    assert await store.decide_soul_draft(10**17, "activate", 1, ADA) is None


async def test_a_draft_is_activated_only_over_the_version_that_was_seen(driver: TurnDriver, store: Store) -> None:
    draft, _ = await drafted(driver, based_on=None)
    await activate(store, "Somebody else's")
    for seen in (1, 0, 3, 10**17):
        done = await store.decide_soul_draft(draft, "activate", seen, ADA)
        assert done is not None
        assert done.status == "open"
    done = await store.decide_soul_draft(draft, "activate", 2, ADA)
    assert done is not None
    assert (done.status, done.version) == ("activated", 3)


async def test_only_one_of_several_concurrent_drafts_is_activated(
    driver: TurnDriver, another: Callable[[], Store], sql: Sql
) -> None:
    drafts = [(await drafted(driver, f"Draft {n}"))[0] for n in range(4)]
    done = await asyncio.gather(*(another().decide_soul_draft(draft, "activate", 1, ADA) for draft in drafts * 2))
    assert {one.version for one in done if one and one.status == "activated"} == {2}
    assert await sql("select count(*) from soul_draft where status = 'open'") == [(3,)]
    assert await sql("select count(*) from soul") == [(2,)]


# Personas


async def test_a_persona_belongs_to_one_chat_and_topic(driver: TurnDriver, store: Store) -> None:
    assert await store.persona(ADA, 0) is None
    present, before = await put(store, GROUP, 5, ODD, ADA, "Ädä")
    assert present is not None
    assert (present.text, present.author_id, present.author, before) == (ODD, ADA, "Ädä", None)
    assert await store.persona(GROUP, 5) == present
    for chat_id, topic_id in ((GROUP, 0), (GROUP, 6), (GROUP - 1, 5), (ADA, 5)):
        assert await store.persona(chat_id, topic_id) is None
    here = await driver.exchange(ADA, "hola", chat_id=GROUP, topic_id=5)
    assert here.context.persona == ShownPersona(present.id, ODD)
    assert (await driver.exchange(ADA, "hello", chat_id=GROUP, topic_id=6)).context.persona is None


async def test_personas_are_kept_and_the_newest_is_active(store: Store, sql: Sql) -> None:
    first, _ = await put(store, ADA, 0, "a teacher", ADA, "Ada")
    again, before = await put(store, ADA, 0, "a teacher", BEN, "Ben")
    assert (again, before) == (first, None)
    second, before = await put(store, ADA, 0, "a pirate", BEN, "Ben")
    assert first is not None
    assert second is not None
    assert before == first
    cleared, before = await put(store, ADA, 0, "", ADA, "Ada")
    assert cleared is not None
    assert (cleared.text, before) == ("", second)
    assert await put(store, ADA, 0, "", ADA, "Ada") == (cleared, None)
    assert await store.persona(ADA, 0) == cleared
    assert await store.persona(ADA, 0, first.id) == first
    assert await store.persona(BEN, 0, first.id) is None, "the persona belongs to another chat"
    assert await sql("select count(*) from persona") == [(3,)]
    assert await put(store, BEN, 0, "", BEN, "Ben") == (None, None)


async def test_a_persona_is_replaced_only_while_it_is_the_present_one(store: Store) -> None:
    first, _ = await put(store, ADA, 0, "a teacher", ADA, "Ada")
    second, _ = await put(store, ADA, 0, "a pirate", ADA, "Ada")
    assert first is not None
    assert second is not None
    assert await put(store, ADA, 0, "", ADA, "Ada", first.id) == (second, None)
    cleared, before = await put(store, ADA, 0, "", ADA, "Ada", second.id)
    assert cleared is not None
    assert (cleared.text, before) == ("", second)


async def test_a_groups_persona_follows_it_to_its_new_id(store: Store) -> None:
    await put(store, -4242, 0, "a cook", ADA, "Ada")
    await store.regroup(77, -4242, GROUP)
    moved = await store.persona(GROUP, 0)
    assert moved is not None
    assert moved.text == "a cook"
    assert await store.persona(-4242, 0) is None
