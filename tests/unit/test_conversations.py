"""The scripted conversations that recall is measured on."""

import json
import re
from collections import Counter

import pytest

from tests.benchmarks import conversations
from tests.benchmarks.bm25 import BM25
from tests.benchmarks.conversations import FACT, SPEAKERS, Conversation, load, merge, stated, write
from tests.benchmarks.conversations.source import KINDS


@pytest.fixture(scope="module")
def chats() -> list[Conversation]:
    return load()


def test_the_conversations_are_the_same_each_time(chats: list[Conversation]) -> None:
    assert load() == chats


def test_the_conversations_have_the_intended_shape(chats: list[Conversation]) -> None:
    for chat in chats:
        assert 150 <= len(chat.turns) <= 300, chat.id
        assert [turn.speaker for turn in chat.turns] == [*SPEAKERS] * (len(chat.turns) // 2)
        assert [turn.when for turn in chat.turns] == sorted(turn.when for turn in chat.turns)
        lengths = {speaker: sum(len(t.text) for t in chat.turns if t.speaker == speaker) for speaker in SPEAKERS}
        assert 10 <= lengths["Assistant"] / lengths["User"] <= 25, chat.id
        for turn in chat.turns[1::2]:
            assert 1700 <= len(turn.text) <= 7500, (chat.id, turn.dia_id)
            assert not re.search(r"\{\w*\}", re.sub(r"```.*?```", "", turn.text, flags=re.S)), turn.text


def test_every_kind_of_question_occurs_with_evidence(chats: list[Conversation]) -> None:
    for chat in chats:
        known = {turn.dia_id for turn in chat.turns}
        assert set(KINDS) == {question.category for question in chat.questions}, chat.id
        assert len(chat.questions) >= 18
        assert all(question.evidence and known.issuperset(question.evidence) for question in chat.questions)
    counts = Counter(question.category for chat in chats for question in chat.questions)
    assert min(counts[kind] for kind in KINDS) >= len(chats), counts


def test_the_written_file_holds_all_turns_and_questions(tmp_path, chats: list[Conversation]) -> None:
    write(tmp_path / "chats.json")
    samples = json.loads((tmp_path / "chats.json").read_text("utf-8"))
    assert [sample["sample_id"] for sample in samples] == [chat.id for chat in chats]
    for sample, chat in zip(samples, chats, strict=True):
        turns = [turn for name, said in sample["conversation"].items() if isinstance(said, list) for turn in said]
        assert [(t["dia_id"], t["text"]) for t in turns] == [(t.dia_id, t.text) for t in chat.turns]
        assert {turn["role"] for turn in turns} == {"user", "assistant"}
        assert {qa["category"] for qa in sample["qa"]} <= set(conversations.CATEGORIES.values())


def test_facts_are_quoted_from_what_the_user_said(chats: list[Conversation]) -> None:
    assert stated("I moved to Leeds in May. What now? Pat came along.") == "I moved to Leeds in May. Pat came along."
    for chat in chats:
        said = {turn.dia_id: turn.text for turn in chat.turns if turn.speaker == SPEAKERS[0]}
        assert len(chat.facts) > 30
        for id, fact in chat.facts.items():
            assert 0 < len(fact) <= FACT
            assert set(fact.split()) <= set(said[id].split())


def test_merging_keeps_all_turns_and_facts_in_order(chats: list[Conversation]) -> None:
    life = merge(chats)
    said = {turn.dia_id: turn.text for turn in life.turns}
    assert len(said) == sum(len(chat.turns) for chat in chats)
    sessions = [turn.session for turn in life.turns]
    assert sessions == sorted(sessions)
    for chat in chats:
        assert {said[f"{chat.id}/{turn.dia_id}"] for turn in chat.turns} == {turn.text for turn in chat.turns}
    assert all(said.keys() >= {*question.evidence} for question in life.questions)
    assert life.facts.keys() <= said.keys()


def test_bm25_ranks_texts_by_the_words_of_a_question() -> None:
    texts = ["We moved to Leeds in May.", "Leeds, Leeds, and again Leeds: a town in the north of England.", "Tea?"]
    assert BM25(texts).rank("When did we move to Leeds in May?", 3) == [0, 1]
    assert BM25(texts).rank("Which towns?", 3) == [1]
    assert BM25(texts).rank("Porto", 3) == []
