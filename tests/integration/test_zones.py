"""Tests that reminders that repeat follow a person to another time zone."""

from __future__ import annotations

import asyncio

import pytest

from relay.commands.session import settings as module
from relay.commands.session.settings import Choice, settings
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.test_forget_many import asked
from tests.integration.test_reminder_sql import make
from tests.integration.turn_driver import ADA, TurnDriver


async def test_reminders_follow_a_person_who_names_two_zones_at_once(
    store: Store, sql: Sql, driver: TurnDriver
) -> None:
    call = asked(store, await driver.turn(ADA, "/settings"))
    await make(store, rule="FREQ=DAILY")
    zones = ("Asia/Tokyo", "Europe/Berlin", "America/Lima")
    await asyncio.gather(*(settings(call, Choice("zone", zone)) for zone in zones))
    assert await sql("select zone from reminder") == [((await store.choices(ADA)).zone,)]


async def test_reminders_follow_a_person_who_names_another_zone_in_another_process_meanwhile(
    store: Store, sql: Sql, driver: TurnDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = asked(store, await driver.turn(ADA, "/settings"))
    await make(store, rule="FREQ=DAILY")
    move = module.move_recurring

    async def move_late(*arguments: object) -> int:
        """The other process reads and stores the zone after this one has read it."""
        monkeypatch.setattr(module, "move_recurring", move)
        await settings(call, Choice("zone", "Asia/Tokyo"))
        return await move(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "move_recurring", move_late)
    assert (await settings(call, Choice("zone", "America/Lima"))).zone == "America/Lima"
    assert (await store.choices(ADA)).zone == "America/Lima"
    assert await sql("select zone from reminder") == [("America/Lima",)]
