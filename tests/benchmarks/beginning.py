"""How much preferences add to the first call of a turn, which loads them with everything else a prompt needs."""

from __future__ import annotations

import argparse
import time
from typing import Any

import psycopg

from relay.memory.preferences.patterns import TYPES
from tests.benchmarks.lab import Lab, Row, median, p95
from tests.benchmarks.opened import open_store
from tests.integration.turn_driver import TurnDriver, incoming_of, private, reply

PEOPLE = {1001: 0, 1002: 20, 1003: 200}
"""The number of preferences of each person."""
LIKED = """
with said as (
    insert into relay.feedback (space_id, user_id, kind, source)
    select id, owner_id, 'said', 'command' from relay.space where owner_id = %(user)s returning *),
observed as (
    insert into relay.observation (
        feedback_id, space_id, user_id, type, pattern, polarity, weight, reinforcing, explicit, at)
    select id, space_id, user_id, %(type)s, %(pattern)s, %(polarity)s, 1.6, 2, true, at from said)
insert into relay.preference_decision (space_id, user_id, type, pattern, polarity, action)
select space_id, user_id, %(type)s, %(pattern)s, %(polarity)s, 'told' from said"""


async def beginning(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Runs turns of three people in rotation, one without preferences. Measures how much longer `begin` takes for the
    others."""
    async with open_store(lab.folder / "data") as (store, url):
        driver = TurnDriver(store)
        for user_id in PEOPLE:
            await driver.exchange(user_id, "Hello.")
        with psycopg.connect(url) as connection:
            for user_id, number in PEOPLE.items():
                like(connection, user_id, number)
        took: dict[int, list[float]] = {user_id: [] for user_id in PEOPLE}
        for number in range(options.turns + 20):
            for user_id, times in took.items():
                seconds = await timed(driver, user_id, f"What about {number}?")
                if number >= 20:
                    times.append(seconds)
    none, *others = took.values()
    rows = [Row("begin without preferences: median (p95)", "", f"{median(none):.2f} ms ({p95(none):.2f})")]
    for number, times in zip(list(PEOPLE.values())[1:], others, strict=True):
        more, more_p95 = median(times) - median(none), p95(times) - p95(none)
        measured = f"+{more:.2f} ms (+{more_p95:.2f})"
        rows.append(Row(f"begin with {number} preferences", "≤ +0.5 ms (+1)", measured, more <= 0.5 and more_p95 <= 1))
    return rows


def like(connection: psycopg.Connection[Any], user_id: int, number: int) -> None:
    """Stores this many preferences of a person, each stated explicitly and already announced as active."""
    for one in range(number):
        pattern = "pattern " + "".join(chr(97 + int(digit)) for digit in str(one))
        values = {
            "user": user_id,
            "type": TYPES[one % len(TYPES)],
            "pattern": pattern,
            "polarity": 1 - 2 * (one % 4 == 3),
        }
        connection.execute(LIKED, values)


async def timed(driver: TurnDriver, user_id: int, text: str) -> float:
    """Runs a turn and returns the seconds of its `begin`."""
    turn = await driver.turn(user_id, text)
    incoming = incoming_of(turn, text, private(user_id))
    begun = time.perf_counter()
    context = await driver.store.begin(incoming, "model-1")
    seconds = time.perf_counter() - begun
    if len(context.preferences) != min(PEOPLE[user_id], 60):
        raise RuntimeError(f"{len(context.preferences)} preferences of {PEOPLE[user_id]}")
    await driver.store.finish(incoming, reply("Yes."))
    await driver.close(turn)
    return seconds
