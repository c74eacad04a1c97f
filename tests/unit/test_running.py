"""Which messages join a running turn."""

from __future__ import annotations

from typing import Any

import pytest

from relay.memory.claims import ClaimedTurn
from relay.surfaces.telegram.parsing.updates import message_of, updates_of
from relay.surfaces.telegram.turns.running import RunningTurn, RunningTurns
from tests.telegram_objects import as_message
from tests.updates import ADA, BEN

Json = dict[str, Any]
GROUP, TOPIC = -1001, 7


def said(number: int, text: str = "hi", **more: Any) -> Json:
    chat = {"id": GROUP, "type": "supergroup"}
    place = {"chat": chat, "message_thread_id": TOPIC, "is_topic_message": True}
    return {"message_id": number, "date": 9, "from": {"id": ADA}, "text": text, **place, **more}


def running(**begun: Any) -> tuple[RunningTurns, RunningTurn]:
    """Returns the running turns, of which Ada's answers one message."""
    turn = ClaimedTurn(1, 1, "message", "working", 0, ADA, ({"update_id": 1, "message": said(1, **begun)},), ())
    run = RunningTurn(turn, GROUP, TOPIC, message_of(updates_of(turn)[-1]))
    runs = RunningTurns()
    runs.add(run)
    return runs, run


LONG = {"text": "x" * 4096}


@pytest.mark.parametrize(
    ("begun", "late", "joins"),
    [
        ({}, said(2, forward_date=1), True),
        ({}, said(3, forward_date=1), True),
        ({}, said(4, forward_date=1), False),
        ({}, said(2, date=12, forward_date=1), False),
        ({}, said(2), False),
        ({}, said(2, forward_date=1, message_thread_id=8), False),
        (LONG, said(2), True),
        (LONG, said(4), False),
        (LONG, said(2, date=15), False),
        ({"media_group_id": "5"}, said(9, media_group_id="5"), True),
        ({"media_group_id": "5"}, said(2, media_group_id="6"), False),
    ],
)
def test_what_continues_the_message_of_a_turn_joins_it(begun: Json, late: Json, joins: bool) -> None:
    runs, run = running(**begun)
    assert runs.join(as_message(late), ADA) is joins
    assert run.join.is_set() is joins
    assert runs.join(as_message(late), BEN) is False


@pytest.mark.parametrize(("begun", "more"), [({}, {"forward_date": 1}), (LONG, LONG)])
def test_each_part_may_follow_the_one_before(begun: Json, more: Json) -> None:
    runs, run = running(**begun)
    assert [runs.join(as_message(said(number, **more)), ADA) for number in (2, 4, 6, 9)] == [True, True, True, False]
    run.closed = True
    assert not runs.join(as_message(said(7, **more)), ADA)


def test_after_a_while_only_parts_of_an_album_join() -> None:
    runs, run = running(**LONG, media_group_id="5")
    run.started -= 3
    assert not runs.join(as_message(said(2)), ADA)
    assert runs.join(as_message(said(2, media_group_id="5")), ADA)
    run.started -= 10
    assert not runs.join(as_message(said(2, media_group_id="5")), ADA)
