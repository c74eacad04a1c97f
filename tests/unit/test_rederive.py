"""Rederiving changes only memories that differ, never another person's or those that a person pinned or confirmed."""

from __future__ import annotations

from dataclasses import replace

from relay.memory.calls.base import decode_row
from relay.memory.rederivation.memories import pair_changes
from relay.memory.rows.upkeep.judging import Candidate, Candidates, DerivedMemory
from tests.judging import learned


def kept(content: str, *evidence: int, subject: int = 1, held: bool = False) -> DerivedMemory:
    return DerivedMemory(id=len(content), content=content, evidence=evidence, subject_id=subject, held=held)


def found(content: str, *evidence: int, subject: int = 1) -> Candidate:
    return Candidate(kind="fact", content=content, evidence=evidence, subject_id=subject)


def told(old: list[DerivedMemory], new: list[Candidate]) -> list[tuple[str | None, str | None]]:
    return [(a and a.content, b and b.content) for a, b in pair_changes(old, new)]


def test_an_unchanged_memory_is_no_change() -> None:
    assert told([kept("Ada skis", 1)], [found("Ada skis", 1)]) == []


def test_reworded_added_and_removed_memories_are_changes() -> None:
    old = [kept("Ada lives in Berlin", 1), kept("Ada hates mornings", 2)]
    new = [found("Ada lives in Berlin-Mitte", 1, 3), found("Max builds boats", 4)]
    assert told(old, new) == [
        ("Ada lives in Berlin", "Ada lives in Berlin-Mitte"),
        ("Ada hates mornings", None),
        (None, "Max builds boats"),
    ]


def test_each_memory_is_matched_with_its_nearest_candidate_once() -> None:
    old = [kept("Ada drinks tea", 1), kept("Ada drinks green tea", 1)]
    new = [found("Ada drinks green tea daily", 1), found("Ada drinks tea", 1)]
    assert told(old, new) == [("Ada drinks green tea", "Ada drinks green tea daily")]


def test_memories_that_a_person_pinned_or_confirmed_stay() -> None:
    assert told([kept("My own words", 1, held=True)], []) == []
    assert told([kept("Ada likes tea", 1, held=True)], [found("Ada likes teas", 1)]) == []


def test_memories_of_two_people_are_never_matched() -> None:
    assert told([kept("likes tea", 1, subject=1)], [found("likes tea", 1, subject=2)]) == [
        ("likes tea", None),
        (None, "likes tea"),
    ]


def test_a_result_of_an_older_version_without_taint_is_read() -> None:
    old = {"kind": "fact", "content": "Ada skis", "evidence": [3, 4], "confidence": 0.8, "mood": "good"}
    (one,) = decode_row(Candidates, {"candidates": [old]}).candidates
    assert (one.content, one.evidence, one.tainted) == ("Ada skis", (3, 4), False)


def test_only_a_refinement_carries_its_original_finding() -> None:
    alone = learned("Ada skis.", 3)
    refined = replace(alone, action="refine", memory_id=5, content="Ada skis and sails.", own=alone)
    assert {"memory_id", "own"}.isdisjoint(alone.as_json())
    assert refined.as_json()["own"] == alone.as_json()
    assert refined.as_json()["content"] == "Ada skis and sails."
