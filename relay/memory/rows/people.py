"""People who are known, invitations, and what holds in a group."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody who may use the bot."""

    user_id: int
    role: str
    """admin or user."""
    name: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom the database knows."""

    user_id: int
    name: str
    role: str
    """admin, user, asking, refused or blocked."""
    username: str | None = None
    decided_by_name: str | None = None
    decided_at: datetime | None = None
    let_in: bool = False
    """They were once let in."""

    @property
    def may_use(self) -> bool:
        """Whether they may use the bot."""
        return self.role in ("admin", "user")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedPerson(Person):
    """Somebody about whom a word was given."""

    changed: bool
    """This word counted; False: it was decided before."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """An open invitation."""

    id: int
    for_whom: str
    made_by_name: str | None
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class KnownPeople:
    """Everybody who is known."""

    people: tuple[Person, ...]
    """Those who may use the bot, and those who ask to."""
    out: tuple[Person, ...]
    """The newest of those who are not let in."""
    out_count: int
    invites: tuple[Invitation, ...]


@dataclass(frozen=True, slots=True)
class GroupPlace:
    """What is answered in a topic of a group, and whose memory is lent to the group; None: nobody said."""

    here: str | None
    """all, addressed or off."""
    everywhere: str | None
    lender: int | None

    @property
    def answers(self) -> str | None:
        """What holds in the topic."""
        return self.here or self.everywhere
