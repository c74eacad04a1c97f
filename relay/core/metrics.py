"""What is counted: how many, how long, how often in vain. Plain numbers, without any package; `relay/web` shows them.

Labels come from small fixed sets. An id, a name or a text is never one.
"""

from __future__ import annotations

import asyncio
import functools
import time
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from relay.core.errors import TurnLost

P = ParamSpec("P")
T = TypeVar("T")
Labels = tuple[str, ...]

MOST = 100
"""So many combinations of labels are told apart in one instrument; those beyond count as `other`."""
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0)
"""The upper bounds, in seconds, of what a histogram tells apart."""
TOKENS = {
    "input_tokens": "input",
    "cache_read_input_tokens": "cached",
    "cache_creation_input_tokens": "written",
    "output_tokens": "output",
}


@dataclass(slots=True)
class Counter:
    """Something that only grows."""

    name: str
    about: str
    labels: Labels = ()
    values: dict[Labels, float] = field(default_factory=dict)

    def add(self, *labels: str, by: float = 1) -> None:
        """Counts one, or `by`, under these labels."""
        key = _known(self.values, labels)
        self.values[key] = self.values.get(key, 0) + by


@dataclass(slots=True)
class Spread:
    """How many of some durations lie at or below each of `BOUNDS` and above the one before it, the rest last."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0


@dataclass(slots=True)
class Histogram:
    """How long something takes, in seconds."""

    name: str
    about: str
    labels: Labels = ()
    values: dict[Labels, Spread] = field(default_factory=dict)

    def observe(self, seconds: float, *labels: str) -> None:
        """Counts one duration under these labels."""
        spread = self.values.setdefault(_known(self.values, labels), Spread())
        spread.counts[bisect_left(BOUNDS, seconds)] += 1
        spread.total += seconds


def _known(values: dict[Labels, Any], labels: Labels) -> Labels:
    return labels if labels in values or len(values) < MOST else ("other",) * len(labels)


UPDATES = Counter("relay_updates", "Updates taken in, by what became of them.", ("kind",))
TURNS = Counter("relay_turns", "Turns that ended in this process, by how.", ("kind", "outcome"))
SET_ASIDE = Counter("relay_turns_set_aside", "Turns given up for good after failing three times.")
TURN_SECONDS = Histogram("relay_turn_seconds", "From taking a turn up to its delivered reply.", ("kind",))
STAGE_SECONDS = Histogram(
    "relay_turn_stage_seconds",
    "Parts of a turn: queue (until it was taken up), understand, media (its files are read), begin (recall is within "
    "it), model (with its tools; model_first_token is within it), finish, deliver.",
    ("stage",),
)
FILES = Counter("relay_files", "Files that people sent, by kind and by what became of them.", ("kind", "outcome"))
FILE_SECONDS = Histogram("relay_file_seconds", "From a file's turn to what is in it, download included.", ("kind",))
MODEL_TOKENS = Counter("relay_model_tokens", "Tokens by model and kind.", ("model", "kind"))
DELIVERIES = Counter("relay_deliveries", "Parts of replies, by whether Telegram took them.", ("outcome",))
JOBS = Counter("relay_jobs", "Runs of background jobs.", ("job", "outcome"))
VECTORS = Counter(
    "relay_vectors",
    "Vectors: made for what was stored; of what is looked for, used, come too late, or failed.",
    ("outcome",),
)
ERRORS = Counter("relay_errors", "What went wrong, by where and what.", ("where", "error"))
RETRIES = Counter("relay_retries", "What was tried again, by where and why.", ("where", "error"))

COUNTERS = (UPDATES, TURNS, SET_ASIDE, FILES, MODEL_TOKENS, DELIVERIES, JOBS, VECTORS, ERRORS, RETRIES)
HISTOGRAMS = (TURN_SECONDS, STAGE_SECONDS, FILE_SECONDS)


def timed(stage: str) -> Callable[[Callable[P, Awaitable[T]]], Callable[P, Coroutine[Any, Any, T]]]:
    """Makes an async function a stage of the turn, whose time is taken whether it succeeds or not."""

    def measured(work: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        @functools.wraps(work)
        async def run(*args: P.args, **kwargs: P.kwargs) -> T:
            begun = time.perf_counter()
            try:
                return await work(*args, **kwargs)
            finally:
                STAGE_SECONDS.observe(time.perf_counter() - begun, stage)

        return run

    return measured


def first(stage: str) -> Callable[[], None]:
    """Starts a stage that ends when what is returned is called for the first time."""
    begun = time.perf_counter()
    open_ = True

    def ended() -> None:
        nonlocal open_
        if open_:
            open_ = False
            STAGE_SECONDS.observe(time.perf_counter() - begun, stage)

    return ended


@contextmanager
def turn(kind: str) -> Iterator[None]:
    """Counts a turn, how it ended and how long it took."""
    begun = time.perf_counter()
    outcome = "failed"
    try:
        yield
        outcome = "done"
    except TurnLost:
        outcome = "lost"
        raise
    except asyncio.CancelledError:
        outcome = "handed_back"
        raise
    except Exception as error:
        ERRORS.add("turn", type(error).__name__)
        raise
    finally:
        TURNS.add(kind, outcome)
        TURN_SECONDS.observe(time.perf_counter() - begun, kind)


@contextmanager
def reading(kind: str) -> Iterator[Callable[[str], None]]:
    """Counts a file, how long reading it took and how that ended: done, failed, or as what is given is told."""
    begun = time.perf_counter()
    outcome = "failed"

    def told(what: str) -> None:
        nonlocal outcome
        outcome = what

    try:
        yield told
        outcome = "done" if outcome == "failed" else outcome
    finally:
        FILES.add(kind, outcome)
        FILE_SECONDS.observe(time.perf_counter() - begun, kind)


def tokens(model: str, usage: dict[str, int]) -> None:
    """Counts what a call of the model used, as it tells it itself."""
    for told, kind in TOKENS.items():
        if used := usage.get(told):
            MODEL_TOKENS.add(model, kind, by=used)
