"""Tests the library of past sessions: lists, distances, originals, registration, and links."""

from __future__ import annotations

from relay.memory.rows.sessions import Session
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.library import add_marker, add_version, compose
from tests.integration.turn_driver import ADA, BEN, TurnDriver, dm, private

THREE = ("Garden", "Tax", "Bergen")


async def three_sessions(driver: TurnDriver, sql: Sql) -> list[int]:
    """Ada's sessions about a garden, taxes and Bergen, oldest first, days apart. The last one is running."""
    for name in THREE:
        await driver.exchange(ADA, f"{name} words", f"{name} answers")
        if name != THREE[-1]:
            await driver.store.new_session(dm(ADA), "")
    ids = [row[0] for row in await sql("select id from session order by id")]
    for place, id in enumerate(reversed(ids)):
        await sql("update message set created_at = now() - make_interval(days => %s) where session_id = %s", place, id)
    return ids


async def listed(store: Store, topic_id: int = 0) -> dict[int, Session]:
    page = await store.sessions(dm(ADA, topic_id), 0, 50)
    return {one.id: one for one in (*page.sessions, *page.linked)}


async def opened(store: Store, session_id: int, topic_id: int = 0) -> Session | None:
    return await store.session(dm(ADA, topic_id), session_id)


async def test_a_list_shows_the_counts_of_each_session(driver: TurnDriver, store: Store, sql: Sql) -> None:
    old, middle, new = await three_sessions(driver, sql)
    await add_marker(sql, old, "0.80", "the greenhouse")
    gone = await add_marker(sql, old, "0.50", "removed")
    await sql("update keepit set removed_at = now() where id = %s", gone)
    version = await add_version(sql, old, 1)
    await compose(sql, "winter", [version])
    await store.register_session(dm(ADA), middle, True)
    page = await store.sessions(dm(ADA), 0, 2)
    assert (page.total, [one.id for one in page.sessions]) == (3, [new, middle])
    found = await listed(store)
    garden = found[old]
    assert (garden.number, garden.distance, garden.messages) == (3, 3, 2)
    assert garden.tokens == sum((len(text) + 3) // 4 for text in ("Garden words", "Garden answers"))
    assert (garden.markers, garden.versions, garden.compositions) == (1, 1, 1)
    assert [one.registered is not None for one in found.values()] == [False, True, False]
    assert [one.distance for one in found.values()] == [1, 2, 3]
    alone = await opened(store, old)
    assert alone is not None
    assert (alone.number, alone.distance, alone.tokens, alone.markers) == (3, 3, garden.tokens, 1)


async def test_opening_the_original_makes_a_session_the_most_recent(driver: TurnDriver, store: Store, sql: Sql) -> None:
    old, middle, new = await three_sessions(driver, sql)
    page = await store.open_original(dm(ADA), old, 1, 5)
    assert page is not None
    assert (page.total, [(one.role, one.text) for one in page.messages]) == (2, [("assistant", "Garden answers")])
    found = await listed(store)
    assert [found[id].distance for id in (old, new, middle)] == [1, 2, 3]
    for id in (old, new, middle):
        [(distance,)] = await sql("select session_distance(%s)", id)
        assert distance == found[id].distance, "the list must show the formula's distance"
    assert await store.open_original(dm(BEN), old, 0, 5) is None


async def test_registering_makes_topics_due_and_unregistering_keeps_versions(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    old, *_ = await three_sessions(driver, sql)
    await add_version(sql, old, 1)
    await sql("delete from job")
    assert await store.register_session(dm(ADA), old, True) is True
    assert await sql("select kind, key from job") == [("title", str(old))]
    assert await store.register_session(dm(ADA), old, False) is False
    found = (await listed(store))[old]
    assert (found.registered, found.versions) == (None, 1)
    assert await store.register_session(dm(BEN), old, True) is None


async def test_ended_sessions_are_registered_if_the_setting_is_on(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await store.change_context_settings(private(ADA), {"defaults": {"autoRegisterSessions": True}})
    await driver.exchange(ADA, "one")
    await store.new_session(dm(ADA), "")
    await driver.exchange(ADA, "two")
    await sql("update thread set last_at = now() - interval '2 days'")
    await driver.exchange(ADA, "three")
    await driver.exchange(BEN, "one")
    await store.new_session(dm(BEN), "")
    registered = await sql("select s.registered_at is not null from session s join space o on o.id = s.space_id"
                           " order by o.owner_id, s.id")  # fmt: skip
    assert registered == [(True,), (True,), (False,), (False,), (False,)]


async def test_a_private_session_is_neither_listed_nor_registered(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await store.change_context_settings(private(ADA), {"defaults": {"autoRegisterSessions": True}})
    await driver.exchange(ADA, "said openly")
    await store.private(dm(ADA), True, ADA, True)
    await driver.exchange(ADA, "said in confidence")
    [(hidden,)] = await sql("select id from session where private")
    assert await store.register_session(dm(ADA), hidden, True) is None
    assert not await store.link_session(dm(ADA, 5), hidden, "", ADA)
    await sql("select register_sessions(array[%s::bigint])", hidden)
    assert await sql("select private from session where registered_at is not null") == [(False,)]
    assert hidden not in await listed(store)


async def test_a_link_shows_a_session_in_another_thread_of_its_space_only(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    old, *_ = await three_sessions(driver, sql)
    await driver.exchange(ADA, "Elsewhere", topic_id=5)
    await driver.exchange(BEN, "Mine", topic_id=5)
    assert not await store.link_session(dm(BEN, 5), old, "theirs", BEN), "a session of another space can't be linked"
    assert not await store.link_session(dm(ADA), old, "", ADA), "a session of the same thread can't be linked"
    assert await opened(store, old, topic_id=5) is None
    assert await store.link_session(dm(ADA, 5), old, "same garden", ADA)
    assert await store.link_session(dm(ADA, 5), old, "the same garden", ADA)
    page = await store.sessions(dm(ADA, 5), 0, 6)
    assert (page.total, [(one.id, one.linked) for one in page.linked]) == (1, [(old, "the same garden")])
    assert (await store.sessions(dm(ADA, 5), 1, 6)).linked == ()
    there = await opened(store, old, topic_id=5)
    assert there is not None
    assert (there.number, there.linked, there.ref) == (None, "the same garden", f"#{old}")
    assert await store.unlink_session(dm(ADA, 5), old)
    assert not await store.unlink_session(dm(ADA, 5), old)
    assert await opened(store, old, topic_id=5) is None
