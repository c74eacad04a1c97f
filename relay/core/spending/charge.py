"""Who pays for a model call, and what was used."""

from __future__ import annotations

from relay.core.frozen import frozen
from relay.core.models import Space
from relay.core.spending.prices import ModelUse


@frozen
class Charge:
    """What a model call is for and who pays: the person, or else the owner of the private space that is named,
    directly or by a turn, thread or session in it. Calls for a group's space count only against the shared budget."""

    what: str
    user_id: int | None = None
    space: Space | None = None
    space_id: int | None = None
    turn_id: int | None = None
    thread_id: int | None = None
    session_id: int | None = None


@frozen
class ChargedUse(ModelUse):
    """Today's use of one model, either by one person or by everyone else."""

    own: bool
    """The person in question pays for it."""


@frozen
class Account:
    """Who pays for a piece of work, and today's use."""

    user_id: int | None
    """None: no single person pays."""
    spent: tuple[ChargedUse, ...]


@frozen
class Spending:
    """The use of one piece of work."""

    id: str
    """A UUID, so that the same work is counted only once."""
    done: bool
    """The work produced a result."""
    model: str
    usage: dict[str, int]
    """Tokens and searches by kind, named as in the Messages API."""
