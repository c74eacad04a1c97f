"""On whose account a model is asked, and what was used of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from relay.core.models import Space
from relay.core.prices import ModelUse


@dataclass(frozen=True, slots=True)
class Charge:
    """What a model is asked for, and who pays: the person, else whoever owns the private space that is named, by itself
    or by a turn, thread or session in it. For a group's space nobody pays but all together."""

    what: str
    user_id: int | None = None
    space: Space | None = None
    space_id: int | None = None
    turn_id: int | None = None
    thread_id: int | None = None
    session_id: int | None = None

    def as_json(self) -> dict[str, object]:
        """As `relay.account` takes it."""
        return {**asdict(self), "space": self.space.as_json() if self.space else None}


@dataclass(frozen=True, slots=True)
class ChargedUse(ModelUse):
    """What was used of one model today, by one person or by everybody else."""

    own: bool
    """The person who was asked about pays for it."""


@dataclass(frozen=True, slots=True)
class Account:
    """Who pays for a piece of work, and what was used today."""

    user_id: int | None
    """None: no single person pays."""
    spent: tuple[ChargedUse, ...]


@dataclass(frozen=True, slots=True)
class Spending:
    """What one piece of work used."""

    id: str
    """A UUID: the same work is counted once."""
    done: bool
    """The work had a result."""
    model: str
    usage: dict[str, int]
    """Tokens and searches by kind, with the names of the Messages API."""

    def as_json(self) -> dict[str, object]:
        """As `relay.keep_spend` takes it."""
        return asdict(self)
