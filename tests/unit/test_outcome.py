"""What is kept from an answer, and about which person."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from relay.conversation.outcome import action_row
from relay.core.models import Incoming, Space
from relay.memory.intents import Forget, Learn, Remember

ADA = 1001
SAID = Incoming(
    1,
    1,
    9,
    ADA,
    0,
    Space("private", owner_id=ADA),
    ADA,
    "Ada",
    "Hello",
    [],
    False,
    [5],
    datetime(2026, 5, 3, tzinfo=UTC),
)


@pytest.mark.parametrize(("category", "about"), [("knowledge", None), ("identity", ADA), ("operational", ADA)])
def test_a_learning_is_about_the_speaker_unless_it_is_knowledge(category: str, about: int | None) -> None:
    """The same holds when a judge finds it."""
    row = action_row(Remember("x is y", category, ("t",)), SAID)
    assert (row.get("subject_id"), row.get("subject")) == (about, "Ada" if about else None)
    assert (row["kind"], row["category"]) == ("learning", category)


def test_a_fact_is_about_the_speaker() -> None:
    assert action_row(Learn("likes tea"), SAID)["subject_id"] == ADA
    assert action_row(Forget("tea"), SAID) == {"action": "forget", "content": "tea"}
