"""Conversations of a person and an assistant over months, and questions about them whose evidence is known.

What the person says, the facts and the questions are written by hand (`data/`). Some more questions of the person's and
the long answers are composed from phrases: the same ones each time.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from tests.benchmarks.conversations.answers import Assistant
from tests.benchmarks.conversations.source import Said, Script, read

DATA = Path(__file__).with_name("data")
SPEAKERS = ("User", "Assistant")
FOLLOW_UPS = (0, 1, 1, 2, 2)
"""How many questions follow one that was written by hand: one of these."""
FACT = 200
"""Characters of a fact, at most."""
AND_ASKS = 0.7
"""The share of messages written by hand that go on with such a question."""
CATEGORIES = {"fact": 4, "update": 1, "contradiction": 1, "several": 1, "time": 2, "order": 2, "instruction": 3,
              "preference": 3}  # fmt: skip
"""The number nearest to a kind in LoCoMo's format: 1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop."""


@dataclass(frozen=True)
class Turn:
    """A message. `dia_id` is "D3:7": session 3, message 7."""

    dia_id: str
    session: int
    index: int
    speaker: str
    text: str
    caption: str
    when: datetime


@dataclass(frozen=True)
class Question:
    """A question, its kind, and the ids of the messages that answer it."""

    text: str
    category: str
    evidence: tuple[str, ...]


@dataclass
class Conversation:
    """A chat of a person and an assistant: what score.py's `load` returns for two friends. `facts`: what the person
    stated, by the message, as a judge might keep it."""

    id: str
    language: str
    speakers: tuple[str, str] = SPEAKERS
    turns: list[Turn] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)


def load() -> list[Conversation]:
    """All of them, composed anew."""
    return [compose(read(path)) for path in sorted(DATA.glob("*.txt"))]


def compose(script: Script) -> Conversation:
    """A script with its answers."""
    random = Random(script.name)
    assistant = Assistant(script.language, script.topics, random)
    conversation = Conversation(script.name, script.language)
    labels: dict[str, str] = {}
    for number, (when, session) in enumerate(script.sessions, 1):
        at, place = when, 0
        for said in followed(session, assistant, random):
            asked = f"{said.text} {said.composed}".strip()
            for speaker, text in zip(SPEAKERS, (asked, assistant.answer(said)), strict=True):
                place += 1
                turn = Turn(f"D{number}:{place}", number, len(conversation.turns), speaker, text, "", at)
                conversation.turns.append(turn)
                at += timedelta(seconds=random.randint(20, 200))
            labels[said.label] = f"D{number}:{place - 1}"
            if fact := stated(said.text):
                conversation.facts[labels[said.label]] = fact
            labels |= {label: f"D{number}:{place}" for label, _ in said.answered}
    for kind, wanted, text in script.questions:
        conversation.questions.append(Question(text, kind, tuple(labels[label] for label in wanted)))
    return conversation


def stated(text: str) -> str:
    """What a message states, without what it asks, as long as a memory; empty for nothing."""
    kept = ""
    for sentence in re.split(r"(?<=[.!?])\s+", text):
        if not sentence.endswith("?") and len(kept) + len(sentence) < FACT:
            kept = f"{kept} {sentence}".strip()
    return kept


def merge(chats: list[Conversation]) -> Conversation:
    """All chats as one person's, one after the other. Ids of messages begin with the chat's: "marathon/D3:7"."""
    merged = Conversation("all", "en")
    for chat in chats:
        last = merged.turns[-1].session if merged.turns else 0
        merged.turns += [replace(t, dia_id=f"{chat.id}/{t.dia_id}", session=last + t.session) for t in chat.turns]
        merged.facts |= {f"{chat.id}/{id}": fact for id, fact in chat.facts.items()}
        for question in chat.questions:
            merged.questions.append(replace(question, evidence=tuple(f"{chat.id}/{id}" for id in question.evidence)))
    return merged


def followed(session: list[Said], assistant: Assistant, random: Random) -> list[Said]:
    """What the person says in a session, with more questions between."""
    more = []
    for said in session:
        topic = assistant.topics[said.topic]
        composed = assistant.follow_up(topic) if random.random() < AND_ASKS else ""
        more.append(replace(said, composed=composed))
        more += [
            Said(said.topic, "", "", composed=assistant.follow_up(topic)) for _ in range(random.choice(FOLLOW_UPS))
        ]
    return more


def exported(conversations: list[Conversation]) -> list[dict[str, Any]]:
    """LoCoMo's format, as score.py reads it. Each turn has its role and time besides, each question its kind."""
    return [
        {
            "sample_id": chat.id,
            "language": chat.language,
            "conversation": {"speaker_a": SPEAKERS[0], "speaker_b": SPEAKERS[1]} | sessions(chat),
            "qa": [
                {"question": q.text, "category": CATEGORIES[q.category], "kind": q.category, "evidence": q.evidence}
                for q in chat.questions
            ],
        }
        for chat in conversations
    ]


def sessions(chat: Conversation) -> dict[str, Any]:
    """The sessions of a chat: when each began, and what was said."""
    told: dict[str, Any] = {}
    for turn in chat.turns:
        if f"session_{turn.session}" not in told:
            told[f"session_{turn.session}_date_time"] = f"{turn.when:%I:%M %p on %d %B, %Y}".lstrip("0")
            told[f"session_{turn.session}"] = []
        told[f"session_{turn.session}"].append(
            {"speaker": turn.speaker, "role": turn.speaker.lower(), "dia_id": turn.dia_id, "text": turn.text,
             "at": turn.when.isoformat()}
        )  # fmt: skip
    return told


def write(path: Path) -> None:
    """Writes all of them as one file of JSON."""
    path.write_text(json.dumps(exported(load()), ensure_ascii=False, indent=1), "utf-8")
