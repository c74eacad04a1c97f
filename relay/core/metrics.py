"""Prometheus metrics, on `prometheus-client`.

Labels come from small fixed sets, never from ids, names or texts.
"""

from __future__ import annotations

import asyncio
import functools
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

from relay.core.errors import TurnLost

P = ParamSpec("P")
T = TypeVar("T")

disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no annotations
REGISTRY = CollectorRegistry()
LABELS: dict[str, tuple[str, ...]] = {}
"""The labels of each metric by name."""
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0)
"""Histogram buckets: upper bounds in seconds."""
TOKENS = {
    "input_tokens": "input",
    "cache_read_input_tokens": "cached",
    "cache_creation_input_tokens": "written",
    "output_tokens": "output",
}


def count(name: str, about: str, labels: tuple[str, ...] = ()) -> Counter:
    """Defines and returns a counter."""
    LABELS[name] = labels
    return Counter(name, about, labels, registry=REGISTRY)


def measure(name: str, about: str, labels: tuple[str, ...]) -> Histogram:
    """Defines and returns a histogram of durations in seconds."""
    LABELS[name] = labels
    return Histogram(name, about, labels, registry=REGISTRY, buckets=BOUNDS)


UPDATES = count("relay_updates", "Updates received, by what became of them.", ("kind",))
TURNS = count("relay_turns", "Turns that ended in this process, by outcome.", ("kind", "outcome"))
SET_ASIDE = count("relay_turns_set_aside", "Turns given up for good after failing three times.")
TURN_SECONDS = measure("relay_turn_seconds", "From starting a turn to its delivered reply.", ("kind",))
STAGE_SECONDS = measure(
    "relay_turn_stage_seconds",
    "Parts of a turn: queue (until it starts), understand, media (reading its files), begin (includes recall), "
    "preferences (choosing them in the database and for the prompt), model (with its tools; includes "
    "model_first_token), finish, deliver.",
    ("stage",),
)
FILES = count("relay_files", "Files that people sent, by kind and outcome.", ("kind", "outcome"))
FILE_SECONDS = measure("relay_file_seconds", "Reading a file, including its download.", ("kind",))
MODEL_TOKENS = count("relay_model_tokens", "Tokens by model and kind.", ("model", "kind"))
DELIVERIES = count("relay_deliveries", "Parts of replies, by whether Telegram accepted them.", ("outcome",))
JOBS = count("relay_jobs", "Runs of background jobs.", ("job", "outcome"))
VECTORS = count(
    "relay_vectors",
    "Vectors: made for stored texts; for searches: used, too late, or failed.",
    ("outcome",),
)
ERRORS = count("relay_errors", "Errors, by place and kind.", ("where", "error"))
RETRIES = count("relay_retries", "Retries, by place and error.", ("where", "error"))


class Recent:
    """The durations of the last minutes in this process."""

    def __init__(self, minutes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._clock = 60.0 * minutes, clock
        self._kept: deque[tuple[float, float]] = deque(maxlen=10_000)

    def add(self, seconds: float) -> None:
        self._kept.append((self._clock(), seconds))

    def p95(self) -> float:
        """Returns the seconds within which 95 % took place; 0 for fewer than twenty durations."""
        since = self._clock() - self._seconds
        recent = sorted(seconds for at, seconds in self._kept if at >= since)
        return recent[math.ceil(0.95 * len(recent)) - 1] if len(recent) >= LEAST_RECENT else 0.0


LEAST_RECENT = 20
PREFERENCE_TIMES = Recent(10)
"""How long it took to choose the preferences of prompts."""


def observe_preferences(seconds: float) -> None:
    """Records how long it took to choose the preferences of a prompt, as a stage of its turn."""
    STAGE_SECONDS.labels("preferences").observe(seconds)
    PREFERENCE_TIMES.add(seconds)


def time_stage(stage: str) -> Callable[[Callable[P, Awaitable[T]]], Callable[P, Coroutine[Any, Any, T]]]:
    """Times an async function as a stage of the turn, whether it succeeds or fails."""

    def measured(work: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        @functools.wraps(work)
        async def run(*args: P.args, **kwargs: P.kwargs) -> T:
            begun = time.perf_counter()
            try:
                return await work(*args, **kwargs)
            finally:
                STAGE_SECONDS.labels(stage).observe(time.perf_counter() - begun)

        return run

    return measured


def start_stage(stage: str) -> Callable[[], None]:
    """Starts timing a stage. The first call of the returned function ends it."""
    begun = time.perf_counter()
    open_ = True

    def ended() -> None:
        nonlocal open_
        if open_:
            open_ = False
            STAGE_SECONDS.labels(stage).observe(time.perf_counter() - begun)

    return ended


@contextmanager
def count_turn(kind: str) -> Iterator[None]:
    """Counts a turn with its outcome and duration."""
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
        ERRORS.labels("turn", type(error).__name__).inc()
        raise
    finally:
        TURNS.labels(kind, outcome).inc()
        TURN_SECONDS.labels(kind).observe(time.perf_counter() - begun)


@contextmanager
def count_file(kind: str) -> Iterator[Callable[[str], None]]:
    """Counts a file with its duration and outcome: done, failed, or the outcome passed to the yielded function."""
    begun = time.perf_counter()
    outcome = "failed"

    def told(what: str) -> None:
        nonlocal outcome
        outcome = what

    try:
        yield told
        outcome = "done" if outcome == "failed" else outcome
    finally:
        FILES.labels(kind, outcome).inc()
        FILE_SECONDS.labels(kind).observe(time.perf_counter() - begun)


def tokens(model: str, usage: dict[str, int]) -> None:
    """Counts the tokens of a model call, as the model reported them."""
    for told, kind in TOKENS.items():
        if used := usage.get(told):
            MODEL_TOKENS.labels(model, kind).inc(used)
