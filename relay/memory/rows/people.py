"""Known people, invitations, and groups' settings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Member:
    """A person with access."""

    user_id: int
    role: str
    """admin or user."""
    name: str


@dataclass(frozen=True, slots=True)
class Person:
    """A person in the database."""

    user_id: int
    name: str
    role: str
    """admin, user, asking, refused or blocked."""
    username: str | None = None
    decided_by_name: str | None = None
    decided_at: datetime | None = None
    let_in: bool = False
    """They once had access."""

    @property
    def may_use(self) -> bool:
        """Whether they may use the bot."""
        return self.role in ("admin", "user")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedPerson(Person):
    """A person about whom a decision was made."""

    changed: bool
    """This decision counted; False: an earlier one did."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """An open invitation."""

    id: int
    for_whom: str
    made_by_name: str | None
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class KnownPeople:
    """Everyone in the database."""

    people: tuple[Person, ...]
    """People with access, and those who ask for it."""
    out: tuple[Person, ...]
    """The newest people without access."""
    out_count: int
    invites: tuple[Invitation, ...]


@dataclass(frozen=True, slots=True)
class GroupPlace:
    """What a group's topic answers, and whose memory the group is lent; None: not set."""

    here: str | None
    """all, addressed or off."""
    everywhere: str | None
    lender: int | None

    @property
    def answers(self) -> str | None:
        """The setting in force in the topic."""
        return self.here or self.everywhere
