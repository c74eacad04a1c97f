"""What is known at the end of a run: who asked what, what Telegram shows, and what the database holds."""

from __future__ import annotations

from dataclasses import dataclass, field

Place = tuple[int, int]
"""A chat and a topic of it (0: none)."""


@dataclass(frozen=True)
class Asked:
    """A question, numbered for the whole run; those of one place are asked in the order of their numbers."""

    number: int
    place: Place
    user_id: int
    ordered: bool = True
    """It waits for its turn in its place; commands do not."""


@dataclass(frozen=True)
class Shown:
    """A message of the bot that a chat shows at the end."""

    place: Place
    message_id: int
    answers: tuple[int, ...]
    """The questions that it answers."""
    kept: tuple[int, ...]
    """Those of which it says that it kept something."""
    known: bool
    """The database knows that it was sent."""
    unheard: str = ""
    """Why the bot may never have heard that it was sent: a response that was lost, a kill. Empty: it must have."""
    command: str = ""
    """The command that it replies to, of those that no number goes with."""


@dataclass(frozen=True)
class Kept:
    """A memory that is in force."""

    content: str
    user_id: int


@dataclass(frozen=True)
class Count:
    """Something that the database counts: what it says, and what it should."""

    what: str
    found: int
    wanted: int


@dataclass
class Record:
    """All that the checker looks at."""

    asked: list[Asked] = field(default_factory=list)
    shown: list[Shown] = field(default_factory=list)
    commands: dict[tuple[Place, str], int] = field(default_factory=dict)
    """How often each of the commands that no number goes with was given in a place."""
    edited: dict[int, int] = field(default_factory=dict)
    """The numbers that came of others when their messages were edited, with those."""
    unoffered: list[int] = field(default_factory=list)
    """The questions that were edited last of all in their place, and that are offered no new answer."""
    undone: set[int] = field(default_factory=set)
    """The numbers of what was kept and taken back by somebody."""
    kept: list[Kept] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """What should be gone: rows in queues, processes, files."""
    logged: list[str] = field(default_factory=list)
    """What the processes logged that is never to be logged."""
