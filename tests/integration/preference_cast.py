"""People who talk to Relay, the answers that they get, and a model that finds the patterns of an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from relay.core.models import Incoming, ModelRequest, Step
from relay.memory.claims import ClaimedTurn
from tests.integration.turn_driver import Json
from tests.preference_ledger import Decision, Ledger
from tests.preference_selection import Key

TAGS: dict[str, tuple[str, Key, int]] = {
    "too long": ("long", ("length", "short answers"), 1),
    "too short": ("short", ("length", "short answers"), -1),
    "more structure": ("structure", ("form", "lists and tables"), 1),
    "less structure": ("prose", ("form", "lists and tables"), -1),
    "too formal": ("formal", ("tone", "formal tone"), -1),
    "too casual": ("casual", ("tone", "formal tone"), 1),
    "good humour": ("humour", ("tone", "humour"), 1),
    "no jokes": ("serious", ("tone", "humour"), -1),
    "fewer emoji": ("emoji", ("tone", "emoji"), -1),
    "more detail": ("detail", ("depth", "step by step"), 1),
    "more examples": ("examples", ("examples", "examples"), 1),
    "more sources": ("sources", ("sources", "sources and links"), 1),
    "ask me first": ("ask", ("initiative", "questions back"), 1),
    "don't ask back": ("noask", ("initiative", "questions back"), -1),
    "simpler words": ("plain", ("language", "plain words"), 1),
}
SEEN: tuple[Key, ...] = (
    *dict.fromkeys(key for _, key, _ in TAGS.values()),
    ("tone", "warm greetings"), ("tone", "irony"), ("code", "typed code"), ("voice", "a calm voice"),
)  # fmt: skip
"""The patterns of the answers here, which the attributing model finds."""
SPOKEN: tuple[Key, ...] = (
    *SEEN[:10], ("other", "rhymes"), ("other", "old proverbs"), ("other", "british spelling"),
    ("other", "metric units"), ("other", "the conclusion at the top and the reasons right below it"),
)  # fmt: skip
"""What people may say that they like."""
ACTS = {
    "nothing": 4, "tag": 4, "say": 3, "react": 5, "accept": 2, "better": 2, "compare": 4, "stop": 1, "again": 2,
    "back": 2, "retag": 1, "unreact": 2, "forget": 2, "recall": 1, "reset": 0.25,
}  # fmt: skip
HABITS: tuple[dict[str, float], ...] = (
    {}, {"say": 20}, {"say": 20, "forget": 0, "reset": 0}, {"tag": 20}, {"forget": 8, "recall": 8}, {"reset": 2},
    {"better": 10, "again": 10, "back": 10},
    # These three say little; their preferences are known from their choices.
    {"compare": 1000, "react": 50, "forget": 20, "recall": 20, "reset": 0},
    {"compare": 500, "react": 150, "unreact": 80, "tag": 40, "retag": 40, "say": 20, "reset": 0},
    {"compare": 500, "better": 50, "accept": 50, "react": 50, "again": 30, "reset": 10},
)  # fmt: skip
"""What each person does more or less often than usual."""
CHOOSERS = 3
"""This many people, the last ones, get answers of few patterns and say little."""
FIRST, TURNS = 3001, 60


class Reader:
    """A model that finds the patterns of an answer, and reports them in the requested form."""

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        """See `ports.Model.reply`."""
        text = request.messages[0]["content"][0]["text"]
        one, *other = (seen_in(part) for part in re.split(r"Answer [AB]:\n", text)[1:])
        both = [key for key in one if other and key in other[0]]
        said = [pattern(key, "both") for key in both] + [pattern(key, "a") for key in one if key not in both]
        said += [pattern(key, "b") for keys in other for key in keys if key not in both]
        called = {"type": "tool_use", "id": "1", "name": "observe", "input": {"patterns": said}}
        return Step([called], "tool_use", {"input_tokens": 5, "output_tokens": 5}, "small")

    async def close(self) -> None:
        """Does nothing."""


def seen_in(text: str) -> list[Key]:
    """Returns the patterns that an answer's text names."""
    made = re.search(r"Made of (.*?)\.", text)
    types = {words: type for type, words in SEEN}
    return [(types[words], words) for words in made[1].split(", ")] if made else []


def pattern(key: Key, which: str) -> Json:
    return {"type": key[0], "pattern": key[1], "polarity": 1, "which": which}


def made_of(patterns: Sequence[Key]) -> str:
    """Returns an answer with these patterns."""
    return f"An answer. Made of {', '.join(words for _, words in patterns)}."


@dataclass
class Answered:
    """An answer and its patterns."""

    turn: ClaimedTurn
    incoming: Incoming
    made: list[Key]
    tainted: bool
    session: int
    scope: int | None
    shown_as: int = 0
    """The id of its message in the chat."""
    over: Answered | None = None
    """The answer that it replaced."""


@dataclass
class Person:
    """A person, their habits, and what they have done so far."""

    user_id: int
    rng: Random
    habits: dict[str, float]
    made_of: Sequence[Key]
    """The patterns of the answers that they get."""
    tastes: dict[Key, int]
    """The patterns that they like and dislike. Sometimes they act otherwise."""
    in_topic: float
    """The share of their turns in a topic with preferences of its own."""
    reasons: Sequence[int]
    """How many reasons they may give for a choice."""
    ledger: Ledger = field(default_factory=Ledger)
    answers: list[Answered] = field(default_factory=list)
    decisions: list[tuple[list[int], list[Decision]]] = field(default_factory=list)

    def act(self) -> str:
        """Returns their next act."""
        chances = ACTS | self.habits
        return self.rng.choices(list(chances), list(chances.values()))[0]

    def mood(self, made: Sequence[Key]) -> float:
        """Returns how much they like an answer."""
        return sum(self.tastes.get(key, 0) for key in made) + self.rng.uniform(-1, 1)

    def change(self) -> None:
        """Reverses some of their tastes, unless they have few."""
        for key in self.rng.sample(list(self.tastes), 3 if len(self.tastes) > CHOOSERS else 0):
            self.tastes[key] *= -1


def somebody(number: int, seed: int) -> Person:
    """Returns the person with this number, with random likes and dislikes."""
    rng, chooses = Random(f"{seed} {number}"), number >= len(HABITS) - CHOOSERS
    made_of = rng.sample(SEEN, 4) if chooses else SEEN
    likes = {key: rng.choice([-2, 2]) for key in rng.sample(made_of, 2 if chooses else 6)}
    in_topic, reasons = (0.05, (0, 0, 0, 0, 1)) if chooses else (0.25, (0, 0, 1, 2))
    return Person(FIRST + number, rng, HABITS[number], made_of, likes, in_topic, reasons)
