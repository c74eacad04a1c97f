"""What deriving again changes: only what differs, never what a person holds on to, never another person's."""

from __future__ import annotations

from dataclasses import replace

from relay.memory.calls.base import decode_row
from relay.memory.rederivation.memories import compared
from relay.memory.rows.upkeep.judging import Candidate
from relay.memory.rows.upkeep.rederivation import Candidates, DerivedMemory
from tests.judging import learned


def kept(content: str, *evidence: int, subject: int = 1, held: bool = False) -> DerivedMemory:
    return DerivedMemory(id=len(content), content=content, evidence=evidence, subject_id=subject, held=held)


def found(content: str, *evidence: int, subject: int = 1) -> Candidate:
    return Candidate(kind="fact", content=content, evidence=evidence, subject_id=subject)


def told(old: list[DerivedMemory], new: list[Candidate]) -> list[tuple[str | None, str | None]]:
    return [(a and a.content, b and b.content) for a, b in compared(old, new)]


def test_what_stays_is_no_change() -> None:
    assert told([kept("Ada skis", 1)], [found("Ada skis", 1)]) == []


def test_reworded_added_and_gone() -> None:
    old = [kept("Ada lives in Berlin", 1), kept("Ada hates mornings", 2)]
    new = [found("Ada lives in Berlin-Mitte", 1, 3), found("Max builds boats", 4)]
    assert told(old, new) == [
        ("Ada lives in Berlin", "Ada lives in Berlin-Mitte"),
        ("Ada hates mornings", None),
        (None, "Max builds boats"),
    ]


def test_each_memory_meets_the_nearest_candidate_once() -> None:
    old = [kept("Ada drinks tea", 1), kept("Ada drinks green tea", 1)]
    new = [found("Ada drinks green tea daily", 1), found("Ada drinks tea", 1)]
    assert told(old, new) == [("Ada drinks green tea", "Ada drinks green tea daily")]


def test_what_a_person_holds_on_to_stays() -> None:
    assert told([kept("My own words", 1, held=True)], []) == []
    assert told([kept("Ada likes tea", 1, held=True)], [found("Ada likes teas", 1)]) == []


def test_two_peoples_memories_are_never_one() -> None:
    assert told([kept("likes tea", 1, subject=1)], [found("likes tea", 1, subject=2)]) == [
        ("likes tea", None),
        (None, "likes tea"),
    ]


def test_a_result_of_an_older_version_is_read_though_it_does_not_say_what_is_tainted() -> None:
    old = {"kind": "fact", "content": "Ada skis", "evidence": [3, 4], "confidence": 0.8, "mood": "good"}
    (one,) = decode_row(Candidates, {"candidates": [old]}).candidates
    assert (one.content, one.evidence, one.tainted) == ("Ada skis", (3, 4), False)


def test_only_what_refines_a_memory_carries_itself_as_it_was_before() -> None:
    alone = learned("Ada skis.", 3)
    refined = replace(alone, action="refine", memory_id=5, content="Ada skis and sails.", own=alone)
    assert {"memory_id", "own"}.isdisjoint(alone.as_json())
    assert refined.as_json()["own"] == alone.as_json()
    assert refined.as_json()["content"] == "Ada skis and sails."
