"""The scripted conversations that recall is measured on."""

import json
import re
from collections import Counter

import pytest

from tests.benchmarks import conversations
from tests.benchmarks.conversations import SPEAKERS, Conversation, load, write
from tests.benchmarks.conversations.source import KINDS


@pytest.fixture(scope="module")
def chats() -> list[Conversation]:
    return load()


def test_the_same_each_time(chats: list[Conversation]) -> None:
    assert load() == chats


def test_shape(chats: list[Conversation]) -> None:
    for chat in chats:
        assert 150 <= len(chat.turns) <= 300, chat.id
        assert [turn.speaker for turn in chat.turns] == [*SPEAKERS] * (len(chat.turns) // 2)
        assert [turn.when for turn in chat.turns] == sorted(turn.when for turn in chat.turns)
        lengths = {speaker: sum(len(t.text) for t in chat.turns if t.speaker == speaker) for speaker in SPEAKERS}
        assert 10 <= lengths["Assistant"] / lengths["User"] <= 25, chat.id
        for turn in chat.turns[1::2]:
            assert 1700 <= len(turn.text) <= 7500, (chat.id, turn.dia_id)
            assert not re.search(r"\{\w*\}", re.sub(r"```.*?```", "", turn.text, flags=re.S)), turn.text


def test_questions(chats: list[Conversation]) -> None:
    for chat in chats:
        known = {turn.dia_id for turn in chat.turns}
        assert set(KINDS) == {question.category for question in chat.questions}, chat.id
        assert len(chat.questions) >= 18
        assert all(question.evidence and known.issuperset(question.evidence) for question in chat.questions)
    counts = Counter(question.category for chat in chats for question in chat.questions)
    assert min(counts[kind] for kind in KINDS) >= len(chats), counts


def test_written(tmp_path, chats: list[Conversation]) -> None:
    write(tmp_path / "chats.json")
    samples = json.loads((tmp_path / "chats.json").read_text("utf-8"))
    assert [sample["sample_id"] for sample in samples] == [chat.id for chat in chats]
    for sample, chat in zip(samples, chats, strict=True):
        turns = [turn for name, said in sample["conversation"].items() if isinstance(said, list) for turn in said]
        assert [(t["dia_id"], t["text"]) for t in turns] == [(t.dia_id, t.text) for t in chat.turns]
        assert {turn["role"] for turn in turns} == {"user", "assistant"}
        assert {qa["category"] for qa in sample["qa"]} <= set(conversations.CATEGORIES.values())
