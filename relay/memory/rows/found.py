"""Search results in a space."""

from __future__ import annotations

from datetime import datetime

from relay.core.frozen import frozen


@frozen
class FoundEntry:
    """A message, memory, other artefact or document part that is relevant to a query."""

    kind: str
    """message, part or a kind of artefact."""
    id: int
    at: datetime
    snippet: str
    """The relevant passage, on one line of up to about 600 characters."""
    untrusted: bool = False
    """It was written by others, or made from what others wrote."""
    part: int = 0
    """The number of a document's part, from 1."""
    parts: int | None = None
    document: str | None = None
    """The document's name."""
    message_id: int | None = None
    """The message itself, or the one that brought the document."""
    role: str | None = None
    """That message's role: user or assistant."""
    user_id: int | None = None
    name: str | None = None
    thread_id: int | None = None
    subject: str | None = None
    """A memory's subject."""
    status: str | None = None
    """A memory's status."""
    valid_until: datetime | None = None
    """The end of a memory's validity."""
    score: float = 0.0
    """The rank by words and meaning together; comparable only within one search."""
    place: str | None = None
    """The name of the chat and topic, if requested."""
    lent: bool = False
    """It comes from the space that the speaker lends."""

    def is_foreign(self, speaker: int | None) -> bool:
        """Tells whether others wrote it, or it was made from what others wrote. `speaker`: in a group, the person who
        doesn't count as another."""
        return self.untrusted or (speaker is not None and self.user_id != speaker)


@frozen
class Recalled:
    """What is relevant enough to a message to be recalled, best first."""

    found: tuple[FoundEntry, ...]
