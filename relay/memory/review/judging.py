"""The judge: after each exchange, a small model reads what is new and stores what is worth keeping."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, field, replace
from datetime import UTC, tzinfo
from functools import partial
from typing import TypeVar

import structlog

from relay.core.errors import (
    ContextTooLong,
    EmbedderUnavailable,
    ModelError,
    ModelRefused,
    ModelThrottled,
    ModelUnavailable,
    RelayError,
)
from relay.core.frozen import frozen
from relay.core.models import Step, ToolDefinition
from relay.core.ports import Embedder
from relay.core.prompt_markup import make_request
from relay.core.retry import RetryPolicy
from relay.core.spending.charge import Charge
from relay.memory.answers import InvalidAnswer
from relay.memory.calls.memory.search import vector_text
from relay.memory.derivations.derivation import Input, make_derivation
from relay.memory.review import findings, keywords, settling
from relay.memory.review.findings import Finding
from relay.memory.review.readings import JUDGE, PLAIN, Reading, as_text, readings
from relay.memory.rows.choices import Choices
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.upkeep.judging import (
    Batch,
    Comparison,
    Ending,
    FoundMemory,
    JudgingResult,
    JudgingWork,
    TaughtMemory,
)
from relay.memory.rows.upkeep.night import DatedNote
from relay.memory.spending.gate import Gate
from relay.memory.store import Store

log = structlog.get_logger()

PATIENCE = 3
"""How many times an unreachable model is tried before keywords judge."""
AGAIN_SECONDS = 600.0
"""After how many seconds a model judges again what keywords judged; sooner if it has answered something else."""
PAUSES = RetryPolicy(first=5.0, longest=300.0, obeyed=300.0)
"""The pauses between two tries of a thread."""
MODEL_SECONDS = 90
MOST_TOKENS = 2000
NEAR = 9
"""The most memories that a finding is compared with."""
PASSED = 500
"""How many threads' cursors one call moves without judging."""


def gives_up(error: Exception, failures: int) -> bool:
    """Tests whether to give up waiting for the model: it was unreachable a few times, or its server refuses
    permanently. A busy model doesn't count."""
    if isinstance(error, ModelThrottled):
        return False
    if isinstance(error, ModelError) and not isinstance(error, ModelUnavailable):
        return True
    return isinstance(error, ModelError | TimeoutError) and failures >= PATIENCE


Found = TypeVar("Found")

NAME, VERSION = "judge", 2


async def notify_nobody() -> None:
    """Notifies nobody."""


@frozen
class Judge:
    """The parts that judging needs. `tell` is called whenever something was stored."""

    store: Store
    gate: Gate
    model_name: str
    capture: str = "auto"
    """auto or ask; with tags and off nothing is judged."""
    at_once: int = 2
    zone: tzinfo = UTC
    embedder: Embedder | None = None
    tell: Callable[[], Awaitable[object]] = field(default=notify_nobody)

    @property
    def version(self) -> str:
        """Identifies the prompt and model, on which findings depend."""
        return f"{VERSION}/{self.model_name}"


@frozen
class JudgedBatch:
    """The result of a batch."""

    actions: list[FoundMemory | Ending]
    fallback: bool = False
    """Keywords judged part of it: no model was available, or it gave no valid answer."""


async def judge_thread(judge: Judge, job: ClaimedJob) -> bool:
    """Judges the next messages of a thread and stores the findings. Returns False if nothing was left, or the job was
    lost. Tries an unreachable model a few times. Then keywords judge, as after an invalid answer, and a model judges
    again later. Raises the errors after which the job should be retried."""
    if judge.capture not in ("auto", "ask"):
        while await judge.store.pass_judging(PASSED):
            pass
        return False
    work = await judge.store.begin_judging(job)
    return work is not None and await judge_batch(judge, job, work)


async def judge_batch(judge: Judge, job: ClaimedJob, work: JudgingWork) -> bool:
    """Judges the messages that a job handed out. Returns and raises as `judge_thread` does."""
    again = work.again
    try:
        judged = await judge_work(judge, work, judge.gate)
    except (RelayError, TimeoutError) as error:
        if again is not None:
            log.warning("judging again failed", thread_id=work.thread_id, error=str(error))
            await judge.store.delay_judging(job, again, AGAIN_SECONDS)
            return False
        if not gives_up(error, job.failures + 1):
            raise
        judged = await judge_work(judge, work, None)
    result = JudgingResult(
        after=work.after,
        through=work.through,
        again=again,
        version=judge.version,
        findings=tuple(judged.actions),
        fallback=judged.fallback,
        again_seconds=AGAIN_SECONDS if judged.fallback else None,
    )
    if not await judge.store.store_judged(job, result):
        return False
    if judged.actions or again is not None:
        await judge.tell()
    return True


async def judge_work(judge: Judge, work: JudgingWork, gate: Gate | None) -> JudgedBatch:
    """Returns what is worth keeping of a batch, by a model (None: by keywords). Raises the `ModelError` tree and
    `TimeoutError`."""
    actions: list[FoundMemory | Ending] = []
    fallback = gate is None
    for reading in readings(work):
        found = await ask_findings(judge, gate, work, reading) if gate else None
        by = (NAME, judge.version) if found is not None else (keywords.NAME, str(keywords.VERSION))
        if found is None:
            fallback = True
            found = keywords.keyword_findings(reading.rows, reading.before)
        new = [as_memory(judge, reading, one, by) for one in found]
        actions += await settle(judge, gate, work, new) if gate and new else new
    if gate and (facts := [one for one in work.taught if one.by_tag]):
        actions += await find_endings(judge, gate, work, facts)
    return JudgedBatch(actions, fallback)


def as_memory(judge: Judge, reading: Reading, finding: Finding, by: tuple[str, str]) -> FoundMemory:
    """Converts a finding for memory. `by`: the name and version of its finder."""
    said = {**reading.before, **reading.rows}
    return FoundMemory(
        **asdict(finding.as_candidate(reading.user_id, reading.name)),
        pending=finding.tainted or reading.asks or judge.capture == "ask",
        at=max(reading.rows[one].at for one in finding.evidence if one in reading.rows),
        derivation=make_derivation(*by, [Input("message", one, said[one].text) for one in finding.evidence]),
    )


async def ask_findings(judge: Judge, gate: Gate, batch: Batch, reading: Reading) -> list[Finding] | None:
    """Asks a model for findings in a reading; None if it twice gives no valid answer, or declines."""
    zone = Choices(zone=reading.zone).zone_or(judge.zone)
    text = as_text(reading, batch.taught, zone)

    def parse(step: Step) -> list[Finding]:
        return findings.findings_in(step, reading.rows, findings.Zones(judge.zone, zone), reading.before)

    return await ask_structured(
        judge, gate, Charge("judge", thread_id=batch.thread_id), (JUDGE, PLAIN), text, findings.KEEP, parse
    )


async def settle(judge: Judge, gate: Gate, work: JudgingWork, new: Sequence[FoundMemory]) -> list[FoundMemory]:
    """Compares findings with the nearest memories. Without a valid answer they are added; one nearly identical to a
    memory refreshes it anyway."""
    return await settle_findings(judge, gate, work, new, await near_to(judge, work.space_id, new))


async def near_to(judge: Judge, space_id: int, new: Sequence[settling.Stated]) -> list[list[DatedNote]]:
    """Returns the memories nearest to each finding."""
    compared = [Comparison(one.content, one.kind, one.subject_id, one.subject) for one in new]
    return await judge.store.near_memories(space_id, await with_vectors(judge, compared), NEAR)


async def settle_findings(
    judge: Judge, gate: Gate, batch: Batch, new: Sequence[FoundMemory], near: Sequence[Sequence[DatedNote]]
) -> list[FoundMemory]:
    """Returns findings with their effect on memory, given the memories near each."""
    decided = await decisions(judge, gate, Charge("judge", thread_id=batch.thread_id), new, near)
    return [record_merge(batch, one, near) for one in settling.apply_decisions(new, decided)]


async def decisions(
    judge: Judge, gate: Gate, charge: Charge, new: Sequence[settling.Stated], near: Sequence[Sequence[DatedNote]]
) -> dict[int, settling.Decision]:
    """Asks how findings relate to the memories near each; empty without a valid answer."""
    if not any(near):
        return {}

    prompts, text = (settling.SETTLE, settling.PLAIN), settling.as_text(new, near)
    parse = partial(settling.decisions_in, near=near)
    return await ask_structured(judge, gate, charge, prompts, text, settling.DECIDE, parse) or {}


async def find_endings(judge: Judge, gate: Gate, work: JudgingWork, facts: Sequence[TaughtMemory]) -> list[Ending]:
    """Returns the memories that end because the answer's own tags stored facts that contradict them."""
    kept = {one.id for one in work.taught}
    near = [
        [row for row in rows if row.id not in kept and row.at <= fact.at]
        for fact, rows in zip(facts, await near_to(judge, work.space_id, facts), strict=True)
    ]
    decided = await decisions(judge, gate, Charge("judge", thread_id=work.thread_id), facts, near)
    return [
        Ending(facts[place], decision.memory_id)
        for place, decision in decided.items()
        if decision.relation == "contradicts"
    ]


def record_merge(batch: Batch, one: FoundMemory, near: Sequence[Sequence[DatedNote]]) -> FoundMemory:
    """Records how a finding was made. A refinement is also made from the memory that it refines."""
    if one.action != "refine":
        return one
    said = {row.id: row.text for row in (*batch.before, *batch.messages)}
    known = next(row for rows in near for row in rows if row.id == one.memory_id)
    inputs = [Input("message", number, said[number]) for number in one.evidence]
    inputs.append(Input("memory", known.id, known.content))
    return replace(one, derivation=make_derivation(one.derivation.name, one.derivation.version, inputs))


async def with_vectors(judge: Judge, compared: list[Comparison]) -> list[Comparison]:
    """Adds vectors to comparisons, if an embedder is available."""
    if judge.embedder is None:
        return compared
    try:
        vectors = await judge.embedder.embed([one.content for one in compared], query=True)
    except EmbedderUnavailable:
        return compared
    model = judge.embedder.model
    pairs = zip(compared, vectors, strict=True)
    return [replace(one, vector=vector_text(vector), model=model) for one, vector in pairs]


async def ask_structured(
    judge: Judge,
    gate: Gate,
    charge: Charge,
    prompts: tuple[str, str],
    text: str,
    tool: ToolDefinition,
    parse: Callable[[Step], Found],
) -> Found | None:
    """Asks a model for JSON of a given shape: with a forced tool, then, if that is refused or invalid, as text. None
    if that is invalid too, or the model declines. `prompts`: the instructions, and the addition for an answer as
    text."""
    system, plain = prompts
    forced = make_request(judge.model_name, system, text, MOST_TOKENS, tool)
    as_words = make_request(judge.model_name, system + plain, text, MOST_TOKENS)
    for request in (forced, as_words):
        try:
            return parse(await gate.ask(request, charge, MODEL_SECONDS))
        except InvalidAnswer as error:
            log.warning("judge's answer not valid", thread_id=charge.thread_id, error=str(error))
        except (ModelRefused, ContextTooLong):
            return None
        except ModelError as error:
            if type(error) is not ModelError or request is as_words:
                raise
    return None
