"""Metrics: counting, and the output in Prometheus's formats."""

from __future__ import annotations

import asyncio

import pytest
from prometheus_client import Counter, Histogram
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families

from relay.core import metrics
from relay.core.errors import TurnLost
from relay.core.metrics import BOUNDS
from relay.memory.claims import Queue
from relay.surfaces.http.health import Process
from relay.surfaces.http.numbers import Numbers, render_metrics

OUTCOMES = ("done", "lost", "handed_back", "failed")
PROCESS = Process(lambda: 7.5, lambda: 60, lambda: 4, lambda: False)


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Resets all counts."""
    for name, instrument in vars(metrics).items():
        if name.isupper() and isinstance(instrument, Counter | Histogram) and name != "SET_ASIDE":
            instrument.clear()


def value(name: str, **labels: str) -> float | None:
    return metrics.REGISTRY.get_sample_value(name, labels)


def test_durations_are_counted_in_their_buckets() -> None:
    for seconds in (0.0, BOUNDS[0], 0.3, 1e9):
        metrics.TURN_SECONDS.labels("message").observe(seconds)
    below = {le: value("relay_turn_seconds_bucket", kind="message", le=le) for le in ("0.005", "0.25", "0.5", "180.0")}
    assert below == {"0.005": 2, "0.25": 2, "0.5": 3, "180.0": 3}
    assert value("relay_turn_seconds_bucket", kind="message", le="+Inf") == 4


def test_a_metric_without_labels_exists_from_the_start() -> None:
    assert value("relay_turns_set_aside_total") is not None


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(None, "done"), (TurnLost(), "lost"), (asyncio.CancelledError(), "handed_back"), (ValueError("tea"), "failed")],
)
def test_turns_are_counted_by_outcome(error: BaseException | None, outcome: str) -> None:
    def end() -> None:
        with metrics.count_turn("message"):
            if error is not None:
                raise error

    if error is None:
        end()
    else:
        with pytest.raises(type(error)):
            end()
    ended = {one: value("relay_turns_total", kind="message", outcome=one) for one in OUTCOMES}
    assert ended == {one: 1 if one == outcome else None for one in OUTCOMES}
    assert value("relay_turn_seconds_count", kind="message") == 1
    assert value("relay_errors_total", where="turn", error="ValueError") == (1 if outcome == "failed" else None)


async def test_a_stage_is_timed_even_if_it_fails() -> None:
    @metrics.time_stage("model")
    async def work(fails: bool) -> str:
        if fails:
            raise TurnLost
        return "done"

    assert await work(False) == "done"
    with pytest.raises(TurnLost):
        await work(True)
    assert value("relay_turn_stage_seconds_count", stage="model") == 2


def test_the_first_token_is_counted_once() -> None:
    ended = metrics.start_stage("model_first_token")
    ended()
    ended()
    assert value("relay_turn_stage_seconds_count", stage="model_first_token") == 1


def test_prometheus_can_parse_both_formats() -> None:
    metrics.TURNS.labels("message", "done").inc()
    metrics.tokens("claude", {"input_tokens": 5, "output_tokens": 3, "cache_read_input_tokens": 0})
    metrics.STAGE_SECONDS.labels("model").observe(0.2)
    numbers = Numbers(PROCESS, Queue(3, 2, 1.5), "1.2.3")
    for accept, read in (("", text_string_to_metric_families), ("application/openmetrics-text", open_metrics)):
        body, content_type = render_metrics(numbers, accept)
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


def test_unknown_numbers_are_left_out() -> None:
    other = Process(lambda: 0.0, lambda: 0, lambda: 0, lambda: False)
    text = render_metrics(Numbers(other, None, "1"), "")[0].decode()
    assert "relay_database_up 0.0" in text
    assert "relay_queue_" not in text


def test_the_slowest_of_recent_durations_is_known_once_there_are_enough() -> None:
    now = 0.0
    recent = metrics.Recent(10, lambda: now)
    for number in range(19):
        recent.add(number / 1000)
    assert recent.p95() == 0.0
    recent.add(0.4)
    assert recent.p95() == 0.018, "one slow prompt in twenty is no trend"
    recent.add(0.3)
    assert recent.p95() == 0.3
    now = 601.0
    assert recent.p95() == 0.0


def test_choosing_preferences_is_a_stage_of_the_turn() -> None:
    metrics.observe_preferences(0.002)
    assert value("relay_turn_stage_seconds_count", stage="preferences") == 1
