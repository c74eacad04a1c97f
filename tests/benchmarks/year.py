"""The cost of a year in which Relay speaks first: for a person who writes every day, and for one who never does."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from datetime import UTC, datetime

import psycopg

from relay.core.models import ModelRequest, Step
from relay.core.spending.prices import LISTED, Prices
from relay.jobs.proactive import heartbeat_kind, reminder_kind
from relay.jobs.runner import Runner
from relay.memory.proactive.looking import Limits, Lookout
from relay.memory.rows.proactive.reminders import NewReminder
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from tests.benchmarks.lab import Lab, Row
from tests.benchmarks.opened import open_store
from tests.integration.turn_driver import ADA, BEN, BOT, TurnDriver, private

SMALL, BIG = "claude-haiku-5-5", "claude-sonnet-5-5"
ANSWERED = 40
"""Tokens of an answer."""
LOOKS = 4
"""Heartbeats a day: every 4 hours from 8 to 21."""
SAID = 10
"""Reminders a day that don't ask the model."""
MESSAGES = ("The plumber comes on Thursday at ten.", "I still have to answer Eva about the lease.",
            "The parcel from Lyon is late again.", "Dinner with Tom was nice.")  # fmt: skip
CHECKLIST = "Parcels, appointments of the day, and answers that I owe somebody."
DUE = {
    "heartbeat": b"update relay.heartbeat set next_at = now() where user_id = %s",
    "reminder": b"update relay.reminder set next_at = now() where user_id = %s",
}
DAY_PASSES = """
    update relay.outbox set created_at = created_at - interval '1 day', status = 'sent'
    where created_at > now() - interval '1 day';
    update relay.spend set at = at - interval '1 day' where at > now() - interval '1 day'"""


class Counting:
    """A model that finds nothing to say and counts the tokens of its requests."""

    def __init__(self) -> None:
        self.tokens: list[int] = []

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        sent = json.dumps([request.system, request.messages, request.tools])
        self.tokens.append(len(sent.encode()) // 4)
        block = {"type": "tool_use", "id": "toolu_1", "name": "notify", "input": {"send": False}}
        return Step([block], "tool_use", {"input_tokens": self.tokens[-1], "output_tokens": ANSWERED}, request.model)


class Year:
    """A person's year. Time passes by moving the stored times."""

    def __init__(self, store: Store, connection: psycopg.Connection, model: Counting, small: str, big: str) -> None:
        self.store, self.model, self.driver = store, model, TurnDriver(store)
        self._connection = connection
        lookout = Lookout(store, Gate(model, store), small, big, Limits(7, 0.10, Prices()), lambda: range(2**52))
        self._runner = Runner(store, [heartbeat_kind(lookout, BOT.id), reminder_kind(lookout, BOT.id)], BOT.id)

    async def turn_on(self, user: int) -> None:
        """Turns a person's heartbeat on, at any hour, since the wall clock doesn't move."""
        await self.store.set_heartbeat(
            private(user), user_id=user, bot_id=BOT.id, chat_id=user, every_hours=4, from_hour=0, to_hour=24,
            zone="UTC", checklist=CHECKLIST, next_at=datetime.now(UTC).isoformat(), status="on",
        )  # fmt: skip

    async def remind(self, user: int, text: str, kind: str) -> None:
        now = datetime.now(UTC)
        new = NewReminder(
            space=private(user), bot_id=BOT.id, chat_id=user, topic_id=0, user_id=user, text=text, zone="UTC",
            start_at=now.replace(tzinfo=None, microsecond=0), next_at=now, rule="FREQ=DAILY", kind=kind,
        )  # type: ignore[arg-type]  # fmt: skip
        await self.store.make_reminder(new)

    async def run(self, kind: str, user: int) -> None:
        """Makes a person's jobs of a kind due, and runs them."""
        self._connection.execute(DUE[kind], [user])
        self._connection.execute("update relay.job set due_at = now() where kind = %s", [kind])
        await self._runner.run_due(kind)

    async def day(self, user: int, busy: bool) -> None:
        for look in range(LOOKS):
            if busy:
                await self.driver.exchange(user, MESSAGES[look])
            await self.run("heartbeat", user)
        if busy:
            await self.run("reminder", user)
        self._connection.execute(DAY_PASSES.encode())


async def year(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Measures the idle person's year, then the busy one's."""
    async with open_store(lab.folder / "data") as (store, url):
        with psycopg.connect(url, autocommit=True) as connection:
            return [
                *await live(store, connection, BEN, options.days, busy=False),
                *await live(store, connection, ADA, options.days, busy=True),
            ]


async def live(store: Store, connection: psycopg.Connection, user: int, days: int, busy: bool) -> list[Row]:
    """Runs this many days of a person. Returns their cost."""
    model = Counting()
    life = Year(store, connection, model, SMALL, BIG)
    await life.driver.exchange(user, "Hello")
    await life.turn_on(user)
    if busy:
        for number in range(SAID):
            await life.remind(user, f"Pill {number}", "say")
        await life.remind(user, "Is there news of the parcel from Lyon?", "check")
    for _ in range(days):
        await life.day(user, busy)
    connection.execute("update relay.heartbeat set status = 'off'")
    told = connection.execute(
        "select count(*) from relay.reminder_event e join relay.reminder r on r.id = e.reminder_id"
        " where r.user_id = %s and e.kind = 'fired'", [user]
    ).fetchone()  # fmt: skip
    who = "busy" if busy else "idle"
    calls, tokens = len(model.tokens), sum(model.tokens)
    price = LISTED[SMALL]
    dollars = (tokens * price.input + calls * ANSWERED * price.output) / 1_000_000
    bound = days * (LOOKS + 1) if busy else 0
    return [
        Row(f"{who} person, {days} days: model calls", f"≤ {bound}", f"{calls}", calls <= bound),
        Row("input tokens (largest call)", "≤ 2,000 a call" if busy else "0",
            f"{tokens:,} ({max(model.tokens, default=0):,})", max(model.tokens, default=0) <= 2_000),
        Row("dollars", "≤ 0.10 a day", f"{dollars:.3f}", dollars <= 0.10 * days),
        Row("reminders told", "", f"{told[0] if told else 0}"),
    ]  # fmt: skip
