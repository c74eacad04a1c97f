"""Tests versions in lists: pruning, restoring, retention, and comparison."""

from __future__ import annotations

import pytest

from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.library import add_marker, add_version, compose
from tests.integration.turn_driver import ADA, BEN, TurnDriver, dm, private


async def session_of(driver: TurnDriver, sql: Sql, user_id: int = ADA) -> int:
    await driver.exchange(user_id, "The garden is 12 by 8 metres.", "Noted.")
    [(id,)] = await sql("select max(id) from session")
    return int(id)


async def names(store: Store, session_id: int) -> list[str]:
    found = await store.versions(private(ADA), session_id, 0, 100)
    assert found is not None
    return [one.name[:4] for one in found.versions]


async def dropped(sql: Sql) -> list[int]:
    return [row[0] for row in await sql("select number from compression where status = 'dropped' order by number")]


async def test_versions_are_pruned_all_or_none_and_restored(driver: TurnDriver, store: Store, sql: Sql) -> None:
    own = await session_of(driver, sql)
    first, second, third = [await add_version(sql, own, number) for number in (1, 2, 3)]
    theirs = await add_version(sql, await session_of(driver, sql, BEN), 1)
    refused = await store.prune_versions(private(ADA), [first, theirs], False)
    assert (refused.pruned, refused.missing) == ((), (theirs,))
    assert await names(store, own) == ["v003", "v002", "v001"]
    done = await store.prune_versions(private(ADA), [first, second], False)
    assert [one.name[:4] for one in done.pruned] == ["v001", "v002"]
    assert await names(store, own) == ["v003"]
    assert (await store.prune_versions(private(ADA), [first], False)).missing == (first,), (
        "the version was already pruned"
    )
    assert await store.restore_versions(private(BEN), first) == []
    assert [one.id for one in await store.restore_versions(private(ADA), second)] == [first, second]
    assert await names(store, own) == ["v003", "v002", "v001"]
    assert third


async def test_pruning_can_be_undone_for_ten_minutes_and_is_then_final(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    own = await session_of(driver, sql)
    first, second = [await add_version(sql, own, number) for number in (1, 2)]
    await compose(sql, "winter", [first])
    await store.prune_versions(private(ADA), [first, second], False)
    await store.tidy(14, 100)
    assert await dropped(sql) == [1, 2]
    await sql("update compression set dropped_at = now() - interval '11 minutes' where id = %s", first)
    assert await store.restore_versions(private(ADA), first) == []
    await store.tidy(14, 100)
    assert await sql("select number from compression") == [(2,)]
    assert await sql("select compression_id, version from composition_part") == [(None, "v001_tiered-standard_1k")], (
        "the composition must keep the version's name"
    )


async def test_pruning_a_version_in_use_needs_force(driver: TurnDriver, store: Store, sql: Sql) -> None:
    own = await session_of(driver, sql)
    version = await add_version(sql, own, 1)
    await store.new_session(dm(ADA), "")
    running = await session_of(driver, sql)
    await compose(sql, "winter", [version], used_by=running)
    found = await store.versions(private(ADA), own, 0, 100)
    assert found is not None
    assert (found.versions[0].active, found.versions[0].compositions) == (True, ("winter",))
    refused = await store.prune_versions(private(ADA), [version], False)
    assert refused.active == ("v001_tiered-standard_1k",)
    assert await dropped(sql) == []
    assert (await store.prune_versions(private(ADA), [version], True)).pruned
    await store.restore_versions(private(ADA), version)
    await store.new_session(dm(ADA), "")
    found = await store.versions(private(ADA), own, 0, 100)
    assert found is not None
    assert not found.versions[0].active, "the session that used it has ended"
    assert (await store.prune_versions(private(ADA), [version], False)).pruned


@pytest.mark.parametrize(
    ("storage", "gone"),
    [
        ({}, []),
        ({"compressionRetention": 2}, [1, 2, 3]),
        ({"compressionRetention": 5}, [1]),
        ({"compressionRetention": "30d"}, [2, 3, 5]),
        ({"compressionRetention": "3650d"}, []),
        ({"maxCacheSize": "12kB"}, [1, 2, 3]),
    ],
)
async def test_retention_spares_composed_and_recently_used_versions(
    storage: dict[str, object], gone: list[int], driver: TurnDriver, store: Store, sql: Sql
) -> None:
    """Six versions of 4 kB, 60 days old; 1 is young, 4 was used two days ago, 5 a month ago, and 6 is composed."""
    own = await session_of(driver, sql)
    ids = [await add_version(sql, own, number) for number in range(1, 7)]
    await sql("update compression set created_at = now() - interval '60 days' where number > 1")
    await sql("alter table compression alter column rows set storage external")
    await sql("update compression set rows = jsonb_build_array(jsonb_build_object('text', repeat('a', 4000)))")
    await sql("update compression set last_used_at = now() - interval '2 days' where number = 4")
    await sql("update compression set last_used_at = now() - interval '30 days' where number = 5")
    await compose(sql, "winter", [ids[5]])
    await store.change_context_settings(private(ADA), {"storage": storage})
    [(space,)] = await sql("select space_id from session where id = %s", own)
    ahead = (await store.storage_statistics(private(ADA))).freed
    assert ahead.rows == len(gone)
    await sql("select apply_retention(%s)", space)
    assert await dropped(sql) == gone
    assert await sql("select apply_retention(%s)", space) == [([],)]


async def test_two_versions_are_compared_side_by_side(driver: TurnDriver, store: Store, sql: Sql) -> None:
    own = await session_of(driver, sql)
    long = await add_version(sql, own, 1, "Garden 12 by 8, three beds", 10_000, {"mode": "tiered"})
    short = await add_version(sql, own, 2, "Garden 12 by 8", 3_000, {"mode": "uniform", "compactionRatio": 30})
    both, lone = await add_marker(sql, own, "1.00", "12 by 8"), await add_marker(sql, own, "0.50", "three beds")
    for version, marker, survived in (
        (long, both, True),
        (long, lone, True),
        (short, both, True),
        (short, lone, False),
    ):
        await sql("insert into compression_keepit values (%s, %s, 0.5, 0.5, %s)", version, marker, survived)
    found = await store.compare_versions(private(ADA), long, short)
    assert found is not None
    assert (found.a.text, found.b.text) == ("Garden 12 by 8, three beds", "Garden 12 by 8")
    assert ([one.content for one in found.only_a], found.only_b) == (["three beds"], ())
    assert found.b.version.settings["compactionRatio"] == 30
    assert await store.compare_versions(private(BEN), long, short) is None
    await sql("update compression set status = 'due' where id = %s", short)
    assert await store.compare_versions(private(ADA), long, short) is None
