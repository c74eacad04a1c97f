"""On whose account a model is asked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from relay.core.models import Space


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

    def as_json(self) -> dict[str, Any]:
        """As `relay.account` takes it."""
        return {**asdict(self), "space": self.space.as_json() if self.space else None}
