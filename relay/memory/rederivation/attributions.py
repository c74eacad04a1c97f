"""Attributes acts again that another version attributed: another prompt, other weights or another model."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from relay.core.models import Space
from relay.core.prompt_markup import estimate_tokens
from relay.memory.calls.base import decode_row
from relay.memory.preferences.attribution import MOST_TOKENS, PROMPT, Attributor, attribute_act, material, observations
from relay.memory.rederivation.change import Change, Estimate, Step, run_each
from relay.memory.rows.turns.preferences import AttributionWork, DerivedFeedback, ObservedPattern


@dataclass(slots=True)
class Attributions:
    """The acts of a space since a moment that another version attributed."""

    attributor: Attributor
    space: Space
    since: datetime | None
    at_once: int
    _found: list[DerivedFeedback] = field(default_factory=list, init=False)

    async def estimate(self) -> Estimate:
        """See `Rederivation.estimate`."""
        total, after, store = Estimate(), 0, self.attributor.store
        while page := await store.list_derived_feedback(self.space, self.since, self.attributor.version, after):
            for row in page:
                after = row.work.feedback_id
                self._found.append(row)
                if row.work.attributable:
                    total += Estimate(
                        1, estimate_tokens(PROMPT) + estimate_tokens(material(row.work)), MOST_TOKENS // 4
                    )
        return total

    async def changes(self, done: Step) -> list[Change]:
        """See `Rederivation.changes`."""
        numbers = itertools.count(1)

        async def one(row: DerivedFeedback) -> Change:
            change = await self._rederive(row)
            done(next(numbers))
            return change

        return await run_each(self._found, self.at_once, one)

    async def finish(self) -> None:
        """See `Rederivation.finish`: a separate job weighs each person's choices together."""

    async def _rederive(self, row: DerivedFeedback) -> Change:
        work, store = row.work, self.attributor.store
        said, derivation = await attribute_act(self.attributor, work)
        found = observations(work, said.patterns)
        result = {"observations": found, "derivation": derivation.as_json()}
        apply = partial(store.replace_observations, work.feedback_id, result)
        after = decode_row(list[ObservedPattern], found)
        return Change(label(work), format_patterns(row.before), format_patterns(after), apply)


def label(work: AttributionWork) -> str:
    """Returns an act in a few words."""
    return f"{work.kind} of answer {work.answer_id}"


def format_patterns(patterns: Sequence[ObservedPattern]) -> str | None:
    """Returns patterns on one line; None if there are none."""
    said = [one.words for one in patterns]
    return ", ".join(said) or None
