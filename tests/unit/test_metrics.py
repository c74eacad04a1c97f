"""Counting, and the counts in Prometheus's own format."""

from __future__ import annotations

import asyncio

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families

from relay.core import metrics
from relay.core.errors import TurnLost
from relay.core.metrics import BOUNDS, MOST, Counter, Histogram
from relay.memory.claims import Queue
from relay.surfaces.http.health import Process
from relay.surfaces.http.numbers import Numbers, counter, histogram, rendered

PROCESS = Process(lambda: 7.5, lambda: 60, lambda: 4, lambda: False)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is counted yet."""
    for instrument in (*metrics.COUNTERS, *metrics.HISTOGRAMS):
        monkeypatch.setattr(instrument, "values", {})


def test_a_counter_counts_by_its_labels() -> None:
    counted = Counter("relay_things", "Things.", ("kind",))
    counted.add("a")
    counted.add("a", by=2)
    counted.add("b")
    assert counted.values == {("a",): 3, ("b",): 1}


def test_labels_do_not_grow_without_end() -> None:
    counted = Counter("relay_things", "Things.", ("model", "kind"))
    for number in range(MOST * 3):
        counted.add(f"model-{number}", "input")
    assert len(counted.values) == MOST + 1
    assert counted.values["other", "other"] == MOST * 2
    counted.add("model-0", "input")
    assert counted.values["model-0", "input"] == 2


def test_durations_lie_between_their_bounds() -> None:
    measured = Histogram("relay_wait_seconds", "Waits.", ("kind",))
    for seconds in (0.0, BOUNDS[0], 0.3, 1e9):
        measured.observe(seconds, "a")
    (family,) = [histogram(measured)]
    buckets = {s.labels["le"]: s.value for s in family.samples if s.name.endswith("_bucket")}
    assert buckets["0.005"] == 2
    assert (buckets["0.25"], buckets["0.5"], buckets["180.0"], buckets["+Inf"]) == (2, 3, 3, 4)


def test_one_without_labels_is_there_from_the_start() -> None:
    assert [sample.value for sample in counter(Counter("relay_things", "Things.")).samples] == [0]


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(None, "done"), (TurnLost(), "lost"), (asyncio.CancelledError(), "handed_back"), (ValueError("tea"), "failed")],
)
def test_a_turn_counts_by_how_it_ended(error: BaseException | None, outcome: str) -> None:
    def end() -> None:
        with metrics.turn("message"):
            if error is not None:
                raise error

    if error is None:
        end()
    else:
        with pytest.raises(type(error)):
            end()
    assert metrics.TURNS.values == {("message", outcome): 1}
    assert sum(metrics.TURN_SECONDS.values[("message",)].counts) == 1
    assert metrics.ERRORS.values == ({("turn", "ValueError"): 1} if outcome == "failed" else {})


async def test_a_stage_is_timed_also_when_it_fails() -> None:
    @metrics.timed("model")
    async def work(fails: bool) -> str:
        if fails:
            raise TurnLost
        return "done"

    assert await work(False) == "done"
    with pytest.raises(TurnLost):
        await work(True)
    assert sum(metrics.STAGE_SECONDS.values[("model",)].counts) == 2


def test_the_first_token_counts_once() -> None:
    ended = metrics.first("model_first_token")
    ended()
    ended()
    assert sum(metrics.STAGE_SECONDS.values[("model_first_token",)].counts) == 1


def test_prometheus_reads_it_in_both_its_formats() -> None:
    metrics.TURNS.add("message", "done")
    metrics.tokens("claude", {"input_tokens": 5, "output_tokens": 3, "cache_read_input_tokens": 0})
    metrics.STAGE_SECONDS.observe(0.2, "model")
    numbers = Numbers(PROCESS, Queue(3, 2, 1.5), "1.2.3")
    for accept, read in (("", text_string_to_metric_families), ("application/openmetrics-text", open_metrics)):
        body, content_type = rendered(numbers, accept)
        assert ("openmetrics" in content_type) == bool(accept)
        samples = {(s.name, *s.labels.values()): s.value for family in read(body.decode()) for s in family.samples}
        assert samples["relay_turns_total", "message", "done"] == 1
        assert samples["relay_model_tokens_total", "input", "claude"] == 5
        assert ("relay_model_tokens_total", "cached", "claude") not in samples
        assert samples["relay_turn_stage_seconds_count", "model"] == 1
        assert samples[("relay_queue_updates",)] == 3
        assert samples[("relay_queue_oldest_seconds",)] == 1.5
        assert samples[("relay_telegram_silence_seconds",)] == 7.5
        assert samples[("relay_turns_running",)] == 4
        assert samples[("relay_database_up",)] == 1


def test_what_is_not_known_is_not_shown() -> None:
    other = Process(lambda: 0.0, lambda: 0, lambda: 0, lambda: False)
    text = rendered(Numbers(other, None, "1"), "")[0].decode()
    assert "relay_database_up 0.0" in text
    assert "relay_queue_" not in text
