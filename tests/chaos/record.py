"""The record of a run: who asked what, what Telegram shows, and what the database holds."""

from __future__ import annotations

from dataclasses import dataclass, field

Place = tuple[int, int]
"""A chat and its topic (0: none)."""


@dataclass(frozen=True)
class Question:
    """A question with a number that is unique in the run. The numbers of a place are in the order asked."""

    number: int
    place: Place
    user_id: int
    ordered: bool = True
    """It waits for its turn in its place. Commands don't."""


@dataclass(frozen=True)
class Shown:
    """A message of the bot that a chat shows at the end."""

    place: Place
    message_id: int
    answers: tuple[int, ...]
    """The questions that it answers."""
    kept: tuple[int, ...]
    """The questions from which it says that it kept something."""
    known: bool
    """The database knows that it was sent."""
    unheard: str = ""
    """Why the bot may not know that it was sent: a lost response or a kill. Empty if it must know."""
    command: str = ""
    """The command that it replies to, if that has no question number."""


@dataclass(frozen=True)
class Kept:
    """An active memory."""

    content: str
    user_id: int


@dataclass(frozen=True)
class Count:
    """A counter of the database, with its value and the right one."""

    what: str
    found: int
    wanted: int


@dataclass
class Record:
    """Everything the checker looks at."""

    asked: list[Question] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    commands: dict[tuple[Place, str], int] = field(default_factory=dict)
    """How often each command without a question number was given in a place."""
    edited: dict[int, int] = field(default_factory=dict)
    """Numbers of edited questions, each with the number it replaced."""
    unoffered: list[int] = field(default_factory=list)
    """Questions whose edit was the last act in their place and that were offered no new answer."""
    undone: set[int] = field(default_factory=set)
    """Numbers of the memories that were kept and then undone."""
    kept: list[Kept] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """What should be gone: rows in queues, processes, files."""
    logged: list[str] = field(default_factory=list)
    """Log entries that must never occur."""
