"""Simulates a year in a test's database: time passes, people get answers, and the preferences in prompts are compared
with the expected ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from relay.commands.context import CommandContext
from relay.conversation.preference_layer import preference_layer
from relay.jobs.learning import attribution_kind, estimating_kind
from relay.jobs.runner import Runner
from relay.memory.preferences.attribution import Attributor
from relay.memory.rows.turns.preferences import Preference
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.edits import posted
from tests.integration.preference_cast import FIRST, Answered, Person, Reader, made_of, somebody
from tests.integration.turn_driver import BOT, TurnDriver, a_house, dm, incoming_of, message, private, reply
from tests.preference_ledger import Act, Observed, numbered
from tests.preference_selection import Stands, select

TOPIC = 5
SETTLED = timedelta(seconds=31)
SHIFT = """
with passed as (select %s::interval as by),
feedback as (
    update feedback set at = at - by, settles_at = settles_at - by, withdrawn_at = withdrawn_at - by from passed),
observation as (update observation set at = at - by from passed),
decision as (update preference_decision set at = at - by from passed),
preference as (update preference set last_seen = last_seen - by from passed),
thread as (update thread set last_at = last_at - by from passed)
update job set due_at = due_at - by from passed where kind = 'preference'"""
SHOWN = """
select t.chat_id, t.topic_id, t.id, now(), relay.preferences_for_prompt(t, t.chat_id, null)::text
from thread t where t.chat_id = any (%s) order by 1, 2"""
ROWS = TypeAdapter(tuple[Preference, ...])


class Year:
    """A year on a database. For each day that passes, everything stored is moved back in time."""

    def __init__(self, store: Store, sql: Sql, seed: int, numbers: Iterable[int]) -> None:
        self.store, self.sql = store, sql
        self.driver, self.services = TurnDriver(store), a_house(store)
        attributor = Attributor(store, Gate(Reader(), store), "small")
        self.runner = Runner(store, [attribution_kind(attributor), estimating_kind(store)])
        self.passed = timedelta()
        self.people = {FIRST + number: somebody(number, seed) for number in numbers}
        self.threads: dict[tuple[int, int], int] = {}
        self.unsettled = False
        """An act was just done whose effects may not be known yet."""
        self.compared = self.shown = self.clock = self.waits = 0

    # Time

    async def wait(self, time: timedelta) -> None:
        """Lets time pass, and does what has become due."""
        self.unsettled = self.unsettled and time < SETTLED
        await self.sql(SHIFT, time)
        self.passed += time
        self.waits += 1
        if self.waits % 50 == 0:
            await self.sql("vacuum feedback, observation, preference_decision, preference, thread, job")
        await self.runner.run_due("preference")
        await self.runner.run_due("estimate")

    async def settle(self) -> None:
        """Waits until the effects of the last act are known."""
        if self.unsettled:
            await self.wait(SETTLED)

    async def now(self) -> datetime:
        ((now,),) = await self.sql("select now()")
        return now + self.passed

    # What prompts show

    async def look(self, *people: Person) -> None:
        """Compares the preferences in these people's next prompts, in each of their threads, with the expected ones."""
        await self.settle()
        for user_id, topic, thread, now, rows in await self.sql(SHOWN, [one.user_id for one in people]):
            await self.compare(self.people[user_id], topic, thread, now + self.passed, ROWS.validate_json(rows))

    async def compare(self, person: Person, topic: int, thread: int, now: datetime, rows: Sequence[Preference]) -> None:
        """Compares the preferences that a prompt shows with what the person's acts add up to."""
        stands = person.ledger.stands(None, now) + (person.ledger.stands(thread, now) if topic else [])
        numbers = {(row.here, (row.type, row.pattern), row.polarity): row.id for row in rows}
        unknown = {(row.here, (row.type, row.pattern), row.polarity) for row in stands if row.strength >= 0.4}
        assert unknown <= numbers.keys(), f"missing for {person.user_id}: {unknown - numbers.keys()}"
        known = [row for row in stands if (row.here, (row.type, row.pattern), row.polarity) in numbers]
        expected = [facts(row) for row in select(numbered(known, numbers))]
        shown = [facts(row) for row in preference_layer(rows).shown]
        assert shown == expected, f"{person.user_id} on {now}"
        self.compared += 1
        self.shown += len(shown)

    # A turn

    async def answer(self, person: Person, topic: int, **more: Any) -> Answered:
        """Runs a question and its answer. `over`: the answer that it replaces; `again`: how."""
        await self.settle()
        over: Answered | None = more.pop("over", None)
        again = more.pop("again", None)
        (turn,) = await self.driver.say(message(person.user_id, "And now?", topic_id=topic))
        incoming = incoming_of(turn, "And now?", private(person.user_id), retry=bool(over))
        if over:
            incoming = replace(incoming, retry_turn=over.turn.turn_id, replaces=True, brings_back=again == "back")
        context = await self.store.begin(incoming, "m")
        ((session, thread, now),) = await self.sql(
            "select session_id, thread_id, now() from turn where id = %s", turn.turn_id
        )
        await self.begun(person, topic, thread)
        await self.compare(person, topic, thread, now + self.passed, context.preferences)
        made = more.pop("made", None) or person.rng.sample(person.made_of, person.rng.randint(1, 3))
        tainted = person.rng.random() < 0.1
        told = reply(made_of(made), tainted=tainted) | more
        await self.store.finish(incoming, told | ({"again": again} if again else {}))
        self.clock += 1
        await posted(self.store, turn, 70_000 + self.clock, chat_id=person.user_id)
        scope = thread if topic else None
        answered = Answered(turn, incoming, made, tainted, session, scope, 70_000 + self.clock, over)
        person.answers.append(answered)
        return answered

    async def begun(self, person: Person, topic: int, thread: int) -> None:
        """Gives the topic of each person preferences of its own, when it is first used."""
        if (person.user_id, topic) not in self.threads:
            self.threads[person.user_id, topic] = thread
            if topic:
                await self.store.preference_control(dm(person.user_id, topic), person.user_id, {"here": "own"})

    def context(self, answered: Answered) -> CommandContext:
        """Returns the context of a command in the thread of an answer."""
        incoming = answered.incoming
        self.clock += 1
        turn = replace(answered.turn, turn_id=1_000_000 + self.clock)

        async def no() -> bool:
            return False

        async def sees(_: object) -> bool:
            return True

        return CommandContext(
            self.services, turn, BOT.id, incoming.space, incoming.chat_id, incoming.topic_id, True,
            incoming.user_id, incoming.name, False, no, sees,
        )  # fmt: skip

    async def keep(self, person: Person, kind: str, answered: Answered, observed: list[Observed], **more: Any) -> Act:
        """Records the act that was just stored in the ledger."""
        ((number, at, session, stored),) = await self.sql(
            "select id, at, session_id, kind from feedback where user_id = %s order by id desc limit 1", person.user_id
        )
        assert stored == kind
        turn = None if kind == "said" else answered.turn.turn_id
        act = Act(number, kind, turn, at + self.passed, session, answered.scope, observed, **more)
        before = [one for one in person.ledger.acts if one.number == number]
        assert all(one.withdrawn for one in before), "the act must be new or replace one that was just withdrawn"
        person.ledger.acts = [one for one in person.ledger.acts if one not in before]
        person.ledger.add(act)
        return act


def facts(row: Stands | Preference) -> tuple[str, str, int, float, int, bool]:
    """Returns the compared fields of a preference."""
    level = row.level if isinstance(row.level, int) else ("low", "medium", "high").index(row.level)
    return row.type, row.pattern, row.polarity, round(row.strength, 4), level, row.here
