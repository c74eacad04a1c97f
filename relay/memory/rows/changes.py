"""Changes of memories: their display, decisions and lists."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from relay.core.frozen import frozen
from relay.core.models import Space

ChangeStatus = Literal["pending", "applied", "undone", "discarded"]


@frozen
class MemoryChange:
    """One change of a memory."""

    id: int
    action: Literal["learn", "refresh", "supersede", "merge", "forget", "archive", "restore", "pin", "unpin"]
    status: ChangeStatus
    """pending: it waits for a tap."""
    memory_id: int
    kind: str
    """The memory's kind: learning, or a kind of fact."""
    content: str
    before: str | None = None
    """The memory's text before the change; for a replacement, the text of the replaced memory."""
    subject: str | None = None
    subject_id: int | None = None
    happens_at: datetime | None = None
    """The date of a future goal or event for which no reminder is set. If no time of day is known, it is midnight or
    the last second of the day."""

    reminded: bool = False
    """A reminder is set for the memory that was reworded, replaced or forgotten. The reminder is not changed."""

    @property
    def waits(self) -> bool:
        """Tells whether the change waits for a tap."""
        return self.status == "pending"


@frozen(kw_only=True)
class PastChange(MemoryChange):
    """A change in a list."""

    at: datetime
    decided_at: datetime | None = None


@frozen(kw_only=True)
class ListedChange(PastChange):
    """A change in the list of a space."""

    yours: bool = False
    """The reader may decide about it."""
    undoable: bool = True
    """It took effect, and nothing has changed the memory since, such as a merge."""


@frozen(kw_only=True)
class FormerChange(PastChange):
    """A change in a memory's history."""

    restores: bool = False
    """The memory's earlier text can be restored."""


@frozen
class Failure:
    """A request to memory that was not carried out."""

    tag: str
    """learn, forget, remember or another action, in either case."""
    text: str
    failed: str
    """The reason, as a fragment of a sentence, such as "there is no such memory"."""
    hint: str = ""
    """The command that changes it, if there is one: /memory on."""


@frozen
class Changed:
    """The results of actions on memory."""

    changes: tuple[MemoryChange, ...] = ()
    failed: tuple[Failure, ...] = ()
    waits: bool = False
    """Something was proposed before, and waits for a tap."""


@frozen
class ChangePage:
    """A page of a space's changes, newest first."""

    total: int
    pending: int
    """How many of the space's changes wait for a tap."""
    offset: int
    changes: tuple[ListedChange, ...]
    space_id: int | None = None
    """None: nothing was ever said in that space."""


@frozen
class MemoryPast:
    """A page of one memory's changes, newest first."""

    total: int
    offset: int
    changes: tuple[FormerChange, ...]


@frozen
class ChangePlace:
    """The place to which a turn's changes, or one change, belong."""

    space: Space
    turn_id: int | None
    """None: no turn made the change, as when everything is forgotten at once."""
    memory_id: int | None
    """The changed memory; None: the place is a turn's."""
    replaced: int | None
    """The memory that the change replaced."""
    keeps: bool
    """The turn's answer has a ◆ button that keeps it."""
