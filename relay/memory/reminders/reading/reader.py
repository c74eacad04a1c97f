"""Reads as much of a phrase as says when. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relay.memory.reminders.languages.language import Language
from relay.memory.reminders.reading.amounts import read_amount
from relay.memory.reminders.reading.clocks import read_clock, read_part
from relay.memory.reminders.reading.dates import read_date, read_moment
from relay.memory.reminders.reading.days import read_days, read_following
from relay.memory.reminders.reading.parts import Reading
from relay.memory.reminders.reading.rhythms import read_end, read_every

Step = Callable[[Language, Reading, Sequence[str], int], int]
STEPS: tuple[Step, ...] = (
    read_moment, read_every, read_amount, read_end, read_following, read_days, read_date, read_clock, read_part,
)  # fmt: skip
MOST_PARTS = 16
LONGEST = 60
"""The most words that say when. With it, reading from each of a text's last words takes as long for any text."""


def read_parts(language: Language, tokens: Sequence[str], begin: int) -> tuple[Reading | None, int]:
    """Reads as many words from a place on as say when. Returns the reading and its end; None and `begin` if none do."""
    reading, at = Reading(), begin
    for _ in range(MOST_PARTS):
        end = next((end for step in STEPS if (end := step(language, reading, tokens, at)) > at), at)
        if end == at:
            break
        at = end
    return (reading, at) if reading.says_when else (None, begin)
