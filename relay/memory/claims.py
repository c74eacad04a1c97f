"""What a process holds and hears when it asks the queue for turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from relay.memory.rows.choices import Choices, StoredChoices
from relay.memory.rows.delivery import QueuedMessage, StoredPart
from relay.memory.rows.turns.answer import Answer


@dataclass(frozen=True, slots=True)
class ClaimedTurn:
    """A turn that this process holds, with the fencing number that every write of it must carry."""

    turn_id: int
    fence: int
    kind: str
    status: str
    failures: int
    user_id: int
    updates: tuple[Mapping[str, Any], ...]
    """As Telegram sent them."""
    parts: tuple[StoredPart, ...]
    """What of its reply is stored."""
    answer: Answer | None = None
    """Stored by a predecessor, and not delivered in full."""
    answers: str | None = None
    """What is answered in its group's topic: all, addressed or off; None where nobody said."""
    linked_to: int | None = None
    """Whose memory its group was lent."""
    choices: StoredChoices = field(default_factory=Choices)
    """Its user's own."""
    waited: float = 0.0
    """Seconds since its first update arrived."""
    role: str | None = None
    """What the database says that its user is: admin, user, asking, refused or blocked."""
    off_record: bool = False
    """Whether it was said in a session off the record."""
    message: QueuedMessage | None = None
    """The queued message that it sends, where no update began it."""
    owner_id: int | None = None
    """Whose own memory its answer was made of; None: no answer yet, or a group's."""


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """What a process hears when it asks for turns."""

    turns: tuple[ClaimedTurn, ...] = ()
    wait: float | None = None
    """In how many seconds more turns may be due; None: nothing known."""
    lost: tuple[int, ...] = ()
    """Those of its turns that another process has taken over."""
    stopped: tuple[int, ...] = ()
    """Those of its turns that somebody wants ended."""
    polls: bool | None = None
    """Whether it is the one that polls; None: nobody is."""
    owed: tuple[str, ...] = ()
    """The jobs that have something to do."""


@dataclass(frozen=True, slots=True)
class Queue:
    """What is to be answered, in numbers."""

    waiting: int
    """Updates that wait for their turn."""
    turns: int
    """Turns under way or left behind."""
    oldest: float
    """For how many seconds something could have been taken up and was not; 0 when there is nothing."""
