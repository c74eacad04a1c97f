"""Nights: what they have to deal with, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.core.models import Space
from relay.memory.calls.base import Calls
from relay.memory.rows.upkeep.digest import DigestDay, DigestPlace
from relay.memory.rows.upkeep.nights import Night, NightAhead, NightSpace, Note, PairPage, PhaseResult, PlanStep, Tidied


class NightCalls(Calls):
    """Nightly work."""

    async def night_ahead(self) -> NightAhead:
        """What a night would find now."""
        return await self._fetch(NightAhead, "night_ahead")

    async def open_night(self) -> Night | None:
        """The night that was begun and has not ended."""
        return await self._find(Night, "open_night")

    async def begin_night(self) -> Night:
        """Begins a night, or goes on with the open one."""
        return await self._fetch(Night, "begin_night")

    async def end_phase(self, night_id: int, phase: str, result: PhaseResult) -> None:
        """Ends a phase of a night, with its result."""
        await self._call("end_phase", night_id=night_id, phase=phase, told=dict(result))

    async def end_night(self, night_id: int) -> None:
        """A night is over."""
        await self._call("end_night", night_id=night_id)

    async def sleepers(self, night_id: int, phase: str, after: int) -> list[NightSpace]:
        """The next spaces with which a phase has to deal, by their numbers after `after`."""
        return await self._list(NightSpace, "sleepers", night_id=night_id, phase=phase, after=after)

    async def statistics(self, after: str | None) -> str | None:
        """Gathers the statistics of the next table after this one: its name; None when there is none left."""
        found: str | None = await self._call("statistics", after=after)
        return found

    async def pairs(self, space_id: int, after: int) -> PairPage:
        """Pairs of memories that may say the same or contradict each other."""
        return await self._fetch(PairPage, "pairs", space_id=space_id, after=after)

    async def past_goals(self, space_id: int) -> list[Note]:
        """The goals of a space whose date has passed."""
        return await self._list(Note, "past_goals", space_id=space_id)

    async def consolidate(self, space_id: int, plan: Sequence[PlanStep], through: int | None) -> Tidied | None:
        """Carries a plan out; None when this night's was already.

        `through`: up to which of the new memories it goes; None: all.
        """
        return await self._find(
            Tidied, "consolidate", space_id=space_id, plan=[step.as_json() for step in plan], through=through
        )

    async def ask_consolidation(
        self,
        space_id: int,
        bot_id: int,
        plan: Sequence[PlanStep],
        lost: int,
        active: int,
        through: int | None,
        to: Sequence[int],
        question: str,
    ) -> bool:
        """Keeps a plan until a person has decided about it, and asks these people; False: they were asked before.

        `question`: Markdown. Whatever shows it adds the buttons that answer it.
        """
        return bool(
            await self._call(
                "ask_consolidation",
                space_id=space_id,
                bot_id=bot_id,
                plan=[step.as_json() for step in plan],
                lost=lost,
                active=active,
                through=through,
                to=[str(user_id) for user_id in to],
                notice={"text": question},
            )
        )

    async def consolidation(self, id: int) -> Space | None:
        """The space that a question about a consolidation is about; None when it is settled."""
        return await self._find(Space, "consolidation", id=id)

    async def settle_consolidation(self, id: int, go: bool) -> Tidied | None:
        """Does what was asked about, or leaves it: what was done; None when it was settled before."""
        return await self._find(Tidied, "settle_consolidation", id=id, go=go)

    async def want_digest(self, space: Space, where: DigestPlace | None) -> bool:
        """Sends the digests of a space there from now on; None: nowhere."""
        place = where.as_json() if where else None
        return bool(await self._call("want_digest", space=space.as_json(), where=place))

    async def digest_wanted(self, space: Space) -> DigestPlace | None:
        """Where the digests of a space are sent; None: nowhere."""
        return await self._find(DigestPlace, "digest_wanted", space=space.as_json())

    async def digest_due(self, space_id: int) -> DigestDay | None:
        """What a space's digest is made of that is due; None: none is."""
        return await self._find(DigestDay, "digest_due", space_id=space_id)

    async def digest_now(self, space: Space) -> DigestDay:
        """What a digest of a space's last day is made of."""
        return await self._fetch(DigestDay, "digest_now", space=space.as_json())

    async def post_digest(self, space_id: int, bot_id: int, notice: Mapping[str, object] | None) -> bool:
        """Queues the digest of a space that is due to be said, once (None: nothing is); whether it was."""
        return bool(await self._call("post_digest", space_id=space_id, bot_id=bot_id, notice=notice))
