"""What a command is given: who asks, whose memory it is about, where, and the services that it may use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

from relay.core.errors import NotAllowed
from relay.core.models import Space
from relay.core.ports import Embedder
from relay.memory.claims import ClaimedTurn
from relay.memory.people import People
from relay.memory.spending.budget import UNLIMITED, Budget
from relay.memory.store import Store
from relay.memory.writing.summaries import Summariser

if TYPE_CHECKING:
    from relay.archive.backup_purge import Leftovers


async def leave_job(_kind: str, _key: str) -> None:
    """Leaves a job to whichever process does those that are owed."""


async def leave_messages(_erasure_id: int) -> None:
    """Leaves the bot's messages in the chats to whichever process takes back those that repeat what was erased."""


@dataclass(frozen=True, slots=True)
class Installation:
    """What the settings make of this Relay."""

    version: str
    model: str
    small_model: str
    storage: str
    web_search: bool = False
    hears: str = ""
    """What turns speech into text; empty: nothing does."""
    speaks: str = ""
    """What turns text into speech; empty: nothing does."""
    capture: str = "auto"
    """How memories come about: see RELAY_CAPTURE."""
    scratch: Path = Path(gettempdir())
    """A folder for what is too large for memory."""


@dataclass(frozen=True, slots=True)
class Services:
    """The installation, as far as commands may use it."""

    installation: Installation
    store: Store
    people: People
    summariser: Summariser
    budget: Budget = UNLIMITED
    embedder: Embedder | None = None
    """Finds by meaning; None: only words find."""
    leftovers: Leftovers | None = None
    """What remains of erased texts outside of the tables."""
    run_job: Callable[[str, str], Awaitable[object]] = leave_job
    """Does a job of a kind and key now that is owed, unless another process is at it."""
    retract: Callable[[int], Awaitable[None]] = leave_messages
    """Takes the bot's messages that repeat what an erasure took (by its id) out of the chats."""

    @property
    def zone(self) -> tzinfo:
        """The installation's time zone."""
        return self.budget.zone


@dataclass(frozen=True, slots=True)
class CommandContext:
    """Who asks, and where."""

    services: Services
    turn: ClaimedTurn
    """The turn that the command runs in. What it writes carries the turn's fence."""
    bot_id: int
    """0 at a terminal."""
    space: Space
    chat_id: int
    topic_id: int
    private: bool
    """Asked in a private chat."""
    user_id: int
    name: str
    admin: bool
    stop: Callable[[], Awaitable[bool]]
    """Ends the answer that is being written here, in whichever process; returns whether there was one."""
    sees: Callable[[Space], Awaitable[bool]]
    """Whether this person may see a space: their own, or that of a group they are in."""

    @property
    def store(self) -> Store:
        return self.services.store

    @property
    def zone(self) -> tzinfo:
        """The time zone in which this person reads dates."""
        return self.turn.choices.zone_or(self.services.zone)

    @property
    def operator(self) -> bool:
        """Whether somebody who runs Relay asks where nobody else reads along: they are told settings and causes."""
        return self.admin and self.private

    async def may_see(self, space: Space) -> bool:
        """Whether this person sees a space: that of the place where they speak, or one they see from elsewhere."""
        return space == self.space or await self.sees(space)

    async def require_sight(self) -> None:
        """Raises `NotAllowed` unless this person is a member of the space at this moment. A button can be pressed by
        whoever sees the message that it is under."""
        if not await self.sees(self.space):
            raise NotAllowed
