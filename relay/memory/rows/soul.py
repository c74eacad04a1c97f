"""Versions of the soul, drafts of it, and personas."""

from __future__ import annotations

from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

from relay.core.frozen import frozen
from relay.memory.rows.turns.context import ShownSoul
from relay.memory.rows.turns.preferences import Preference
from relay.memory.rows.upkeep.night import Note


@frozen
class Soul:
    """A version of the soul."""

    version: int
    text: str
    author_id: int | None
    reason: str | None
    active: bool
    created_at: datetime
    author: str | None = None


@frozen
class SoulPage:
    """A page of the versions, newest first."""

    total: int
    souls: tuple[Soul, ...]


@frozen
class SoulDraft:
    """A draft of the soul."""

    id: int
    text: str
    status: str
    """open, activated or discarded."""
    based_on: int | None
    """The version that its author had read."""
    version: int | None = None
    """The version that it became; None: it became none."""


@frozen
class Persona:
    """A version of the persona in one chat or topic; an empty text: no persona."""

    id: int
    text: str
    author_id: int | None
    created_at: datetime
    author: str | None = None
    session_id: int | None = None
    """The off-the-record session with which it ends."""


@frozen
class PersonaChange:
    """The result of changing a persona."""

    present: Persona | None
    before: Persona | None
    """The version it replaced; None: nothing changed."""


@frozen
class Growth:
    """An admin who may get a proposal to change the soul once a week."""

    space_id: int
    user_id: int
    bot_id: int
    zone: str
    next_at: datetime

    @property
    def tzinfo(self) -> tzinfo:
        return ZoneInfo(self.zone)


@frozen
class SoulIdea:
    """A proposed change of the soul."""

    id: int
    text: str
    replaces: str
    """A passage of the soul; empty: the text is added."""
    inputs: tuple[str, ...]
    """What it rests on, such as `memory:12` or `preference:3`."""
    status: str
    """open, accepted, edited or dismissed."""
    stands: bool = True
    """What it rests on is still known."""

    def applied(self, soul: str) -> str | None:
        """Returns the soul with the change applied; None if the passage is not in it."""
        if not self.replaces:
            return f"{soul}\n{self.text}".strip()
        return soul.replace(self.replaces, self.text, 1) if self.replaces in soul else None


@frozen
class GrowthWork:
    """What an idea can be drawn from."""

    growth: Growth
    soul: ShownSoul
    memories: tuple[Note, ...]
    """Learnings about how an admin wants things to be."""
    preferences: tuple[Preference, ...]
    ideas: tuple[SoulIdea, ...]
    """All changes that were proposed before."""
