"""Digests: where they are wanted, and what a day's digest is made of."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class DigestPlace:
    """Where a space's digests are sent, and who wants them."""

    user_id: int
    chat_id: int
    topic_id: int

    def as_json(self) -> dict[str, object]:
        """As `relay_want_digest` takes it."""
        return {name: str(value) for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class DayMessage:
    """A message of the day."""

    id: int
    role: str
    user_id: int | None
    name: str | None
    text: str
    """At most 1,000 characters."""
    untrusted: bool
    """Others wrote in it."""
    title: str | None
    """Of its conversation."""


@dataclass(frozen=True, slots=True)
class DayMemory:
    """A memory that was learned on the day."""

    id: int
    content: str


@dataclass(frozen=True, slots=True)
class DigestDay:
    """What a digest is made of."""

    space_id: int | None
    """None: nothing was ever said there."""
    messages: tuple[DayMessage, ...] = ()
    learned: tuple[DayMemory, ...] = ()
