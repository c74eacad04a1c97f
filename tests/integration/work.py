"""Background work in tests: the jobs of one kind, run or claimed by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from relay.core.models import ModelRequest, Step
from relay.jobs.learning import judging_kind
from relay.jobs.runner import Runner
from relay.jobs.writing import summary_kind, title_kind
from relay.memory.review.judging import Judge
from relay.memory.rows.jobs import ClaimedJob, SummaryWork
from relay.memory.rows.upkeep.judging import JudgingWork
from relay.memory.rows.upkeep.writing import NewSummary
from relay.memory.store import Store
from relay.memory.writing.summaries import Summariser
from tests.integration.conftest import Sql
from tests.integration.turn_driver import BOT


@dataclass(frozen=True)
class Due:
    """A claimed summary job and its work."""

    job: ClaimedJob
    work: SummaryWork


@dataclass(frozen=True)
class Judging:
    """A claimed judging job and its messages."""

    job: ClaimedJob
    work: JudgingWork


def written(due: Due, text: str, tainted: bool = False) -> NewSummary:
    """Returns the due summary with this text."""
    previous, messages = due.work.previous, due.work.messages
    return NewSummary(
        text=text, model="small", usage={"input_tokens": 3}, settings={"max_tokens": 800}, derivation={},
        tainted=tainted, previous_id=previous.id if previous else None, from_message_id=messages[0].id,
        message_count=len(messages),
    )  # fmt: skip


async def summarise_due(summariser: Summariser) -> int:
    """Makes the summaries that are due. Returns how many were stored."""
    return await Runner(summariser.store, [summary_kind(summariser)]).run_due("summary")


async def title_due(titler: Summariser, bot_id: int = BOT.id) -> int:
    """Makes the titles that are due. Returns how many were made."""
    return await Runner(titler.store, [title_kind(titler)], bot_id).run_due("title")


async def claim_summaries(store: Store, limit: int, key: str | None = None) -> list[Due]:
    """Claims summaries that are due, with the messages of each."""
    jobs = await store.claim_jobs("summary", None, limit, key)
    works = [await store.summary_work(job) for job in jobs]
    return [Due(job, work) for job, work in zip(jobs, works, strict=True) if work is not None]


async def judge_due(judge: Judge, patience: float = 0) -> int:
    """Judges what is waiting. Returns how many batches were judged."""
    return await Runner(judge.store, [judging_kind(judge)]).run_due("judging", patience)


async def claim_judging(store: Store, limit: int = 1) -> list[Judging]:
    """Claims threads in which messages wait to be judged, with the next batch of each."""
    jobs = await store.claim_jobs("judging", None, limit)
    works = [await store.begin_judging(job) for job in jobs]
    return [Judging(job, work) for job, work in zip(jobs, works, strict=True) if work is not None]


async def judge_again_now(sql: Sql) -> None:
    """Makes it time to judge again what was only judged by keywords."""
    await sql("update judge_again set at = now()")
    await sql("update job set due_at = now() where kind = 'judging' and last_error is null")


class Scripted:
    """A small model with scripted answers and errors."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return Step([{"type": "text", "text": answer}], "end_turn", {"output_tokens": 7}, "small")
