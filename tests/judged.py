"""200 labelled messages in English, German and Spanish, and how well a judge tells what of them is worth keeping.

`python -m tests.judged` prints it for the keywords that judge where no model answers.
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
    """A message that a person wrote, and whether something of it is to be kept."""

    keep: bool
    language: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Score:
    """How many of the messages that were kept are right, and how many of the right ones were kept: 0 to 1."""

    precision: float
    recall: float


def labelled() -> list[Labelled]:
    """All messages."""
    rows = (line.split("\t") for line in MESSAGES.read_text("utf-8").splitlines())
    return [Labelled(keep == "keep", language, kind, text) for keep, language, kind, text in rows]


def score(messages: Iterable[Labelled], keeps: Callable[[str], bool]) -> Score:
    """How a judge does on messages. There must be some that it keeps."""
    kept, right, wanted = 0, 0, 0
    for one in messages:
        is_kept = keeps(one.text)
        kept += is_kept
        right += is_kept and one.keep
        wanted += one.keep
    return Score(right / kept, right / wanted)


def is_looked_at(text: str) -> bool:
    """Whether a judge gets to read a message at all."""
    return bool(readings(Batch(thread_id=1, messages=(message(1, text),))))


def keywords_keep(text: str) -> bool:
    """Whether the keywords keep something of a message."""
    return is_looked_at(text) and bool(keyword_findings({1: message(1, text)}))


if __name__ == "__main__":
    print("| messages | precision | recall | looked at, of those to keep |\n|---|---|---|---|")
    for language in ("en", "de", "es", ""):
        some = [one for one in labelled() if language in ("", one.language)]
        told, seen = score(some, keywords_keep), score(some, is_looked_at)
        print(f"| {len(some)} {language or 'in all'} | {told.precision:.0%} | {told.recall:.0%} | {seen.recall:.0%} |")
