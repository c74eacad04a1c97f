"""The context of a command: who asks, whose memory it is about, where, and the services available."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import tzinfo
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

from relay.core.errors import NotAllowed
from relay.core.frozen import frozen
from relay.core.models import Space, Thread
from relay.core.ports import Embedder
from relay.memory.claims import ClaimedTurn
from relay.memory.people import People
from relay.memory.spending.budget import UNLIMITED, Budget
from relay.memory.store import Store
from relay.memory.writing.summaries import Summariser

if TYPE_CHECKING:
    from relay.archive.nightly import ErasureCleanup


NAMELESS = "User"
"""The name of a person whose name is unknown."""


async def leave_it(*_: object) -> None:
    """Leaves the work to whichever process does what is due."""


@frozen
class Installation:
    """Properties of this installation, from the settings."""

    version: str
    model: str
    small_model: str
    storage: str
    web_search: bool = False
    hears: str = ""
    """The speech-to-text engine; empty: none."""
    speaks: str = ""
    """The text-to-speech engine; empty: none."""
    capture: str = "auto"
    """What may be learned: RELAY_CAPTURE."""
    web_url: str = ""
    """The address of the web app: RELAY_WEB_URL; empty if the app is off."""
    memory_tokens: int = 6_000
    """The budget for memories in tokens: RELAY_MEMORY_TOKENS."""
    has_bot: bool = True
    """There is a bot's token, so what is due is sent in Telegram."""
    scratch: Path = Path(gettempdir())
    """A folder for files that are too large for memory."""
    offline: bool = False
    """A stand-in answers instead of the models."""


@frozen
class Services:
    """The services that commands may use."""

    installation: Installation
    store: Store
    people: People
    summariser: Summariser
    budget: Budget = UNLIMITED
    embedder: Embedder | None = None
    """Searches by meaning; None: by words only."""
    erasure_cleanup: ErasureCleanup | None = None
    """Finds what remains of erased texts outside of the tables."""
    run_job: Callable[[str, str], Awaitable[object]] = leave_it
    """Runs an owed job by kind and key now, unless another process has it."""
    retract: Callable[[int], Awaitable[None]] = leave_it
    """Retracts the bot's messages that repeat what an erasure (by id) took."""

    @property
    def zone(self) -> tzinfo:
        """The installation's time zone."""
        return self.budget.zone


@frozen
class CommandContext:
    """Who asks, and where."""

    services: Services
    turn: ClaimedTurn
    """The turn that the command runs in. Its writes carry the turn's fence."""
    bot_id: int
    """The bot's id; 0 at a terminal."""
    space: Space
    chat_id: int
    topic_id: int
    private: bool
    """The command was given in a private chat."""
    user_id: int
    name: str
    admin: bool
    stop: Callable[[], Awaitable[bool]]
    """Stops the answer in progress here, in any process; returns whether there was one."""
    sees: Callable[[Space], Awaitable[bool]]
    """Returns whether this person may see a space: their own, or that of a group they are in."""

    @property
    def store(self) -> Store:
        return self.services.store

    @property
    def thread(self) -> Thread:
        return Thread(self.space, self.chat_id, self.topic_id)

    @property
    def zone(self) -> tzinfo:
        """Returns the time zone for this person's dates."""
        return self.turn.choices.zone_or(self.services.zone)

    @property
    def operator(self) -> bool:
        """Tells whether an operator asks in private, so that settings and causes may be shown."""
        return self.admin and self.private

    def thread_in(self, space: Space) -> Thread:
        """Returns this thread if it belongs to the space, otherwise the space without a thread."""
        return self.thread if space == self.space else Thread(space, 0, 0)

    async def may_see(self, space: Space) -> bool:
        """Tests whether this person sees a space: that of this place, or one they see from elsewhere."""
        return space == self.space or await self.sees(space)

    async def require_sight(self) -> None:
        """Raises `NotAllowed` unless this person is a member of the space now. Anyone who sees a message can press its
        buttons."""
        if not await self.sees(self.space):
            raise NotAllowed
