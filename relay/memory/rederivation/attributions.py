"""Attributes acts anew that another version attributed: another prompt, other weights, another model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from relay.core.models import Space
from relay.core.prompt_markup import estimate_tokens
from relay.memory.preferences.attribution import (
    MOST_TOKENS,
    PROMPT,
    Attributor,
    attributed,
    estimate_again,
    material,
    observations,
)
from relay.memory.rederivation.change import Change, Estimate, Step
from relay.memory.rows.turns.preferences import AttributionWork, DerivedFeedback, ObservedPattern


@dataclass(slots=True)
class Attributions:
    """A space's acts since a moment that another version attributed."""

    attributor: Attributor
    space: Space
    since: datetime | None
    at_once: int
    _found: list[DerivedFeedback] = field(default_factory=list, init=False)

    async def estimate(self) -> Estimate:
        """See `Again.estimate`."""
        total, after, store = Estimate(), 0, self.attributor.store
        while page := await store.derived_feedback(self.space, self.since, self.attributor.version, after):
            for row in page:
                after = row.work.feedback_id
                self._found.append(row)
                if row.work.attributable:
                    total += Estimate(
                        1, estimate_tokens(PROMPT) + estimate_tokens(material(row.work)), MOST_TOKENS // 4
                    )
        return total

    async def changes(self, done: Step) -> list[Change]:
        """See `Again.changes`."""
        places, finished = asyncio.Semaphore(self.at_once), 0

        async def one(row: DerivedFeedback) -> Change:
            nonlocal finished
            async with places:
                change = await self._again(row)
            finished += 1
            done(finished)
            return change

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(row)) for row in self._found]
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        return [task.result() for task in tasks]

    async def settled(self) -> None:
        """See `Again.settled`: works out anew what each person's choices say together."""
        people = {(row.work.user_id, row.work.counts_in): row.work for row in self._found}
        for work in people.values():
            await estimate_again(self.attributor.store, work)

    async def _again(self, row: DerivedFeedback) -> Change:
        work, store = row.work, self.attributor.store
        said, derivation = await attributed(self.attributor, work)
        found = observations(work, said.patterns)
        apply = partial(store.replace_observations, work.feedback_id, found, derivation.as_json())
        after = [ObservedPattern(str(one["type"]), str(one["pattern"]), int(str(one["polarity"]))) for one in found]
        return Change("preference", label(work), in_words(row.before), in_words(after), apply)


def label(work: AttributionWork) -> str:
    """An act in a few words."""
    return f"{work.kind} of answer {work.answer_id}"


def in_words(patterns: Sequence[ObservedPattern]) -> str | None:
    """Patterns in a line; None for none."""
    said = [f"{'prefer' if one.polarity > 0 else 'avoid'} {one.pattern}" for one in patterns]
    return ", ".join(said) or None
