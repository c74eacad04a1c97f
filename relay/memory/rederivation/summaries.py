"""Rewrites summaries, each conversation's in the order in which they build on each other."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from relay.core.models import Space
from relay.core.prompt_markup import estimate_tokens
from relay.core.spending.charge import Charge
from relay.memory.rederivation.change import Change, Estimate, Step, run_each
from relay.memory.rows.upkeep.writing import DerivedSummary
from relay.memory.writing.summaries import Summariser, as_data, remove_passages, summary_derivation, write_summary

WORDS = 300
"""The approximate tokens of a summary."""


@dataclass(slots=True)
class Summaries:
    """The summaries of a space since a moment that another summariser wrote."""

    summariser: Summariser
    space: Space
    since: datetime | None
    at_once: int
    _chains: dict[int, list[int]] = field(default_factory=dict, init=False)
    """The summaries to rewrite by thread, including all that build on one of them."""

    async def estimate(self) -> Estimate:
        """See `Rederivation.estimate`."""
        total, after = Estimate(), 0
        while page := await self.summariser.store.list_derived_summaries(self.space, self.since, after):
            for row in page:
                after = row.id
                total += await self._estimate(row)
        return total

    async def _estimate(self, row: DerivedSummary) -> Estimate:
        work = await self.summariser.store.find_derived_summary(row.id)
        if work is None or not work.messages:
            return Estimate()
        previous = remove_passages(work.previous)
        derivation = summary_derivation(self.summariser, previous, work.messages)
        if work.hash == derivation.hash and row.thread_id not in self._chains:
            return Estimate()
        self._chains.setdefault(row.thread_id, []).append(row.id)
        read = estimate_tokens(as_data(previous, work.messages, self.summariser.zone))
        return Estimate(1, read + WORDS, WORDS)

    async def changes(self, done: Step) -> list[Change]:
        """See `Rederivation.changes`."""
        numbers = itertools.count(1)

        async def chain(ids: list[int]) -> list[Change]:
            texts: dict[int, str] = {}
            found = []
            for id in ids:
                found += await self._rederive(id, texts)
                done(next(numbers))
            return found

        chains = await run_each(list(self._chains.values()), self.at_once, chain)
        return [change for found in chains for change in found]

    async def finish(self) -> None:
        """See `Rederivation.finish`: each summary records its own version."""

    async def _rederive(self, id: int, texts: dict[int, str]) -> list[Change]:
        """Rewrites one summary, based on the new text of the one before. `texts`: the new texts of its conversation."""
        store = self.summariser.store
        work = await store.find_derived_summary(id)
        if work is None or not work.messages:
            return []
        previous = work.previous
        if previous is not None and previous.id in texts:
            previous = replace(previous, text=texts[previous.id])
        charge = Charge("rederive", space_id=work.space_id)
        texts[id], row = await write_summary(self.summariser, work, remove_passages(previous), charge)
        apply = partial(store.replace_summary, id, work.text, row)
        return [Change(f"summary {id}", work.text, row.text, apply)]
