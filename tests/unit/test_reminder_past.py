"""Reminders that are accepted, resumed or restored once their time has passed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from relay.commands.context import CommandContext
from relay.commands.reminders.reminders import accept, delete, pause
from relay.core.errors import Conflict
from relay.core.models import Space
from relay.memory.rows.proactive.reminders import OpenedReminder, Reminder

NOW = datetime.now(UTC)
DAY = timedelta(days=1)


class OneReminder:
    """A store with one reminder, which notes how it is changed."""

    def __init__(self, **more: object) -> None:
        given: dict[str, Any] = {
            "id": 1, "kind": "say", "text": "Tea", "zone": "UTC", "start_at": (NOW - 3 * DAY).replace(tzinfo=None),
            "rule": "", "next_at": NOW - 2 * DAY, "status": "proposed", "user_id": 1, "chat_id": 1, "topic_id": 0,
            "space_id": 1, "created_at": NOW - 3 * DAY,
        }  # fmt: skip
        self.one = OpenedReminder(**given | more)
        self.changes: list[dict[str, object]] = []

    async def reminder(self, *_: object) -> OpenedReminder:
        return self.one

    async def change_reminder(self, _id: int, event: str, _user: int, _known: object, **fields: object) -> Reminder:
        self.changes.append({"event": event, **fields})
        return self.one


def context(store: OneReminder) -> CommandContext:
    async def sight() -> None:
        return None

    return cast(
        CommandContext,
        SimpleNamespace(
            store=store, space=Space("private", owner_id=1), user_id=1, admin=False, require_sight=sight,
        ),
    )  # fmt: skip


async def test_a_past_reminder_is_not_accepted() -> None:
    store = OneReminder()
    with pytest.raises(Conflict, match=r"^Its time has passed\. Set another one, for example: /remind"):
        await accept(context(store), 1)
    assert store.changes == []


async def test_a_past_reminder_is_not_restored() -> None:
    store = OneReminder(status="deleted")
    with pytest.raises(Conflict, match="Its time has passed"):
        await delete(context(store), 1, on=False)
    assert store.changes == []


async def test_a_reminder_that_is_missed_by_now_is_not_resumed() -> None:
    store = OneReminder(status="paused")
    with pytest.raises(Conflict, match="Its time has passed"):
        await pause(context(store), 1, on=False)
    assert store.changes == []


async def test_a_yes_that_comes_a_little_late_is_accepted() -> None:
    store = OneReminder(next_at=NOW - timedelta(minutes=1))
    await accept(context(store), 1)
    assert store.changes == [{"event": "changed", "status": "active"}]


async def test_a_yes_after_the_only_time_is_refused_and_after_the_first_starts_the_rule() -> None:
    once, often = (OneReminder(status="ended", next_at=None, rule=rule) for rule in ("", "FREQ=DAILY"))
    with pytest.raises(Conflict, match="Its time has passed"):
        await accept(context(once), 1)
    await accept(context(often), 1)
    [changed] = often.changes
    assert changed["status"] == "active"
    assert datetime.fromisoformat(str(changed["next_at"])) > NOW


@pytest.mark.parametrize("occurrence", [None, NOW - timedelta(hours=1)], ids=["its own time", "postponed"])
async def test_a_reminder_that_is_resumed_a_little_late_is_sent(occurrence: datetime | None) -> None:
    store = OneReminder(status="paused", next_at=NOW - timedelta(hours=1), occurrence=occurrence)
    await pause(context(store), 1, on=False)
    assert store.changes == [{"event": "resumed", "status": "active"}]


async def test_a_reminder_that_would_be_sent_late_is_restored() -> None:
    store = OneReminder(status="deleted", next_at=NOW - timedelta(hours=2))
    await delete(context(store), 1, on=False)
    assert store.changes == [{"event": "restored"}]


async def test_a_rule_whose_time_has_passed_goes_on_with_its_next_one() -> None:
    store = OneReminder(rule="FREQ=DAILY")
    await accept(context(store), 1)
    [changed] = store.changes
    assert changed["status"] == "active"
    assert datetime.fromisoformat(str(changed["next_at"])) > NOW


@pytest.mark.parametrize("rule", ["", "FREQ=DAILY"])
async def test_a_reminder_of_the_future_is_accepted_and_restored_unchanged(rule: str) -> None:
    store = OneReminder(rule=rule, next_at=NOW + DAY)
    await accept(context(store), 1)
    store.one = OneReminder(rule=rule, next_at=NOW + DAY, status="deleted").one
    await delete(context(store), 1, on=False)
    assert store.changes == [{"event": "changed", "status": "active"}, {"event": "restored"}]
