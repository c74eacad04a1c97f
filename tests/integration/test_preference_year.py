"""Tests ten people with sixty turns each over a year: daily, prompts match a second implementation of their acts."""

from __future__ import annotations

from datetime import timedelta
from heapq import heapify, heappop, heappush
from random import Random

import pytest

from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.preference_acts import Life
from tests.integration.preference_cast import HABITS, TURNS
from tests.preference_ledger import moments

pytest.importorskip("numpy")
DAY = timedelta(days=1)

SEED = 4
WATCHED = 0.15
"""The share of acts that are checked when their effect fades and when it ends."""


def calendar(rng: Random) -> list[timedelta]:
    """Returns when a person writes: mostly several turns on a day, some days apart, and once after months."""
    away, pauses = rng.randrange(TURNS), [rng.choice([0.01, 0.02, 0.3, 1, 9, 16]) for _ in range(TURNS)]
    pauses[away] = rng.choice([60, 95, 100, 190])
    scale = min(1.0, 364 / sum(pauses))
    return [timedelta(days=scale * sum(pauses[: number + 1])) for number in range(TURNS)]


OTHER = pytest.mark.slow("the first two people, test_preference_fold.py, and test_preference_attribution.py")


@pytest.mark.slow("test_preference_fold.py, test_preference_estimates.py and test_preference_attribution.py")
@pytest.mark.parametrize(
    "number", [pytest.param(number, marks=OTHER if number else ()) for number in range(len(HABITS) // 2)]
)
async def test_prompts_match_what_people_taught_on_each_day_of_a_year(store: Store, sql: Sql, number: int) -> None:
    year = Life(store, sql, SEED, (number, number + len(HABITS) // 2))
    people, start = list(year.people.values()), await year.now()
    todo = [(start + at, one.user_id, True) for one in people for at in calendar(one.rng)]
    todo += [(start + DAY * day, people[day % 2].user_id, False) for day in range(1, 366)]
    heapify(todo)
    while todo:
        at, user_id, talks = heappop(todo)
        person, now = year.people[user_id], await year.now()
        if at > now:
            await year.wait(at - now)
        known = len(person.ledger.acts)
        if talks:
            await year.turn(person)
        await year.look(*(people if talks else [person]))
        for watched in moments([act for act in person.ledger.acts[known:] if person.rng.random() < WATCHED]):
            if watched < start + 365 * DAY:
                heappush(todo, (watched, user_id, False))
    assert year.compared > 900
    assert year.shown > 100
