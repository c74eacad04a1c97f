"""200 labelled messages in English, German and Spanish, and how well a judge tells which are worth keeping.

`python -m tests.judged` prints the score of the keywords, which judge when no model answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from relay.memory.review.keywords import keyword_findings
from relay.memory.review.readings import readings
from relay.memory.rows.upkeep.judging import Batch
from tests.judging import message

MESSAGES = Path(__file__).with_name("judge_messages.tsv")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A message that a person wrote, and whether anything in it is worth keeping."""

    keep: bool
    language: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Score:
    """The share of kept messages that are right, and the share of right messages that were kept: 0 to 1."""

    precision: float
    recall: float


def labelled() -> list[Labelled]:
    """All messages."""
    rows = (line.split("\t") for line in MESSAGES.read_text("utf-8").splitlines())
    return [Labelled(keep == "keep", language, kind, text) for keep, language, kind, text in rows]


def score(messages: Iterable[Labelled], keeps: Callable[[str], bool]) -> Score:
    """A judge's score on messages. It must keep at least one."""
    kept, right, wanted = 0, 0, 0
    for one in messages:
        is_kept = keeps(one.text)
        kept += is_kept
        right += is_kept and one.keep
        wanted += one.keep
    return Score(right / kept, right / wanted)


def is_looked_at(text: str) -> bool:
    """Whether a message reaches a judge at all."""
    return bool(readings(Batch(thread_id=1, messages=(message(1, text),))))


def keywords_keep(text: str) -> bool:
    """Whether the keywords keep anything from a message."""
    return is_looked_at(text) and bool(keyword_findings({1: message(1, text)}))


if __name__ == "__main__":
    print("| messages | precision | recall | looked at, of those to keep |\n|---|---|---|---|")
    for language in ("en", "de", "es", ""):
        some = [one for one in labelled() if language in ("", one.language)]
        told, seen = score(some, keywords_keep), score(some, is_looked_at)
        print(f"| {len(some)} {language or 'in all'} | {told.precision:.0%} | {told.recall:.0%} | {seen.recall:.0%} |")
