"""Tests how often a preference must be expressed before it counts, how doubt about it works, and how it fades."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.integration.conftest import Sql
from tests.preference_fold import Seen, fold
from tests.strategies import examples

START = datetime(2026, 1, 1, tzinfo=UTC)
WEIGHTS = {
    "tag": (Fraction(30, 100), 1),
    "refine": (Fraction(20, 100), 1),
    "compare": (Fraction(40, 100), 1),
    "revert": (Fraction(25, 100), 1),
    "accept": (Fraction(15, 100), 0),
    "thumbs": (Fraction(10, 100), 0),
    "abandon": (Fraction(2, 100), 0),
    "said": (Fraction(160, 100), 2),
}
LEVELS = ("low", "medium", "high")


def seen(kind: str, day: float = 0, session: int = 1, polarity: int = 1) -> Seen:
    weight, reinforcing = WEIGHTS[kind]
    return Seen(START + timedelta(days=day), session, polarity, weight, reinforcing, kind == "said")


async def folded(sql: Sql, history: list[Seen], idle_days: float = 0) -> list[tuple[str, int, float, str]]:
    """Folds a history in the database. Returns status, polarity, strength and level `idle_days` after its end."""
    rows = [
        {"at": one.at.isoformat(), "session_id": one.session_id, "polarity": one.polarity,
         "weight": float(one.weight), "reinforcing": one.reinforcing, "said": one.said}
        for one in history
    ]  # fmt: skip
    now = history[-1].at + timedelta(days=idle_days)
    found = await sql(
        """
        with row as (
            select jsonb_populate_record(null::relay.preference, one || jsonb_build_object('id', place)) as p
            from jsonb_array_elements(relay.fold_observations(%s::jsonb)) with ordinality as given (one, place))
        select status, polarity, strength, level from relay.preferences_at(array(select p from row), %s) order by id
        """,
        json.dumps(rows),
        now,
    )
    return [(status, polarity, float(strength), LEVELS[level]) for status, polarity, strength, level in found]


AGAINST = [seen("tag", 1, 1, -1), seen("tag", 1.1, 1, -1), seen("tag", 2, 2, -1), seen("tag", 2.1, 2, -1)]
FOUR_TAGS = [seen("tag")] * 4
EXAMPLES = {
    "a tag": ([seen("tag")], 0, [("stable", 1, 0.15, "low")]),
    "2 tags": ([seen("tag")] * 2, 0, [("stable", 1, 0.30, "low")]),
    "3 tags": ([seen("tag")] * 3, 0, [("stable", 1, 0.45, "medium")]),
    "3 tags, 2 refinements": ([seen("tag")] * 3 + [seen("refine")] * 2, 0, [("stable", 1, 0.65, "medium")]),
    "5 tags": ([seen("tag")] * 5, 0, [("stable", 1, 0.75, "high")]),
    "2 comparisons": ([seen("compare")] * 2, 0, [("stable", 1, 0.40, "medium")]),
    "4 comparisons": ([seen("compare")] * 4, 0, [("stable", 1, 0.80, "high")]),
    "20 thumbs up": ([seen("thumbs")] * 20, 0, [("stable", 1, 1.00, "low")]),
    "20 thumbs up, a tag": ([seen("thumbs")] * 20 + [seen("tag")], 0, [("stable", 1, 1.00, "medium")]),
    "said outright": ([seen("said")], 0, [("stable", 1, 0.80, "high")]),
    "contradicted once": (FOUR_TAGS + AGAINST[:1], 0, [("stable", 1, 0.60, "medium")]),
    "twice": (FOUR_TAGS + AGAINST[:2], 0, [("stable", 1, 0.48, "medium")]),
    "a third time, in another session": (FOUR_TAGS + AGAINST[:3], 0, [("stable", 1, 0.36, "low")]),
    "also where it was high": ([seen("said"), *AGAINST[:3]], 0, [("stable", 1, 0.48, "low")]),
    "a fourth": (FOUR_TAGS + AGAINST, 0, [("under_review", 1, 0.36, "low"), ("under_review", -1, 0.15, "low")]),
    "two more": (
        FOUR_TAGS + AGAINST + [seen("tag", 3, 2, -1)] * 2,
        0,
        [("stable", -1, 0.45, "medium"), ("archived", 1, 0.36, "low")],
    ),
    "four times in one session": (FOUR_TAGS + [seen("tag", 1, 1, -1)] * 4, 0, [("stable", 1, 0.48, "medium")]),
    "agreed with again": (FOUR_TAGS + AGAINST + [seen("tag", 3, 2)], 0, [("stable", 1, 0.51, "medium")]),
    "the opposite said outright": (
        [*FOUR_TAGS, seen("said", 1, 1, -1)],
        0,
        [("stable", -1, 0.80, "high"), ("archived", 1, 0.36, "low")],
    ),
    "high, 89 days idle": ([seen("said")], 89, [("stable", 1, 0.80, "high")]),
    "high, 90 days idle": ([seen("said")], 90, [("stable", 1, 0.56, "medium")]),
    "medium, 90 days idle": ([seen("tag")] * 3, 90, [("stable", 1, 0.315, "low")]),
    "180 days idle": ([seen("said")], 180, [("archived", 1, 0.80, "high")]),
    "again after 100 days": ([seen("said"), seen("tag", 100)], 0, [("stable", 1, 0.71, "medium")]),
    "again after 180 days": ([seen("said"), seen("tag", 180)], 0, [("stable", 1, 0.15, "low")]),
}


@pytest.mark.parametrize(("history", "idle", "expected"), EXAMPLES.values(), ids=EXAMPLES)
async def test_an_example_history_gives_the_expected_preference(
    sql: Sql, history: list[Seen], idle: float, expected: list[tuple[str, int, float, str]]
) -> None:
    assert await folded(sql, history, idle) == expected


ACTS = st.tuples(
    st.sampled_from(list(WEIGHTS)), st.sampled_from([0, 0.01, 1, 20, 89, 90, 100, 180]), st.integers(1, 3),
    st.sampled_from([1, 1, -1]),
)  # fmt: skip


@examples(150)
@given(acts=st.lists(ACTS, min_size=1, max_size=30), idle=st.sampled_from([0, 30, 89, 90, 179, 180]))
async def test_any_history_is_folded_by_the_rules(
    sql: Sql, acts: list[tuple[str, float, int, int]], idle: float
) -> None:
    day, history = 0.0, []
    for kind, pause, session, polarity in acts:
        day += pause
        history.append(seen(kind, day, session, polarity))
    stored = await folded(sql, history, idle)
    stands = [
        (polarity, strength, LEVELS.index(level)) for status, polarity, strength, level in stored if status == "stable"
    ]
    expected = fold(history).shown(history[-1].at + timedelta(days=idle))
    assert stands == ([expected] if expected else [])
    assert len({row[1] for row in stored}) == len(stored), "there must be one row per polarity"
