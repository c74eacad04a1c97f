"""Tests the context settings in the database: reading, changing single settings, and counting storage."""

from __future__ import annotations

from decimal import Decimal

from relay.memory.contexts.space_settings import ContextSettings, change_for
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.library import add_version
from tests.integration.turn_driver import ADA, BEN, TurnDriver, private


async def change(store: Store, name: str, value: str) -> ContextSettings:
    settings = await store.context_settings(private(ADA))
    return await store.change_context_settings(private(ADA), change_for(settings, name, value))


async def test_a_space_without_changes_has_the_default_settings(store: Store) -> None:
    assert await store.context_settings(private(ADA)) == ContextSettings()


async def test_changed_settings_add_up_and_stay_in_their_space(store: Store) -> None:
    await change(store, "maxCacheSize", "2GB")
    await change(store, "compressionRetention", "5")
    await change(store, "light", "0.05")
    await change(store, "maxCacheSize", "3GB")
    values = (await store.context_settings(private(ADA))).values()
    changed = {name: value for name, value in values.items() if value != ContextSettings().values()[name]}
    assert changed == {
        "storage.maxCacheSize": "3GB", "storage.compressionRetention": 5, "keepitDecay.compressionBase.light": 0.05,
    }  # fmt: skip
    assert await store.context_settings(private(BEN)) == ContextSettings()


async def test_decay_settings_take_effect_in_the_formula(store: Store, sql: Sql) -> None:
    own = "context_settings((select id from space where owner_id = %s)) -> 'keepitDecay'"
    threshold = f"select keepit_threshold('aggressive', 30, 10, {own})"
    survives = f"select keepit_survives(0.9, 2, {own})"
    assert await sql(threshold, ADA) == [(Decimal("0.80"),)]
    await change(store, "maxSessionDistance", "20")
    assert await sql(threshold, ADA) == [(Decimal("0.65"),)]
    await change(store, "aggressive", "0.6")
    assert await sql(threshold, ADA) == [(Decimal("0.75"),)]
    assert await sql(survives, ADA) == [(False,)]
    await change(store, "pinnedWeight", "0.9")
    assert await sql(survives, ADA) == [(True,)]


async def test_storage_is_counted_once_a_day(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "The garden is 12 by 8 metres.", "Noted.")
    await driver.exchange(BEN, "Not counted", "for Ada")
    [(session,)] = await sql("select min(id) from session")
    await add_version(sql, session, 1)
    first = await store.storage_statistics(private(ADA))
    counted = {one.kind: one.rows for one in first.stored}
    assert counted == {
        "messages": 2, "versions": 1, "compositions": 0, "markers": 0, "memories": 0, "feedback": 0, "documents": 0,
        "vectors": 0,
    }  # fmt: skip
    assert first.stored[0].bytes > 40
    assert first.database > 1_000_000
    await driver.exchange(ADA, "More")
    assert (await store.storage_statistics(private(ADA))).stored == first.stored
    await sql("update result set used_at = now() - interval '25 hours'")
    assert (await store.storage_statistics(private(ADA))).stored[0].rows == 4
