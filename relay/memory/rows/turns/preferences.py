"""How a person likes answers: their preferences, what taught them, and their switches."""

from __future__ import annotations

from dataclasses import field, replace
from datetime import datetime
from typing import Literal

from relay.core.frozen import frozen
from relay.memory.rows.changes import MemoryChange
from relay.memory.rows.memories import Posted

Level = Literal["low", "medium", "high"]
Status = Literal["stable", "under_review", "archived"]
Sign = Literal[-1, 1]


LESSER = {
    "less ": "more ", "fewer ": "more ", "weniger ": "mehr ", "moins de ": "plus de ", "moins d’": "plus d’",
    "moins d'": "plus d'", "menos ": "más ", "meno ": "più ", "меньше ": "больше ", "mniej ": "więcej ",
    "daha az ": "daha çok ",
}  # fmt: skip
"""The words of a pattern that asks for less of something, with those that ask for more."""


def as_shown(pattern: str, polarity: Sign) -> tuple[str, Sign]:
    """Returns a pattern and its polarity as people read them: who avoids less irony prefers more irony."""
    less = next((one for one in LESSER if pattern.casefold().startswith(one)), "") if polarity < 0 else ""
    return (LESSER[less] + pattern[len(less) :], 1) if less else (pattern, polarity)


def in_words(polarity: Sign, pattern: str) -> str:
    """Returns a pattern with its direction: prefer short answers."""
    pattern, polarity = as_shown(pattern, polarity)
    return f"{'prefer' if polarity > 0 else 'avoid'} {pattern}"


@frozen
class Preference:
    """A pattern that answers should follow, or avoid."""

    id: int
    type: str
    """length, form, tone, language, depth, examples, initiative, sources, code, voice or other."""
    pattern: str
    polarity: Sign
    """1: prefer; -1: avoid."""
    strength: float
    """0 to 1."""
    level: Level
    status: Status
    here: bool
    """It applies in its thread only."""
    last_seen: datetime
    shadow: bool = False
    """It is the opposite of a preference under review, and is only being learned."""
    faded: bool = False
    """It is archived because nothing confirmed it for 180 days."""
    reinforced: int = 0
    """How many observations reinforced it; 0: it is provisional."""
    observations: int = 0
    sessions: int = 0
    new: bool = False
    """Its person has not been told that it applies."""
    name: str = field(init=False, compare=False)
    """The pattern under which its acts are counted: less irony, for a person who now prefers more irony."""

    def __post_init__(self) -> None:
        shown, polarity = as_shown(self.pattern, self.polarity)
        for field_name, value in (("name", self.pattern), ("pattern", shown), ("polarity", polarity)):
            object.__setattr__(self, field_name, value)

    def agrees(self, polarity: int) -> bool:
        """Tests whether an act of this polarity taught it, and not its opposite."""
        return (polarity == self.polarity) == (self.name == self.pattern)

    @property
    def acts(self) -> bool:
        """Tells whether prompts show it."""
        return self.status == "stable" and self.level != "low" and self.strength >= 0.40


@frozen
class KnownPattern:
    """A pattern that is known of a person already."""

    type: str
    """length, form, tone, language, depth, examples, initiative, sources, code, voice or other."""
    pattern: str


@frozen
class ObservedPattern(KnownPattern):
    """A pattern that an act was about: answers should be like it (polarity 1), or should not (-1)."""

    polarity: Sign

    @property
    def words(self) -> str:
        """Returns the pattern with its direction in words."""
        return in_words(self.polarity, self.pattern)


@frozen
class Preferences:
    """All preferences of a person in a space, and their switches."""

    on: bool
    here: Literal["use", "ignore", "quiet", "own"]
    """What this thread does with them: follows them, ignores them, teaches nothing, or has its own."""
    known: int
    """How many of them are not archived."""
    rows: tuple[Preference, ...]
    """The preferences, strongest first, then the archived ones; at most 200."""
    followed: bool = True
    """Answers here follow them: they are on, and this thread neither ignores them nor is off the record."""
    paused_until: datetime | None = None
    memory_off: bool = False
    """Memory is off, and preferences with it."""
    waiting: int = 0
    """How many acts have patterns that wait for a tap, because the person wants to be asked first."""
    waits: tuple[ObservedPattern, ...] = ()
    """These patterns, the most frequent first; at most ten."""

    def __post_init__(self) -> None:
        shown = (ObservedPattern(one.type, *as_shown(one.pattern, one.polarity)) for one in self.waits)
        object.__setattr__(self, "waits", tuple(shown))


@frozen
class FeedbackResult:
    """The result of an act."""

    id: int | None = None
    refused: Literal["private", "off", "paused", "here", "unknown"] | None = None
    acts: tuple[Preference, ...] = ()
    """The preferences among its patterns that prompts follow now."""


@frozen
class Evidence:
    """An act that taught a preference."""

    at: datetime
    kind: str
    polarity: int
    source: str
    message_id: int | None = None
    """The answer it is about; None: all answers."""
    text: str | None = None
    """The first words of that answer."""
    posted: Posted | None = None
    """Where that answer is in a chat."""
    topic_id: int | None = None


@frozen
class PreferenceSource:
    """A preference, and what taught it."""

    preference: Preference
    evidence: tuple[Evidence, ...]
    """The acts that taught it, newest first; at most ten."""
    total: int
    remembered: tuple[str, ...] = ()
    """Memories about the person in the same words. If they contradict the preference, they count."""

    def __post_init__(self) -> None:
        sign = self.preference.polarity
        agreed = (
            replace(one, polarity=sign if self.preference.agrees(one.polarity) else -sign) for one in self.evidence
        )
        object.__setattr__(self, "evidence", tuple(agreed))


@frozen
class ForgottenPreference:
    """A preference that was forgotten; `decision_id` takes that back."""

    decision_id: int
    type: str
    pattern: str
    polarity: Sign

    def __post_init__(self) -> None:
        pattern, polarity = as_shown(self.pattern, self.polarity)
        object.__setattr__(self, "pattern", pattern)
        object.__setattr__(self, "polarity", polarity)


@frozen
class AttributionWork:
    """An act whose patterns a model has to find."""

    feedback_id: int
    space_id: int
    user_id: int
    session_id: int | None
    kind: str
    value: dict[str, object]
    question_id: int | None
    question: str
    answer_id: int | None
    """Answer A, which the act is about."""
    answer: str
    other_id: int | None
    other: str | None
    """Answer B; None: there is only one."""
    chosen: Literal["a", "b"]
    attributable: bool
    """The act does not repeat words of others."""
    known: tuple[KnownPattern, ...]
    """The person's patterns, at most 50."""
    dimensions: tuple[str, ...] = ()
    """The reasons given for a choice."""
    former: str | None = None
    """The question that answer B was to, if the person reworded it since."""


@frozen
class ObservedAct:
    """What a model attributed to one act."""

    patterns: tuple[ObservedPattern, ...]
    weight: float


@frozen
class ChosenAnswer:
    """The result of a choice between two answers."""

    chose: Literal["a", "b", "both", "neither"] | None = None
    reasons: tuple[str, ...] = ()
    """The reasons that were given."""
    taught: bool = True
    """The choice says something about what the person likes."""
    changes: tuple[MemoryChange, ...] = ()
    """What the choice changed in memory: the tags of both answers waited for it."""
    refused: Literal["late"] | None = None


@frozen
class DerivedFeedback:
    """An act that another version attributed, with what it found."""

    work: AttributionWork
    before: tuple[ObservedPattern, ...]
