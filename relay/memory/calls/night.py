"""Nightly work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from relay.core.models import Space
from relay.memory.calls.base import Calls, rpc
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.proactive.heartbeat import MorningWork
from relay.memory.rows.upkeep.digest import Decayed, DigestDay, DigestPlace
from relay.memory.rows.upkeep.night import (
    Night,
    NightAhead,
    NightSpace,
    Note,
    PairPage,
    PhaseResult,
    PlanStep,
    TidiedCounts,
)


class NightCalls(Calls):
    """Nightly work."""

    @rpc()
    async def night_ahead(self) -> NightAhead:
        """Previews a night."""

    @rpc()
    async def night(self, night_id: int) -> Night:
        """Returns a night."""

    @rpc()
    async def begin_night(self) -> Night:
        """Begins a night, or continues the open one."""

    @rpc()
    async def end_phase(self, night_id: int, phase: str, told: PhaseResult) -> None:
        """Ends a phase with its result."""

    @rpc()
    async def end_night(self, night_id: int) -> None:
        """Ends a night."""

    @rpc()
    async def sleepers(self, night_id: int, phase: str, after: int) -> list[NightSpace]:
        """Returns the next spaces for a phase, by id after `after`."""

    @rpc()
    async def decay_spaces(self, after: int) -> list[int]:
        """Returns the next spaces with versions of old conversations, by id after `after`."""

    @rpc()
    async def decay(self, space_id: int, night_id: int, sunday: bool, pays: bool) -> Decayed:
        """Makes a space's due versions if it `pays` for them, and drops expired ones."""

    @rpc()
    async def statistics(self, after: str | None) -> str | None:
        """Gathers the next table's statistics and returns its name; None after the last."""

    @rpc()
    async def pairs(self, space_id: int, after: int) -> PairPage:
        """Returns pairs of memories that may say the same or contradict each other."""

    @rpc()
    async def past_goals(self, space_id: int) -> list[Note]:
        """Returns a space's goals whose date has passed."""

    @rpc()
    async def consolidate(self, space_id: int, plan: Sequence[PlanStep], through: int | None) -> TidiedCounts | None:
        """Applies a plan; None if this night's was already applied. `through`: the last new memory it covers; None:
        all."""

    @rpc()
    async def ask_consolidation(
        self,
        space_id: int,
        bot_id: int,
        plan: Sequence[PlanStep],
        lost: int,
        active: int,
        through: int | None,
        to: Sequence[int],
        notice: Mapping[str, object],
    ) -> bool:
        """Stores a plan until a person decides, and asks these people; False: they were already asked. `notice`: its
        Markdown as `text`. The surface adds the buttons."""

    @rpc()
    async def consolidation(self, id: int) -> Space | None:
        """Returns the space of a question about a consolidation; None if it is settled."""

    @rpc()
    async def settle_consolidation(self, id: int, go: bool) -> TidiedCounts | None:
        """Applies or rejects the plan; returns what was done, None if it was already settled."""

    @rpc()
    async def want_digest(self, space: Space, where: DigestPlace | None) -> bool:
        """Sets where a space's digests go; None: nowhere."""

    @rpc()
    async def digest_wanted(self, space: Space) -> DigestPlace | None:
        """Returns where a space's digests go; None: nowhere."""

    @rpc()
    async def move_to_zone(self, user_id: int, zone: str) -> None:
        """Moves the hours of a person's morning digest and heartbeat to another time zone."""

    @rpc()
    async def digest_due(self, space_id: int) -> DigestDay | None:
        """Returns the material of a due digest; None: none is due."""

    @rpc()
    async def digest_now(self, space: Space) -> DigestDay:
        """Returns the material of a digest of the last day."""

    @rpc()
    async def post_digest(self, space_id: int, bot_id: int, notice: Mapping[str, object] | None) -> bool:
        """Queues a space's due digest once (None: there is nothing to report). Returns whether it did."""

    @rpc()
    async def morning_work(self, job: ClaimedJob) -> MorningWork | None:
        """Returns what a morning digest is made from. None: this process has lost the job, or the digest is off."""

    @rpc()
    async def post_morning(
        self, job: ClaimedJob, bot_id: int, notice: Mapping[str, object] | None, through: int | None, next_at: datetime
    ) -> bool:
        """Queues a digest (None: there is nothing to report), and owes the next one. `through`: the last message that
        it covers; None: no new one. Returns whether it was queued."""
