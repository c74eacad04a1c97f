"""The soul and personas."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from relay.core.models import Space, Thread
from relay.memory.calls.base import Calls, rpc
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.soul import Growth, GrowthWork, Persona, PersonaChange, Soul, SoulDraft, SoulIdea, SoulPage
from relay.memory.rows.turns.context import Context


class SoulCalls(Calls):
    """The versions of the soul, drafts and proposed changes of it, and personas."""

    @rpc()
    async def soul(self) -> Soul | None:
        """Returns the active soul."""

    @rpc()
    async def soul_version(self, version: int) -> Soul | None:
        """Returns a version, active or not."""

    @rpc()
    async def souls(self, skip: int, limit: int) -> SoulPage:
        """Returns the versions, newest first."""

    @rpc()
    async def activate_soul(self, text: str, author_id: int, author: str, reason: str) -> int:
        """Activates a new version, unless its text equals the active one's. Returns the active version."""

    @rpc()
    async def draft_soul(
        self, turn_id: int, text: str, author_id: int, author: str, reason: str, based_on: int | None
    ) -> int:
        """Stores a draft. Returns its id, the same for repeated calls of a turn."""

    @rpc()
    async def decide_soul_draft(self, draft_id: int, decision: str, seen: int, user_id: int) -> SoulDraft | None:
        """Decides an open draft: activate (if the version `seen` is active) or discard. Returns the draft; None if
        there is none."""

    @rpc()
    async def soul_drafted(self, draft_id: int) -> SoulDraft | None:
        """Returns a draft, decided or not."""

    @rpc()
    async def soul_trial(
        self,
        bot_id: int,
        thread: Thread,
        user_id: int,
        message_id: int,
        replied: int,
        memory_budget: int,
        recent_budget: int,
    ) -> list[Context]:
        """Returns what a turn would load for each of a person's last three own messages of a thread, oldest first.
        Alternatively for one message: by its id, or by a message of the chat that is it or answers it. Budgets are in
        characters."""

    @rpc()
    async def growth(self, space: Space) -> Growth | None:
        """Returns the settings of proposals from a space's memory; None: they are off."""

    @rpc()
    async def set_growth(self, space: Space, growth: Mapping[str, object] | None) -> None:
        """Turns on proposals from a space's memory (`{user_id, bot_id, zone, next_at}`); None turns them off."""

    @rpc()
    async def growth_work(self, job: ClaimedJob) -> GrowthWork | None:
        """Returns what an idea can be drawn from. None: this process has lost the job, or proposals are off."""

    @rpc()
    async def post_idea(
        self, job: ClaimedJob, bot_id: int, idea: Mapping[str, object] | None, next_at: datetime
    ) -> bool:
        """Stores and queues an idea (None: there is none), and owes the next one. Returns whether an idea was
        proposed."""

    @rpc()
    async def soul_idea(self, space: Space, idea_id: int) -> SoulIdea | None:
        """Returns an idea that was drawn from a space's memory; None if there is none."""

    @rpc()
    async def settle_idea(
        self, space: Space, idea_id: int, decision: str, user_id: int, author: str, text: str = "", seen: int = 0
    ) -> SoulIdea | None:
        """Decides an open idea: accepted (`text` becomes the soul, if version `seen` is active), edited or dismissed.
        Returns the idea; None if there is none."""

    @rpc()
    async def persona(self, chat_id: int, topic_id: int, id: int | None = None) -> Persona | None:
        """Returns a version of a place's persona, by default the current one."""

    @rpc()
    async def set_persona(
        self, chat_id: int, topic_id: int, text: str, author_id: int, author: str, instead_of: int | None = None
    ) -> PersonaChange:
        """Sets a place's persona (empty: clears it). If `instead_of` is given, only that version is replaced."""
