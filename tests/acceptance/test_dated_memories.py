"""A learned goal or event offers a reminder. Only a tap sets one."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.acceptance.shared_bot import World
from tests.acceptance.shared_relay import SharedRelay
from tests.acceptance.test_capture import SETTINGS, SETTLE, finds, press, says, told, world
from tests.standins.anthropic import Recorded, tool
from tests.standins.telegram import StoredMessage

__all__ = ["SETTINGS", "world"]
pytestmark = pytest.mark.asyncio(loop_scope="module")

BERLIN = ZoneInfo("Europe/Berlin")
DAY = date.today() + timedelta(days=20)
EXAM = f"Ada's driving test is on {DAY}."


def reminders(relay: SharedRelay, world: World, columns: str = "id", status: str = "%") -> list[tuple[Any, ...]]:
    """Returns columns of the person's reminders."""
    query = f"select {columns} from relay.reminder where user_id = %s and status like %s"  # noqa: S608 — our own words
    return relay.sql(query, world.owner.id, status)


async def with_button(world: World, answer: StoredMessage, label: str) -> StoredMessage:
    return await world.tg.wait_for(
        lambda: next((m for m in world.tg.messages(world.dm) if m.message_id == answer.message_id
            and any(label in one for one in m.buttons)), None), timeout=30
    )  # fmt: skip


async def test_a_future_event_offers_a_reminder_that_a_tap_sets(world: World, shared_relay: SharedRelay) -> None:
    finds(world, "driving", EXAM, kind="event", valid_from=str(DAY))
    answer = await says(world, "My driving test is in twenty days, and I am quite nervous.", "Good luck!")
    await told(world, answer, EXAM)
    shown = await with_button(world, answer, "⏰ Remind me?")
    assert reminders(shared_relay, world) == []
    await press(world, shown, "⏰ Remind me?")
    times = await with_button(world, answer, " 9:00")
    assert [one for one in times.buttons if one.startswith("⏰")] == [
        f"⏰ {DAY:%a} {DAY.day} {DAY:%b} 9:00",
        f"⏰ {DAY - timedelta(days=1):%a} {(DAY - timedelta(days=1)).day} {DAY - timedelta(days=1):%b} 18:00",
    ]
    assert reminders(shared_relay, world) == [], "no reminder is set without a tap"
    await press(world, times, " 18:00")
    await with_button(world, answer, "⏰ Undo")
    eve = datetime(DAY.year, DAY.month, DAY.day, 18, tzinfo=BERLIN) - timedelta(days=1)
    assert reminders(shared_relay, world, "text, next_at, origin, user_id = chat_id") == [(EXAM, eve, "button", True)]
    assert "Remind me?" not in " ".join((await with_button(world, answer, "⏰ Undo")).buttons)
    said = await world.tg.say(world.dm, world.owner, "/forget #1")
    forgotten = await world.tg.wait_reply(world.dm, said, timeout=30)
    assert forgotten.text == f"🧠 Forgot: {EXAM} (the reminder for it stays: /reminders)"
    await press(world, forgotten, "↩ Undo / Edit…")
    await press(world, await with_button(world, forgotten, "↩ Undo: "), "↩ Undo: ")
    assert (await told(world, forgotten, "↩")).text == f"↩ Undone: {EXAM}"


async def test_one_tap_moves_the_reminder_of_an_event_that_has_another_date(
    world: World, shared_relay: SharedRelay
) -> None:
    later = DAY + timedelta(days=3)
    finds(world, "driving", EXAM, kind="event", valid_from=str(DAY), times=1)
    answer = await says(world, "My driving test is in twenty days, and I am quite nervous.", "Good luck!")
    await press(world, await with_button(world, answer, "⏰ Remind me?"), "⏰ Remind me?")
    await press(world, await with_button(world, answer, " 18:00"), " 18:00")
    await with_button(world, answer, "⏰ Undo")

    def decide(request: Recorded) -> Any:
        line = next(line for line in request.last_text.splitlines() if EXAM in line and line[:1].isdigit())
        return tool("settle", {"decisions": [{"new": 1, "is": "contradicts", "known": int(line.split()[0])}]})

    world.model.rule("driving test", decide, model=SETTLE)
    finds(world, "postponed", f"Ada's driving test is on {later}.", kind="event", valid_from=str(later))
    moved = await says(world, "They postponed my driving test by three whole days.", "More time to practise!")
    shown = await with_button(world, moved, "⏰ Move the reminder")
    assert "the reminder for it stays" in shown.text
    await press(world, shown, "⏰ Move the reminder")
    await with_button(world, moved, "⏰ Undo")
    eve = datetime(later.year, later.month, later.day, 18, tzinfo=BERLIN) - timedelta(days=1)
    assert reminders(shared_relay, world, "next_at", "active") == [(eve,)]
    await world.tg.wait_for(lambda: "the reminder for it stays" not in shown.text, 20)
    was = datetime(DAY.year, DAY.month, DAY.day, 18, tzinfo=BERLIN) - timedelta(days=1)
    for at in (was, eve):  # undone, and moved again
        await press(world, await with_button(world, moved, "⏰ Undo"), "⏰ Undo")
        assert reminders(shared_relay, world, "next_at", "active") == [(at,)]


async def test_an_event_with_a_time_of_day_offers_an_hour_before(world: World, shared_relay: SharedRelay) -> None:
    finds(world, "driving", EXAM, kind="event", valid_from=str(DAY), time="14:30")
    answer = await says(world, "My driving test is in twenty days at 14:30, and I am nervous.", "Good luck!")
    shown = await with_button(world, answer, "⏰ Remind me?")
    await press(world, shown, "⏰ Remind me?")
    times = await with_button(world, answer, " 9:00")
    offered = [one for one in times.buttons if one.startswith("⏰")]
    assert (len(offered), offered[-1]) == (3, f"⏰ {DAY:%a} {DAY.day} {DAY:%b} 13:30 (an hour before)")
    assert reminders(shared_relay, world) == [], "nothing is set by itself"
    await press(world, times, "an hour before")
    await with_button(world, answer, "⏰ Undo")
    assert reminders(shared_relay, world, "next_at") == [
        (datetime(DAY.year, DAY.month, DAY.day, 13, 30, tzinfo=BERLIN),)
    ]


async def test_a_time_that_nobody_said_offers_no_hour_before(world: World) -> None:
    finds(world, "driving", EXAM, kind="event", valid_from=str(DAY), time="09:00")
    answer = await says(world, "My driving test is in twenty days, and I am quite nervous.", "Good luck!")
    shown = await with_button(world, answer, "⏰ Remind me?")
    await press(world, shown, "⏰ Remind me?")
    times = await with_button(world, answer, " 9:00")
    assert not any("an hour before" in one for one in times.buttons)


async def test_a_past_event_offers_no_reminder(world: World) -> None:
    finds(world, "driving", "Ada passed her driving test.", kind="event", valid_from="2020-01-01")
    answer = await says(world, "I passed my driving test back in 2020, on the first try.", "Well done!")
    shown = await told(world, answer, "passed her driving test")
    assert list(shown.buttons) == ["↩ Undo / Edit…", "◆ Keep this"]


async def test_an_event_that_was_undone_offers_no_reminder_any_more(world: World) -> None:
    finds(world, "driving", EXAM, kind="event", valid_from=str(DAY))
    answer = await says(world, "My driving test is in twenty days, and I am quite nervous.", "Good luck!")
    shown = await with_button(world, answer, "⏰ Remind me?")
    await press(world, shown, "Undo / Edit…")
    await press(world, await with_button(world, answer, "↩ Undo: "), "↩ Undo: ")
    await world.tg.wait_for(lambda: "⏰ Remind me?" not in shown.buttons)


async def test_a_forgotten_goal_can_no_longer_become_a_reminder(world: World, shared_relay: SharedRelay) -> None:
    finds(world, "thesis", "Ada wants to hand in her thesis.", kind="goal", deadline=str(DAY))
    answer = await says(world, "I want to hand in my thesis in twenty days, whatever it takes.", "You will!")
    shown = await with_button(world, answer, "⏰ Remind me?")
    shared_relay.sql(
        "update relay.memory set status = 'forgotten'"
        " where space_id = (select id from relay.space where owner_id = %s)",
        world.owner.id,
    )
    assert "I no longer know about it" in await world.tg.tap(world.dm, world.owner, shown, "⏰ Remind me?")
    assert reminders(shared_relay, world) == []
