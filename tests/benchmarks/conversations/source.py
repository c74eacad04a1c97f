"""How a scripted conversation is written down: a text file with topics, sessions and questions.

title: Moving house
language: de
=== topic rent: deposit; landlord; handover        what long answers about it are composed of: terms,
- Take pictures of every room.                      sentences,
```python … ```                                     and samples of code
=== session 2024-03-04 09:15
[rent #e1] What the person says. #e1 is evidence.
> #a1 What the answer to it says among other things; #a1 is evidence.
=== questions
update | e1 e2 | How high is the deposit?
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

KINDS = ("fact", "update", "contradiction", "time", "order", "several", "instruction", "preference")


@dataclass
class Topic:
    """What answers about it are made of."""

    name: str
    terms: list[str]
    sentences: list[str] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)


@dataclass
class Said:
    """A message of the person's: what was written by hand, and what was composed; and what its answer holds."""

    topic: str
    label: str
    text: str
    answered: list[tuple[str, str]] = field(default_factory=list)  # label, sentence
    composed: str = ""


@dataclass
class Script:
    """A conversation as it was written down."""

    name: str
    title: str
    language: str
    topics: dict[str, Topic]
    sessions: list[tuple[datetime, list[Said]]]
    questions: list[tuple[str, list[str], str]]  # kind, labels, text


def read(path: Path) -> Script:
    """The script in a file. ValueError: a line that fits nowhere, or a label that nothing has."""
    head, *parts = re.split(r"^=== ", path.read_text("utf-8"), flags=re.MULTILINE)
    fields = dict(line.split(": ", 1) for line in head.splitlines() if line)
    script = Script(path.stem, fields["title"], fields["language"], {}, [], [])
    for part in parts:
        first, _, body = part.partition("\n")
        match first.split(maxsplit=1):
            case ["topic", rest]:
                topic = read_topic(rest, body)
                script.topics[topic.name] = topic
            case ["session", when]:
                script.sessions.append((datetime.strptime(when.strip(), "%Y-%m-%d %H:%M"), read_session(body)))
            case ["questions"]:
                script.questions += [read_question(line) for line in body.splitlines() if line.strip()]
            case _:
                raise ValueError(f"{path.name}: {first}")
    check(script)
    return script


def read_topic(first: str, body: str) -> Topic:
    """A topic: its terms, then its sentences and samples of code."""
    name, _, terms = first.partition(":")
    topic = Topic(name.strip(), [term.strip() for term in terms.split(";") if term.strip()])
    topic.samples = re.findall(r"^```.*?^```$", body, flags=re.MULTILINE | re.DOTALL)
    topic.sentences = re.findall(r"^- (.+)$", re.sub(r"^```.*?^```$", "", body, flags=re.M | re.S), flags=re.MULTILINE)
    return topic


def read_session(body: str) -> list[Said]:
    """What the person says in a session."""
    said: list[Said] = []
    for block in re.split(r"^(?=[\[>])", body, flags=re.MULTILINE):
        text = block.strip()
        if opened := re.match(r"\[(\w+)(?: #(\w+))?\]\s*", text):
            said.append(Said(opened[1], opened[2] or "", text[opened.end() :]))
        elif answered := re.match(r">\s*(?:#(\w+)\s+)?", text):
            said[-1].answered.append((answered[1] or "", text[answered.end() :]))
        elif text:
            raise ValueError(text)
    return said


def read_question(line: str) -> tuple[str, list[str], str]:
    """A question: its kind, the labels of its evidence, its words."""
    kind, labels, text = (part.strip() for part in line.split("|", 2))
    if kind not in KINDS:
        raise ValueError(line)
    return kind, labels.split(), text


def check(script: Script) -> None:
    """Every topic and label exists, and no label twice."""
    said = [each for _, session in script.sessions for each in session]
    labels = [each.label for each in said if each.label] + [name for each in said for name, _ in each.answered if name]
    unknown = {each.topic for each in said} - script.topics.keys()
    unknown |= {label for _, wanted, _ in script.questions for label in wanted} - set(labels)
    twice = {label for label in labels if labels.count(label) > 1}
    if unknown or twice:
        raise ValueError(f"{script.name}: unknown {unknown or 'nothing'}, twice {twice or 'nothing'}")
