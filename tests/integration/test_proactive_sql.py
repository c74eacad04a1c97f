"""Tests proactive model calls: only if something is new, the person is there, and the day's budget allows it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Container
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from relay.core.errors import NO_MODEL, ModelAccountError
from relay.core.models import ModelRequest, Step
from relay.core.spending.charge import ChargedUse
from relay.core.spending.prices import Prices
from relay.jobs.proactive import heartbeat_kind, reminder_kind
from relay.jobs.runner import Runner
from relay.memory.proactive.looking import Limits, Lookout, explain_closed
from relay.memory.rows.proactive.heartbeat import GateState
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.test_erase_sql import erase
from tests.integration.test_reminder_sql import due, make, queued
from tests.integration.turn_driver import ADA, BEN, BOT, GROUP, TurnDriver, private

USAGE = {"input_tokens": 900, "output_tokens": 40}
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


class Looker:
    """A model with given answers, each a message or nothing."""

    def __init__(self, **answer: object) -> None:
        self.answers = [answer]
        self.asked: list[ModelRequest] = []

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        self.asked.append(request)
        given = self.answers[min(len(self.asked), len(self.answers)) - 1]
        block = {"type": "tool_use", "id": "toolu_1", "name": "notify", "input": given}
        return Step([block], "tool_use", USAGE, request.model)


def lookout(store: Store, model: Looker, budget: float = 0.10, allowed: Container[int] = (ADA,)) -> Lookout:
    return Lookout(store, Gate(model, store), "small", "big", Limits(7, budget, Prices()), lambda: allowed)


async def beat(store: Store, sql: Sql, out: Lookout) -> None:
    """Runs the next check."""
    await sql("update heartbeat set next_at = now()")
    await sql("update job set due_at = now() where kind = 'heartbeat'")
    await Runner(store, [heartbeat_kind(out, BOT.id)], BOT.id).run_due("heartbeat")


async def turn_on(store: Store, **change: object) -> None:
    given = {
        "user_id": ADA, "bot_id": BOT.id, "chat_id": ADA, "every_hours": 4, "from_hour": 0, "to_hour": 24,
        "zone": "UTC", "checklist": "my parcels", "next_at": datetime.now(UTC).isoformat(), "status": "on",
    }  # fmt: skip
    await store.set_heartbeat(private(ADA), **(given | change))


async def outcome(store: Store) -> str:
    found = await store.heartbeat(private(ADA))
    assert found is not None
    return found.outcome


async def test_no_model_is_asked_in_an_idle_week(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Hello")
    await turn_on(store)
    model = Looker(send=True, text="Hey!")
    for _ in range(42):
        await beat(store, sql, lookout(store, model))
    assert model.asked == []
    assert await outcome(store) == "nothing was new"
    assert await queued(sql) == []


async def test_new_messages_are_looked_at_once_within_the_token_limit(
    store: Store, sql: Sql, driver: TurnDriver
) -> None:
    await turn_on(store)
    await driver.exchange(ADA, "My parcel from Lyon comes on Friday. ")
    for _ in range(40):
        await driver.exchange(ADA, "word " * 300)
    model = Looker(send=True, text="Your parcel comes on Friday.")
    await beat(store, sql, lookout(store, model))
    await beat(store, sql, lookout(store, model))
    assert await queued(sql) == ["💓 Your parcel comes on Friday."]
    [request] = model.asked
    assert request.model == "small"
    said = json.dumps([request.system, request.messages, request.tools])
    assert "my parcels" in said
    assert len(said.encode()) / 4 < 2_000
    assert await outcome(store) == "nothing was new"


@pytest.mark.parametrize("foreign", [True, False])
async def test_a_message_based_on_others_words_is_tainted(
    store: Store, sql: Sql, driver: TurnDriver, foreign: bool
) -> None:
    """The message becomes part of the thread. If it contains others' words, it taints the next turn."""
    await turn_on(store)
    await driver.exchange(ADA, "The train strike is on Friday")
    await sql("update message set untrusted = %s where role = 'user'", foreign)
    await due(sql, await make(store, "news about my train", kind="check"))
    out = lookout(store, Looker(send=True, text="There is a strike."))
    await Runner(store, [reminder_kind(out, BOT.id)], BOT.id).run_due("reminder")
    await beat(store, sql, out)
    rows = await sql("select started_by, tainted from message where started_by is not null order by id")
    assert rows == [("reminder", foreign), ("heartbeat", foreign)]


async def test_a_reminder_based_on_others_words_is_tainted(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Hello")
    made = await make(store, "Send the gold", proposed=True)
    await store.change_reminder(made.id, "changed", ADA, made.next_at, status="active")
    await due(sql, made)
    await Runner(store, [reminder_kind(lookout(store, Looker()), BOT.id)], BOT.id).run_due("reminder")
    assert await sql("select text, tainted from message where started_by = 'reminder'") == [("⏰ Send the gold", True)]


async def test_nothing_is_sent_if_the_model_has_nothing_to_say(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await turn_on(store)
    await driver.exchange(ADA, "I like tea")
    await beat(store, sql, lookout(store, Looker(send=False)))
    assert await queued(sql) == []
    assert await outcome(store) == "nothing to say"


async def test_a_heartbeat_reads_days_and_times_in_the_persons_zone(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await turn_on(store, zone="Asia/Tokyo")
    await driver.exchange(ADA, "I have to be at the dentist tomorrow")
    evening = datetime.now(UTC).replace(hour=20) - timedelta(days=2)
    await sql("update message set created_at = %s", evening)
    at = datetime.now(UTC) + timedelta(hours=2)
    await make(store, "the dentist", next_at=at)
    model = Looker(send=False)
    await beat(store, sql, lookout(store, model))
    said = model.asked[0].messages[0]["content"][0]["text"]
    assert f"({evening + timedelta(hours=9):%A, %Y-%m-%d})\n" in said
    assert f"- the dentist ({at.astimezone(ZoneInfo('Asia/Tokyo')):%Y-%m-%d %H:%M})" in said


async def test_what_was_said_while_the_heartbeat_was_off_is_not_new(store: Store, sql: Sql, driver: TurnDriver) -> None:
    model = Looker(send=True, text="Parcel")
    await turn_on(store)
    await driver.exchange(ADA, "My parcel comes today")
    await beat(store, sql, lookout(store, model))
    await store.set_heartbeat(private(ADA), status="off")
    await driver.teach(ADA, "Ada's parcel comes on Friday")
    await make(store, "the parcel", next_at=datetime.now(UTC) + timedelta(hours=3))
    await turn_on(store)
    await beat(store, sql, lookout(store, model))
    assert len(model.asked) == 1
    assert await outcome(store) == "nothing was new"
    await driver.exchange(ADA, "Another parcel comes tomorrow")
    await turn_on(store, every_hours=5)
    await beat(store, sql, lookout(store, model))
    assert len(model.asked) == 2


async def test_an_unsure_small_model_asks_the_big_one_once(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await turn_on(store)
    await driver.exchange(ADA, "I like tea")
    model = Looker(send=False, unsure=True)
    model.answers.append({"send": True, "text": "Tea is out.", "unsure": True})
    await beat(store, sql, lookout(store, model))
    assert [one.model for one in model.asked] == ["small", "big"]
    assert await queued(sql) == ["💓 Tea is out."]


async def test_a_closed_gate_is_recorded_and_news_waits(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await turn_on(store)
    await driver.exchange(ADA, "My parcel comes")
    model = Looker(send=True, text="Parcel")
    await beat(store, sql, lookout(store, model, budget=0.0))
    assert model.asked == []
    assert "is used up" in await outcome(store)
    await beat(store, sql, lookout(store, model))
    assert await queued(sql) == ["💓 Parcel"]


async def test_no_model_is_asked_for_a_person_who_was_revoked(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await turn_on(store)
    await driver.exchange(ADA, "My parcel comes")
    model = Looker(send=True, text="Parcel")
    await beat(store, sql, lookout(store, model, allowed=()))
    assert model.asked == []
    assert await outcome(store) == "you no longer have access"


async def test_what_was_noted_before_a_closed_gate_is_still_new(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Hello")
    await turn_on(store)
    await driver.teach(ADA, "Ada's parcel comes on Friday")
    model = Looker(send=False)
    for budget in (0.0, 0.0, 0.10):
        await beat(store, sql, lookout(store, model, budget=budget))
    said = model.asked[0].messages[0]["content"][0]["text"]
    assert "Noted since:\n- Ada's parcel comes on Friday" in said
    await driver.exchange(ADA, "Thanks")
    await beat(store, sql, lookout(store, model))
    assert "Noted since" not in model.asked[1].messages[0]["content"][0]["text"]


async def test_what_could_not_be_sent_is_in_no_later_prompt(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await turn_on(store)
    await driver.exchange(ADA, "My parcel comes today")
    await beat(store, sql, lookout(store, Looker(send=True, text="Your parcel comes today.")))
    [turn] = [turn for turn in (await store.claim(BOT.id, 50))[0] if turn.message]
    assert await store.end_reminders(turn.turn_id, []) == 0
    assert await sql("select status from message where started_by = 'heartbeat'") == [("replaced",)]


async def test_erasing_clears_the_checklist_and_leaves_the_heartbeat_on(store: Store, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "The zanzibarix flies", "Does it?")
    await turn_on(store, checklist="news of the zanzibarix")
    await erase(store, private(ADA), {"words": "zanzibarix"})
    found = await store.heartbeat(private(ADA))
    assert found is not None
    assert (found.status, found.checklist) == ("on", "")


async def test_a_switched_off_heartbeat_asks_no_model(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await turn_on(store)
    await driver.exchange(ADA, "My parcel comes")
    await store.set_heartbeat(private(ADA), status="off")
    model = Looker(send=True, text="Parcel")
    await beat(store, sql, lookout(store, model))
    assert model.asked == []
    assert await sql("select 1 from job where kind = 'heartbeat'") == []


def cents(number: int) -> ChargedUse:
    return ChargedUse("claude-haiku-4-5", number * 10_000, 0, 0, 0, 0, True)


GATES = [
    ({}, ""),
    ({"quiet_until": NOON + timedelta(hours=1)}, "quiet is on"),
    ({"now": NOON.replace(hour=7, minute=59)}, "outside 8:00–21:00"),
    ({"now": NOON.replace(hour=21)}, "outside 8:00–21:00"),
    ({"said_at": None}, "you haven't written for 7 days"),
    ({"said_at": NOON - timedelta(days=7, seconds=1)}, "you haven't written for 7 days"),
    ({"answering": True}, "I was writing an answer"),
    ({"spent": [cents(1), cents(9)]}, "today's budget of $0.10 for this is used up"),
]


@pytest.mark.parametrize(("change", "why"), GATES)
def test_each_gate_explains_why_it_is_closed(change: dict[str, object], why: str) -> None:
    given = {"now": NOON, "said_at": NOON, "answering": False, "quiet_until": None, "spent": ()} | change
    assert explain_closed(GateState(**given), Limits(7, 0.10, Prices()), UTC) == why  # type: ignore[arg-type]


async def test_a_check_sends_only_what_the_model_found(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "The train strike is on Friday")
    for model, told in [
        (Looker(send=False), []),
        (Looker(send=True, text="There is a strike."), ["🔎 There is a strike."]),
    ]:
        made = await make(store, f"news about my train {len(told)}", kind="check")
        await due(sql, made)
        await Runner(store, [reminder_kind(lookout(store, model), BOT.id)], BOT.id).run_due("reminder")
        assert await queued(sql) == told
        opened = await store.reminder(private(ADA), ADA, made.id)
        assert opened is not None
        assert opened.events[0].detail == (None if told else "nothing to say")
        assert opened.status == "ended"
        assert "train strike" in json.dumps(model.asked[0].messages)


async def test_a_check_that_may_not_be_made_now_is_tried_again(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Hello")
    made = await make(store, "news", kind="check")
    await due(sql, made)
    for budget, said in ((0.0, []), (0.10, ["🔎 It is open."])):
        out = lookout(store, Looker(send=True, text="It is open."), budget=budget)
        await Runner(store, [reminder_kind(out, BOT.id)], BOT.id).run_due("reminder")
        assert await queued(sql) == said
        await sql("update reminder set next_at = now()")
        await sql("update job set due_at = now() where kind = 'reminder'")
    opened = await store.reminder(private(ADA), ADA, made.id)
    assert opened is not None
    assert [one.kind for one in opened.events] == ["fired", "looked", "made"]


async def test_what_others_say_in_a_group_does_not_count_as_the_persons_words(
    store: Store, sql: Sql, driver: TurnDriver
) -> None:
    await driver.exchange(ADA, "Bye", chat_id=GROUP)
    await sql("update message set created_at = now() - interval '30 days'")
    await driver.exchange(BEN, "Hello", chat_id=GROUP)
    [(space,)] = await sql("select distinct space_id from message")
    state = await store.proactive_gate(space, ADA, datetime.now(UTC))
    assert state.said_at is not None
    assert state.now - state.said_at > timedelta(days=29)


async def test_checks_do_not_delay_ordinary_reminders(store: Store, sql: Sql, driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Hello")
    for number in range(9):
        await due(sql, await make(store, f"news {number}", kind="check"))
    await due(sql, await make(store, "Tea"))
    at_once, most, told = 0, 0, []

    class Slow(Looker):
        async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
            nonlocal at_once, most
            told.append(await queued(sql))
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(0.02)
            at_once -= 1
            return await super().reply(request, on_text)

    model = Slow(send=False)
    while await Runner(store, [reminder_kind(lookout(store, model), BOT.id)], BOT.id).run_due("reminder"):
        pass
    assert len(model.asked) == 9
    assert most <= 4
    assert told == [["⏰ Tea"]] * 9


async def test_a_slow_check_in_one_chat_delays_no_reminder_of_another(
    store: Store, sql: Sql, driver: TurnDriver
) -> None:
    await driver.exchange(ADA, "Hello")
    await due(sql, await make(store, "news", kind="check"))
    asked, answer, told = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def send_queued() -> None:
        told.set()

    class Slow(Looker):
        async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
            asked.set()
            await answer.wait()
            return await super().reply(request, on_text)

    kind = reminder_kind(lookout(store, Slow(send=True, text="Strike")), BOT.id, send_queued)
    telling = asyncio.create_task(Runner(store, [kind], BOT.id).run_due("reminder"))
    async with asyncio.timeout(20):
        await asked.wait()
        await due(sql, await make(store, "Tea", BEN))
        await told.wait()
        assert await queued(sql) == ["⏰ Tea"]
        answer.set()
        assert await telling == 2
    assert await queued(sql) == ["⏰ Tea", "🔎 Strike"]


@pytest.mark.parametrize(
    ("trouble", "why"),
    [(TimeoutError(), "The model took longer"), (ModelAccountError("Look at ANTHROPIC_API_KEY."), NO_MODEL)],
)
async def test_a_check_without_a_model_is_retried_and_delays_nothing(
    store: Store, sql: Sql, driver: TurnDriver, trouble: Exception, why: str
) -> None:
    await driver.exchange(ADA, "Hello")
    made = await make(store, "news", kind="check")
    await due(sql, made)
    await due(sql, await make(store, "Tea"))

    class Away(Looker):
        async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
            raise trouble

    await Runner(store, [reminder_kind(lookout(store, Away()), BOT.id)], BOT.id).run_due("reminder")
    assert await queued(sql) == ["⏰ Tea"]
    opened = await store.reminder(private(ADA), ADA, made.id)
    assert opened is not None
    assert opened.status == "active"
    assert opened.next_at is not None
    assert (opened.events[0].detail or "").startswith(f"the model couldn't be asked: {why}")
    assert timedelta(minutes=25) < opened.next_at - datetime.now(UTC) < timedelta(minutes=31)
