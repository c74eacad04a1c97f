"""Rewrites summaries, each conversation's in the order in which they build on each other."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from relay.core.charge import Charge
from relay.core.models import Space
from relay.core.prompt_markup import estimate_tokens
from relay.memory.rederivation.change import Change, Estimate, Step
from relay.memory.rows.upkeep.writing import DerivedSummary, NewSummary
from relay.memory.writing.summaries import Summariser, is_tainted, summary_derivation, summary_messages, write_summary

WORDS = 300
"""Approximate tokens of a summary."""


@dataclass(slots=True)
class Summaries:
    """A space's summaries since a moment that another summariser wrote."""

    summariser: Summariser
    space: Space
    since: datetime | None
    at_once: int
    _chains: dict[int, list[int]] = field(default_factory=dict, init=False)
    """By thread: the summaries to rewrite, including all that build on one of them."""

    async def estimate(self) -> Estimate:
        """See `Again.estimate`."""
        total, after = Estimate(), 0
        while page := await self.summariser.store.derived_summaries(self.space, self.since, after):
            for row in page:
                after = row.id
                total += await self._estimated(row)
        return total

    async def _estimated(self, row: DerivedSummary) -> Estimate:
        work = await self.summariser.store.derived_summary(row.id)
        if work is None or not work.messages:
            return Estimate()
        derivation = summary_derivation(self.summariser, work.previous, work.messages)
        if work.hash == derivation.hash and row.thread_id not in self._chains:
            return Estimate()
        self._chains.setdefault(row.thread_id, []).append(row.id)
        content = summary_messages(work.previous, work.messages)[0]["content"][0]["text"]
        return Estimate(1, estimate_tokens(content) + WORDS, WORDS)

    async def changes(self, done: Step) -> list[Change]:
        """See `Again.changes`."""
        turns, finished = asyncio.Semaphore(self.at_once), 0

        def one_more() -> None:
            nonlocal finished
            finished += 1
            done(finished)

        async def chain(ids: list[int]) -> list[Change]:
            async with turns:
                texts: dict[int, str] = {}
                found = []
                for id in ids:
                    found += await self._again(id, texts)
                    one_more()
                return found

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(chain(ids)) for ids in self._chains.values()]
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        return [change for task in tasks for change in task.result()]

    async def settled(self) -> None:
        """See `Again.settled`: each summary records its own version."""

    async def _again(self, id: int, texts: dict[int, str]) -> list[Change]:
        """Rewrites one summary, based on the new text of the one before. `texts`: the new texts of its conversation."""
        store = self.summariser.store
        work = await store.derived_summary(id)
        if work is None:
            return []
        previous, messages = work.previous, work.messages
        if previous is not None and previous.id in texts:
            previous = replace(previous, text=texts[previous.id])
        derivation = summary_derivation(self.summariser, previous, messages)
        charge = Charge("rederive", space_id=work.space_id)
        made = await write_summary(self.summariser, work.space_id, derivation, previous, messages, charge)
        texts[id] = made.text
        row = NewSummary(
            text=made.text,
            model=made.model,
            usage=made.usage,
            settings=self.summariser.settings,
            derivation=derivation.as_json(),
            tainted=is_tainted(previous, messages),
        )
        apply = partial(store.replace_summary, id, work.text, row)
        return [Change("summary", f"summary {id}", work.text, made.text, apply)]
