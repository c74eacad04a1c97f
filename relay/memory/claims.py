"""The result of claiming turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from relay.core.frozen import frozen
from relay.memory.rows.choices import Choices, StoredChoices
from relay.memory.rows.delivery import QueuedMessage, StoredPart
from relay.memory.rows.turns.answer import Answer


@frozen
class ClaimedTurn:
    """A claimed turn. Every write for it must carry its fence."""

    turn_id: int
    fence: int
    kind: str
    status: str
    failures: int
    user_id: int
    updates: tuple[Mapping[str, Any], ...]
    """The updates as Telegram sent them."""
    parts: tuple[StoredPart, ...]
    """The stored parts of its reply."""
    answer: Answer | None = None
    """A previous process stored a reply and did not deliver all of it."""
    answers: str | None = None
    """The setting of its group's topic: all, addressed or off; None: not set."""
    linked_to: int | None = None
    """The person whose memory its group was lent."""
    choices: StoredChoices = field(default_factory=Choices)
    """Its user's settings."""
    waited: float = 0.0
    """Seconds since its first update arrived."""
    role: str | None = None
    """The user's role in the database: admin, user, asking, refused or blocked."""
    off_record: bool = False
    """It was said in an off-the-record session."""
    killed: bool = False
    """Its process died with it again and again."""
    stopped: bool = False
    """Someone wanted it stopped while no process ran it, or while another did."""
    message: QueuedMessage | None = None
    """The queued message that it sends, if no update began it."""
    owner_id: int | None = None
    """The owner of the memory that its answer used; None: there is no answer yet, or it used a group's."""


@frozen
class ClaimResult:
    """The result of claiming turns."""

    turns: tuple[ClaimedTurn, ...] = ()
    wait: float | None = None
    """Seconds until more turns may be due; None: unknown."""
    lost: tuple[int, ...] = ()
    """Running turns that another process has taken over."""
    stopped: tuple[int, ...] = ()
    """Running turns that someone wants stopped."""
    polls: bool | None = None
    """Whether this process polls; None: no process does."""
    owed: tuple[str, ...] = ()
    """The kinds of jobs with due work."""


@frozen
class Queue:
    """The backlog, in numbers."""

    waiting: int
    """How many updates wait for their turn."""
    turns: int
    """How many turns are in progress or abandoned."""
    oldest: float
    """How many seconds the oldest unclaimed work has waited; 0 if there is none."""
