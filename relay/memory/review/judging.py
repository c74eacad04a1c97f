"""The judge: after each exchange a small model reads what was new in it and keeps what is worth it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from functools import partial
from typing import Any, TypeVar

import structlog

from relay.core.charge import Charge
from relay.core.errors import ContextTooLong, EmbedderUnavailable, ModelError, ModelRefused, ModelThrottled, RelayError
from relay.core.models import ModelRequest
from relay.core.ports import Embedder
from relay.core.prompt_markup import text_block
from relay.memory.calls.jobs import LEASE_SECONDS
from relay.memory.calls.memory.search import vector_text
from relay.memory.derivation import Input, derived
from relay.memory.lease import renew_lease
from relay.memory.review import findings, keywords, settling
from relay.memory.review.findings import Finding, InvalidAnswer
from relay.memory.review.readings import JUDGE, PLAIN, Reading, as_text, readings
from relay.memory.review.waiting import AGAIN_SECONDS, gone, pause_after
from relay.memory.spending.gate import Gate
from relay.memory.store import Store

log = structlog.get_logger()

Json = dict[str, Any]
Found = TypeVar("Found")

NAME, VERSION = "judge", 1
MODEL_SECONDS = 90
MOST_TOKENS = 2000
NEAR = 9
"""Memories that a finding is compared with, at most."""
LONGEST_REST = 60.0
"""So long everybody waits, at most, when the model is busy."""
MOMENT = 0.001
LEAST_REST = 0.2
PASSED = 500
"""Threads whose cursors move unjudged in one call."""


async def nobody() -> None:
    """Nobody is told."""


@dataclass(frozen=True, slots=True)
class Judge:
    """What judging needs. `tell` is called whenever something was kept."""

    store: Store
    gate: Gate
    model_name: str
    capture: str = "auto"
    """auto or ask; with tags and off nothing is judged."""
    at_once: int = 2
    zone: tzinfo = UTC
    embedder: Embedder | None = None
    tell: Callable[[], Awaitable[object]] = field(default=nobody)

    @property
    def version(self) -> str:
        """Which findings it makes: those of another prompt or model are others."""
        return f"{VERSION}/{self.model_name}"


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of a batch."""

    actions: list[Json]
    fallback: bool = False
    """Keywords judged some of it: no model could be had, or it gave no valid answer."""


async def judge_due(judge: Judge, patience: float = 0) -> int:
    """Judges what waits, a few threads at a time, until nothing does or today's budget is used up: then it goes on
    waiting. Returns how many batches were judged. `patience`: seconds for which something is waited for that may be
    judged only later, as after a failure; they begin anew with whatever was judged.

    Failures are logged and tried again later; they touch no reply.
    """
    if judge.capture not in ("auto", "ask"):
        while await judge.store.pass_judging(PASSED):
            pass
        return 0
    judged, left = 0, patience
    while not await judge.gate.used_up():
        work, passed = await judge.store.claim_judging(judge.at_once, LEASE_SECONDS)
        if not work and not passed:
            rest = await judge.store.judging_rests() if left > 0 else None
            if rest is None or rest > left:
                break
            await asyncio.sleep(max(LEAST_REST, rest))
            left -= max(LEAST_REST, rest)
            continue
        rests = await asyncio.gather(*(judge_batch(judge, batch) for batch in work))
        judged += rests.count(0)
        left = patience if 0 in rests else left
        await asyncio.sleep(min(LONGEST_REST, max(rests, default=0)))
    return judged


async def judge_batch(judge: Judge, work: Json) -> float:
    """Judges a batch and keeps what was found. Returns for how many seconds the model should be left alone.

    A model that is busy is waited for, one that is away a few times; then keywords judge, as where its answer is not
    valid, and a model once more later.
    """
    again, failures = work["again"], work["failures"]
    try:
        async with renew_lease(partial(judge.store.renew_judging, work["thread_id"], LEASE_SECONDS)):
            judged = await found_in(judge, work, judge.gate)
    except (RelayError, TimeoutError) as error:
        log.warning("judging failed", thread_id=work["thread_id"], failures=failures + 1, error=str(error))
        if again is not None or not gone(error, failures + 1):
            pause = pause_after(error, failures, again is not None)
            await judge.store.put_off_judging(work["thread_id"], str(error), pause, again)
            return pause if isinstance(error, ModelThrottled) else MOMENT
        judged = await found_in(judge, work, None)
    result = {
        "after": work["after"],
        "version": judge.version,
        "again": again,
        "through": work["through"],
        "findings": judged.actions,
        "fallback": judged.fallback,
        "again_seconds": AGAIN_SECONDS if judged.fallback else None,
    }
    if not await judge.store.keep_judged(work["thread_id"], result):
        return MOMENT
    if judged.actions or again is not None:
        await judge.tell()
    return 0


async def found_in(judge: Judge, work: Json, gate: Gate | None) -> Judged:
    """What is worth keeping of a batch, by a model (None: by keywords). Raises the `ModelError` tree and
    `TimeoutError`."""
    actions: list[Json] = []
    fallback = gate is None
    for reading in readings(work):
        found = await asked_findings(judge, gate, work, reading) if gate else None
        by = (NAME, judge.version) if found is not None else (keywords.NAME, str(keywords.VERSION))
        if found is None:
            fallback = True
            found = keywords.keyword_findings(reading.rows, reading.before)
        new = [as_action(judge, reading, one, by) for one in found]
        actions += await settle(judge, gate, work, new) if gate and new else new
    if gate and (facts := [one for one in work["taught"] if one["by_tag"]]):
        actions += await ended_by(judge, gate, work, facts)
    return Judged(actions, fallback)


def as_action(judge: Judge, reading: Reading, finding: Finding, by: tuple[str, str]) -> Json:
    """A finding as `relay_keep_judged` takes it. What is knowledge is about nobody; all else is the speaker's. `by`:
    the name and the version of what found it."""
    action, said = finding.as_action(), {**reading.before, **reading.rows}
    mine = action["category"] != "knowledge"
    return action | {
        "subject_id": reading.user_id if mine else None,
        "subject": reading.name if mine else None,
        "pending": finding.tainted or reading.asks or judge.capture == "ask",
        "at": max(reading.rows[one]["at"] for one in finding.evidence if one in reading.rows),
        "derivation": derived(*by, [Input("message", one, said[one]["text"]) for one in finding.evidence]).as_json(),
    }


async def asked_findings(judge: Judge, gate: Gate, work: Json, reading: Reading) -> list[Finding] | None:
    """What a model finds in a reading; None when it gives no valid answer twice, or will not."""
    text = as_text(reading, work["taught"])

    def parse(answer: Any) -> list[Finding]:
        return findings.findings_in(answer, reading.rows, judge.zone, reading.before)

    return await structured(judge, gate, work, (JUDGE, PLAIN), text, findings.KEEP, parse)


async def settle(judge: Judge, gate: Gate, work: Json, actions: Sequence[Json]) -> list[Json]:
    """Findings once they met what is nearest to them in memory. Without a valid answer about that they are added; what
    says nearly the same as a memory refreshes it anyway."""
    return await settled_with(judge, gate, work, actions, await near_to(judge, work["space_id"], actions))


async def near_to(judge: Judge, space_id: int, actions: Sequence[Json]) -> list[list[Json]]:
    """For each finding the memories nearest to it."""
    candidates = await with_vectors(
        judge, [{key: a[key] for key in ("content", "subject_id", "subject", "kind")} for a in actions]
    )
    return await judge.store.near_memories(space_id, candidates, NEAR)


async def settled_with(
    judge: Judge, gate: Gate, work: Json, actions: Sequence[Json], near: Sequence[Sequence[Json]]
) -> list[Json]:
    """What becomes of findings beside the memories near to each."""
    decided = await decisions(judge, gate, work, actions, near)
    return [merged(work, one, near) for one in settling.settled(actions, decided)]


async def decisions(
    judge: Judge, gate: Gate, work: Json, new: Sequence[Json], near: Sequence[Sequence[Json]]
) -> dict[int, settling.Decision]:
    """How what is new stands to the memories near to each; nothing without a valid answer."""
    if not any(near):
        return {}

    def parse(answer: Any) -> dict[int, settling.Decision]:
        return settling.decisions_in(answer, near)

    prompts, text = (settling.SETTLE, settling.PLAIN), settling.as_text(new, near)
    return await structured(judge, gate, work, prompts, text, settling.DECIDE, parse) or {}


async def ended_by(judge: Judge, gate: Gate, work: Json, facts: Sequence[Json]) -> list[Json]:
    """What ends because the answer's own tags kept facts that contradict it."""
    kept = {one["id"] for one in work["taught"]}
    near = [
        [row for row in rows if row["id"] not in kept and not settling.later(row, fact)]
        for fact, rows in zip(facts, await near_to(judge, work["space_id"], facts), strict=True)
    ]
    decided = await decisions(judge, gate, work, facts, near)
    return [
        {key: facts[place][key] for key in ("kind", "content", "subject_id", "subject", "tainted")}
        | {"action": "supersede", "memory_id": decision.memory_id, "taught": facts[place]["id"]}
        | {"evidence": [facts[place]["source"]], "pending": False}
        for place, decision in decided.items()
        if decision.relation == "contradicts"
    ]


def merged(work: Json, action: Json, near: Sequence[Sequence[Json]]) -> Json:
    """An action with how it was made: what refines a memory is made of that, too."""
    if action["action"] != "refine":
        return action
    said = {row["id"]: row["text"] for row in (*work["before"], *work["messages"])}
    known = next(row["content"] for rows in near for row in rows if row["id"] == action["memory_id"])
    inputs = [Input("message", one, said[one]) for one in action["evidence"]]
    inputs.append(Input("memory", action["memory_id"], known))
    made = derived(action["derivation"]["name"], action["derivation"]["version"], inputs)
    return action | {"derivation": made.as_json()}


async def with_vectors(judge: Judge, candidates: list[Json]) -> list[Json]:
    """Candidates with the vectors of what they say, where something makes such."""
    if judge.embedder is None:
        return candidates
    try:
        vectors = await judge.embedder.embed([one["content"] for one in candidates], query=True)
    except EmbedderUnavailable:
        return candidates
    model = judge.embedder.model
    return [
        {**one, "vector": vector_text(vector), "model": model} for one, vector in zip(candidates, vectors, strict=True)
    ]


async def structured(
    judge: Judge,
    gate: Gate,
    work: Json,
    prompts: tuple[str, str],
    text: str,
    tool: Json,
    parse: Callable[[Any], Found],
) -> Found | None:
    """A model's answer as JSON of a given shape: by a tool that it must use, then, if that is refused or is not valid,
    as text. None when that is not valid either, or the model declines. `prompts`: what it is told, and what besides for
    an answer as text."""
    messages = [{"role": "user", "content": [text_block(text)]}]
    system, plain = prompts
    forced = ModelRequest(
        judge.model_name, [text_block(system)], messages, MOST_TOKENS, [tool], {"type": "tool", "name": tool["name"]}
    )
    as_words = ModelRequest(judge.model_name, [text_block(system + plain)], messages, MOST_TOKENS)
    charge = Charge("judge", thread_id=work["thread_id"])
    for request in (forced, as_words):
        try:
            step = await gate.ask(request, charge, MODEL_SECONDS)
            if step.stop_reason == "refusal":
                return None
            return parse(findings.given(step, tool["name"]))
        except InvalidAnswer as error:
            log.warning("judge's answer not valid", thread_id=work["thread_id"], error=str(error))
        except (ModelRefused, ContextTooLong):
            return None
        except ModelError as error:
            if type(error) is not ModelError or request is as_words:
                raise
    return None
