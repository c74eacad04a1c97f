"""Memories derived again from the messages that taught them."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from difflib import SequenceMatcher
from functools import partial
from typing import Protocol, TypeVar

from relay.core.models import Space
from relay.core.prompt_markup import estimate_tokens
from relay.memory.derivation import Derivation, Input, derived
from relay.memory.rederivation.change import Change, Estimate, Step
from relay.memory.results import MOST, once
from relay.memory.rows.upkeep.judging import Candidate, FoundMemory, JudgedMessage
from relay.memory.rows.upkeep.nights import Note
from relay.memory.rows.upkeep.rederivation import Candidates, DerivedMemory, KnownBesides, ToldThread
from relay.memory.store import Store

BATCH = 20
"""Messages of one conversation that are looked at together."""
WORDS = 400
"""Tokens of a question beside its messages, about, and of its answer."""
ALIKE = 0.5
"""From which likeness on (difflib's ratio) two sentences from the same messages are one that was reworded."""


class Sourced(Protocol):
    """A sentence about somebody, and the messages that say it."""

    @property
    def content(self) -> str: ...

    @property
    def subject_id(self) -> int | None: ...

    @property
    def evidence(self) -> tuple[int, ...]: ...


class Rederiver(Protocol):
    """What finds things worth keeping in messages."""

    @property
    def name(self) -> str:
        """By which its memories are known: `derivation.name`."""
        ...

    @property
    def version(self) -> str:
        """Another version may find other things in the same messages."""
        ...

    async def derive(
        self, space_id: int, messages: Sequence[JudgedMessage], known: Sequence[KnownBesides]
    ) -> list[Candidate]:
        """What is worth keeping of some messages of one conversation, in their order; charges what it uses. `known`:
        what is or was known of them besides.

        Raises what the model raises.
        """
        ...

    async def settle(
        self,
        space_id: int,
        messages: Sequence[JudgedMessage],
        fresh: Sequence[FoundMemory],
        leaving: AbstractSet[int],
    ) -> list[tuple[Note | None, FoundMemory]]:
        """What is new of some messages once it met what is known: each with the memory whose place it takes (None:
        none); what is known is left out. `leaving`: memories that go, which count for nothing.

        Raises what the model raises.
        """
        ...


@dataclass(slots=True)
class Memories:
    """The memories that a derivation made of a space's messages since a moment. `asks`: all of it waits for a tap."""

    store: Store
    rederiver: Rederiver
    space: Space
    since: datetime | None
    results: int = MOST
    asks: bool = False
    _batches: list[tuple[int, int, int]] = field(default_factory=list, init=False)
    """Space, thread, and the message after which each batch begins."""

    async def estimate(self) -> Estimate:
        """See `Again.estimate`."""
        total, after = Estimate(), 0
        while threads := await self.store.told_threads(self.space, self.since, after, self.rederiver.version):
            for thread in threads:
                after = thread.id
                total += await self._estimated(thread)
        return total

    async def _estimated(self, thread: ToldThread) -> Estimate:
        total, after = Estimate(), 0
        while batch := await self.store.told_messages(thread.id, self.since, after, BATCH):
            self._batches.append((thread.space_id, thread.id, after))
            after = batch[-1].id
            total += Estimate(1, sum(estimate_tokens(row.text) for row in batch) + WORDS, WORDS)
        return total

    async def changes(self, done: Step) -> list[Change]:
        """See `Again.changes`."""
        found: list[Change] = []
        for number, (space_id, thread_id, after) in enumerate(self._batches, 1):
            batch = await self.store.told_messages(thread_id, self.since, after, BATCH)
            found += await self._again(space_id, batch)
            done(number)
        return found

    async def settled(self) -> None:
        """See `Again.settled`."""
        if self.since is None:
            for thread_id in dict.fromkeys(thread_id for _, thread_id, _ in self._batches):
                await self.store.rejudged(thread_id, self.rederiver.version)

    async def _again(self, space_id: int, batch: Sequence[JudgedMessage]) -> list[Change]:
        """What one batch comes to now, beside what is kept of it."""
        numbers = [row.id for row in batch]
        derivation = derived(
            self.rederiver.name, self.rederiver.version, [Input("message", row.id, row.text) for row in batch]
        )
        known = await self.store.known_besides(space_id, self.rederiver.name, numbers)

        async def make() -> Candidates:
            return Candidates(tuple(await self.rederiver.derive(space_id, batch, known)))

        made = await once(self.store, space_id, derivation, Candidates, make, self.results)
        kept = await self.store.derived_memories(space_id, self.rederiver.name, numbers)
        closed = {row.id for row in batch if row.learning == "off"}
        found = compared(without(kept, closed), without(made.candidates, closed))
        changed: list[tuple[Note | None, FoundMemory | None]] = [
            (old.note(), self._memory(new, derivation, batch) if new else None) for old, new in found if old is not None
        ]
        fresh = [new for old, new in found if old is None and new is not None and not known_already(new, known)]
        wanted = await self.store.wanted(space_id, fresh) if fresh else []
        rows = [self._memory(new, derivation, batch) for new, is_wanted in zip(fresh, wanted, strict=True) if is_wanted]
        if rows:
            leaving = {old.id for old, _ in found if old is not None}
            changed += await self.rederiver.settle(space_id, batch, rows, leaving)
        return [self._change(space_id, old, new) for old, new in changed]

    def _memory(self, new: Candidate, derivation: Derivation, batch: Sequence[JudgedMessage]) -> FoundMemory:
        """What was found, as it is kept."""
        rows = [row for row in batch if row.id in new.evidence]
        # What an older version found, and is kept as its result, does not say whether it is tainted: its messages do.
        tainted = new.tainted or any(one.untrusted or one.tainted for one in rows)
        return FoundMemory(
            **asdict(replace(new, tainted=tainted)),
            derivation=derivation,
            pending=tainted or self.asks or any(one.learning == "ask" for one in rows),
            at=max(row.at for row in rows),
        )

    def _change(self, space_id: int, old: Note | None, new: FoundMemory | None) -> Change:
        apply = partial(self.store.apply_derived, space_id, old, new)
        label = f"memory {old.id}" if old else "memory"
        return Change("memory", label, old.content if old else None, new.content if new else None, apply)


Found = TypeVar("Found", bound=Sourced)


def without(rows: Sequence[Found], messages: set[int]) -> list[Found]:
    """What rests on none of some messages, such as those of somebody who wants nothing to be learned."""
    return [row for row in rows if not messages & set(row.evidence)]


def compared(
    kept: Sequence[DerivedMemory], candidates: Sequence[Candidate]
) -> list[tuple[DerivedMemory | None, Candidate | None]]:
    """What becomes of each memory that is kept, and what is new: pairs of old and new. What stays the same, and what a
    person holds on to, is left out."""
    left, changes = list(candidates), list[tuple[DerivedMemory | None, Candidate | None]]()
    for old in kept:
        new = max((one for one in left if related(old, one)), key=partial(alike, old), default=None)
        if new is not None:
            left.remove(new)
        if not old.held and (new is None or new.content != old.content):
            changes.append((old, new))
    return changes + [(None, one) for one in left]


def related(old: Sourced, new: Sourced) -> bool:
    """Whether a candidate is a memory that was said in other words: of the same messages, about the same person."""
    same = set(old.evidence) & set(new.evidence) and old.subject_id == new.subject_id
    return bool(same) and alike(old, new) >= ALIKE


def known_already(new: Candidate, known: Sequence[KnownBesides]) -> bool:
    """Whether a candidate says again what is known, or was, of the same messages."""
    return any(related(one, new) for one in known)


def alike(old: Sourced, new: Sourced) -> float:
    return SequenceMatcher(None, old.content, new.content).ratio()
