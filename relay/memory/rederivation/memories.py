"""Memories derived again from the messages that taught them."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from difflib import SequenceMatcher
from functools import partial
from typing import TypeVar

from relay.core.errors import EmptyAnswer
from relay.core.frozen import frozen
from relay.core.models import Space
from relay.core.prompt_markup import estimate_tokens
from relay.memory.derivations.derivation import Derivation, Input, make_derivation
from relay.memory.rederivation.change import Change, Estimate, Step
from relay.memory.results import get_or_make
from relay.memory.review.judging import NAME, Judge, ask_findings, near_to, settle_findings
from relay.memory.review.readings import readings
from relay.memory.rows.upkeep.judging import (
    Batch,
    Candidate,
    Candidates,
    DerivedMemory,
    FoundMemory,
    JudgedMessage,
    KnownMemory,
    OtherKnownMemory,
    TaughtThread,
)
from relay.memory.rows.upkeep.night import Note
from relay.memory.store import Store

BATCH = 20
"""How many messages of one conversation are read together."""
WORDS = 400
"""The approximate tokens of a question besides its messages, and of its answer."""
ALIKE = 0.5
"""The similarity (difflib's ratio) at which two sentences from the same messages are rewordings."""


Sourced = DerivedMemory | Candidate | OtherKnownMemory
"""A sentence about someone, and its source messages."""


@frozen
class Rejudge:
    """Finds things worth keeping in messages that were judged before."""

    judge: Judge

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return self.judge.version

    async def derive(self, messages: Sequence[JudgedMessage], known: Sequence[KnownMemory]) -> list[Candidate]:
        """Returns what the judge finds in some messages of one conversation now, in order. `known`: other memories from
        them, past or present. Raises the model's errors, and `EmptyAnswer` for no valid answer: the earlier findings
        then stay."""
        batch = Batch(thread_id=messages[0].thread_id, messages=tuple(messages), taught=tuple(known))
        found: list[Candidate] = []
        for reading in readings(batch):
            kept = await ask_findings(self.judge, self.judge.gate, batch, reading)
            if kept is None:
                raise EmptyAnswer()
            found += [one.as_candidate(reading.user_id, reading.name) for one in kept]
        return found

    async def settle(
        self, space_id: int, messages: Sequence[JudgedMessage], fresh: Sequence[FoundMemory], leaving: AbstractSet[int]
    ) -> list[tuple[Note | None, FoundMemory]]:
        """Compares findings with memory: returns each new one with the memory it replaces (None: none), without those
        already known and those that contradict something said later. `leaving`: memories that go and don't count.
        Raises the model's errors."""
        near = [[row for row in rows if row.id not in leaving] for rows in await near_to(self.judge, space_id, fresh)]
        batch = Batch(thread_id=messages[0].thread_id, messages=tuple(messages))
        memories = {row.id: row for rows in near for row in rows}
        changed: list[tuple[Note | None, FoundMemory]] = []
        for one in await settle_findings(self.judge, self.judge.gate, batch, fresh, near):
            known = None if one.memory_id is None else memories[one.memory_id]
            is_over = one.action == "supersede" and known is not None and known.at > one.at
            if one.action != "refresh" and not is_over:
                changed.append((Note(known.id, known.content) if known else None, one))
        return changed


@dataclass(slots=True)
class Memories:
    """A derivation's memories from a space's messages since a moment. `asks`: everything waits for a tap."""

    store: Store
    rederiver: Rejudge
    space: Space
    since: datetime | None
    asks: bool = False
    _batches: list[tuple[int, int, int]] = field(default_factory=list, init=False)
    """Space, thread, and the message after which each batch begins."""

    async def estimate(self) -> Estimate:
        """See `Rederivation.estimate`."""
        total, after = Estimate(), 0
        while threads := await self.store.list_told_threads(self.space, self.since, after, self.rederiver.version):
            for thread in threads:
                after = thread.id
                total += await self._estimate(thread)
        return total

    async def _estimate(self, thread: TaughtThread) -> Estimate:
        total, after = Estimate(), 0
        while batch := await self.store.list_told_messages(thread.id, self.since, after, BATCH):
            self._batches.append((thread.space_id, thread.id, after))
            after = batch[-1].id
            total += Estimate(1, sum(estimate_tokens(row.text) for row in batch) + WORDS, WORDS)
        return total

    async def changes(self, done: Step) -> list[Change]:
        """See `Rederivation.changes`."""
        found: list[Change] = []
        for number, (space_id, thread_id, after) in enumerate(self._batches, 1):
            batch = await self.store.list_told_messages(thread_id, self.since, after, BATCH)
            found += await self._rederive(space_id, batch)
            done(number)
        return found

    async def finish(self) -> None:
        """See `Rederivation.finish`."""
        if self.since is None:
            for thread_id in dict.fromkeys(thread_id for _, thread_id, _ in self._batches):
                await self.store.mark_rejudged(thread_id, self.rederiver.version)

    async def _rederive(self, space_id: int, batch: Sequence[JudgedMessage]) -> list[Change]:
        """Rederives one batch and compares it with what is stored."""
        numbers = [row.id for row in batch]
        derivation = make_derivation(
            self.rederiver.name, self.rederiver.version, [Input("message", row.id, row.text) for row in batch]
        )
        known = await self.store.list_known_besides(space_id, self.rederiver.name, numbers)

        async def make() -> Candidates:
            return Candidates(tuple(await self.rederiver.derive(batch, known)))

        made = await get_or_make(self.store, space_id, derivation, Candidates, make)
        kept = [
            # What also rests on messages of another batch would be replaced by a part of itself.
            replace(one, held=one.held or not set(numbers).issuperset(one.evidence))
            for one in await self.store.list_derived_memories(space_id, self.rederiver.name, numbers)
        ]
        closed = {row.id for row in batch if row.learning == "off"}
        found = pair_changes(leave_out(kept, closed), leave_out(made.candidates, closed))
        changed: list[tuple[Note | None, FoundMemory | None]] = [
            (Note(old.id, old.content), self._memory(new, derivation, batch) if new else None)
            for old, new in found
            if old is not None
        ]
        fresh = [new for old, new in found if old is None and new is not None and not is_known(new, known)]
        wanted = await self.store.check_wanted(space_id, fresh) if fresh else []
        rows = [self._memory(new, derivation, batch) for new, is_wanted in zip(fresh, wanted, strict=True) if is_wanted]
        if rows:
            leaving = {old.id for old, _ in found if old is not None}
            changed += await self.rederiver.settle(space_id, batch, rows, leaving)
        return [self._change(space_id, old, new) for old, new in changed]

    def _memory(self, new: Candidate, derivation: Derivation, batch: Sequence[JudgedMessage]) -> FoundMemory:
        """Converts a finding to what is stored."""
        rows = [row for row in batch if row.id in new.evidence]
        # A result cached by an older version lacks its taint; its messages have it.
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
        return Change(label, old.content if old else None, new.content if new else None, apply)


Found = TypeVar("Found", bound=Sourced)


def leave_out(rows: Sequence[Found], messages: set[int]) -> list[Found]:
    """Returns the findings that don't rest on these messages, such as those of a person who wants nothing learned."""
    return [row for row in rows if not messages & set(row.evidence)]


def pair_changes(
    kept: Sequence[DerivedMemory], candidates: Sequence[Candidate]
) -> list[tuple[DerivedMemory | None, Candidate | None]]:
    """Pairs stored memories with new findings. Leaves out what is unchanged or protected by a person."""
    left, changes = list(candidates), list[tuple[DerivedMemory | None, Candidate | None]]()
    for old in kept:
        new = max((one for one in left if is_reworded(old, one)), key=partial(measure_likeness, old), default=None)
        if new is not None:
            left.remove(new)
        if not old.held and (new is None or new.content != old.content):
            changes.append((old, new))
    return changes + [(None, one) for one in left]


def is_reworded(old: Sourced, new: Sourced) -> bool:
    """Tests whether a candidate rewords a memory: same messages, same subject."""
    same = set(old.evidence) & set(new.evidence) and old.subject_id == new.subject_id
    return bool(same) and measure_likeness(old, new) >= ALIKE


def is_known(new: Candidate, known: Sequence[OtherKnownMemory]) -> bool:
    """Tests whether a candidate repeats another memory from the same messages, past or present."""
    return any(is_reworded(one, new) for one in known)


def measure_likeness(old: Sourced, new: Sourced) -> float:
    return SequenceMatcher(None, old.content, new.content).ratio()
