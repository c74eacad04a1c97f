"""Judged messages and findings, as tests make them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from relay.core.models import Step, ToolDefinition
from relay.memory.derivations.derivation import make_derivation
from relay.memory.rows.upkeep.judging import Ending, FoundMemory, JudgedMessage, JudgingResult, JudgingWork

MORNING = datetime(2026, 11, 22, 10, tzinfo=UTC)


def message(id: int, text: str, role: str = "user", **more: Any) -> JudgedMessage:
    """A message from Ada, or the answer to it."""
    told = {"thread_id": 1, "user_id": 7, "name": "Ada", "at": MORNING} | more
    return JudgedMessage(id=id, text=text, role=role, **told)


def called(tool: ToolDefinition, given: Any) -> Step:
    """A model's call of a tool."""
    return Step([{"type": "tool_use", "id": "1", "name": tool["name"], "input": given}], "tool_use", {}, "small")


def learned(content: str, *evidence: int, **more: Any) -> FoundMemory:
    """A fact that the judge found."""
    told = {"kind": "fact", "pending": False, "at": MORNING, "derivation": make_derivation("judge", 1, [])} | more
    return FoundMemory(content=content, evidence=evidence, **told)


def result_of(work: JudgingWork, *findings: FoundMemory | Ending) -> JudgingResult:
    """A model's findings in all the work that was handed out."""
    return JudgingResult(
        after=work.after, through=work.through, again=work.again, version="1", findings=findings, fallback=False
    )
