"""The analysis of a soak's samples finds what grows and ignores what stays level."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.soak.verdict import BOUNDS, growth, judged, series, spent, trend, unused, verdict

HOURS, EVERY = 2, 45
TIMES = [number * EVERY for number in range(1, HOURS * 3600 // EVERY + 1)]


def soaked(**changed: Any) -> list[dict[str, Any]]:
    """Two hours of samples with some noise, in which only the table of messages grows, by 1,000 bytes a turn.
    `changed`: other values by name, as functions of the share of the time that has passed."""
    chance = random.Random(1)
    samples = []
    for at in TIMES:
        turns = at / 2
        one: dict[str, Any] = {name: 20.0 for name in BOUNDS if not name.endswith("_ms")}
        one |= {"bot_rss": 140 + chance.uniform(-1, 1), "bot_cpu": turns * 0.03, "postgres_cpu": turns * 0.04}
        one |= {"latencies": [["short", chance.uniform(0.4, 0.6)] for _ in range(20)], "done": {"short": turns}}
        one |= {name: value(at / TIMES[-1]) for name, value in changed.items()}
        relations = {
            "message": {"of": "", "kind": "r", "size": int(turns * 1000), "scans": 0},
            "message_pkey": {"of": "message", "kind": "i", "size": int(turns * 100), "scans": 7},
            "message_never": {"of": "message", "kind": "i", "size": 8192, "scans": 0},
            "pg_toast_1": {"of": "message", "kind": "t", "size": int(turns * 10), "scans": 0},
            "pg_toast_1_index": {"of": "pg_toast_1", "kind": "i", "size": 8192, "scans": 0},
        }
        sizes = {"database": int(turns * 1110), "wal": int(turns * 5000), "wal_files_bytes": 32_000_000}
        counted = {"rows": {"message": [2 * turns, 0]}, "functions": {"relay_begin": [turns, turns * 0.004]}}
        samples.append(one | sizes | counted | {"at": at, "turns": turns, "relations": relations, "log_bytes": 1})
    return samples


def test_a_soak_without_growth_passes() -> None:
    told, holds = verdict(soaked())
    assert holds, told
    assert "GROWS" not in told


@pytest.mark.parametrize("name", ["bot_rss", "bot_fds", "children_own", "tmp_files", "relay_queue_updates"])
def test_growth_by_a_fifth_per_hour_is_detected(name: str) -> None:
    told, holds = verdict(soaked(**{name: lambda passed: 140 * (1 + 0.4 * passed)}))
    assert not holds
    assert [line.split()[1] for line in told.splitlines() if "GROWS" in line] == [name]


def test_growth_during_the_warm_up_is_ignored() -> None:
    assert verdict(soaked(bot_rss=lambda passed: 100 + 40 * min(1, passed / 0.2)))[1]


def test_doubled_latency_is_detected() -> None:
    slow = soaked(latencies=lambda passed: [["short", 0.5 * (1 + passed)]] * 20)
    told, holds = verdict(slow)
    assert not holds
    assert "median_ms" in told


def test_a_soak_with_too_few_samples_does_not_pass() -> None:
    assert verdict(soaked()[:5]) == ("5 samples are too few to judge.", False)


def test_a_trend_is_measured_per_hour() -> None:
    assert trend([(0, 1.0), (1800, 2.0), (3600, 3.0)]) == pytest.approx(2.0)
    assert trend([(5, 1.0)]) == 0.0
    assert judged("x", series([{"at": 1, "x": None}], "x"), BOUNDS["bot_rss"]) is None


def test_growth_is_reported_per_thousand_turns_and_table() -> None:
    whole, message = growth(soaked())
    assert "1,110 KB for 1,000 turns" in whole
    assert "5.0 MB" in whole
    assert message.strip() == "message: 1,110 KB (rows 1,000, toast 10, index 100; 2,000 rows)"
    assert unused(soaked()) == ["  message_never: 8 KB"]


def test_time_in_functions_is_reported_per_turn_early_and_late() -> None:
    """The function takes four times as long in the second half, and is called twice as often."""
    samples = soaked()
    for one in samples:
        late = max(0, one["turns"] - 1800)
        one["functions"]["relay_slow"] = [one["turns"] + late, (one["turns"] + 3 * late) * 0.002]
    assert spent(samples) == [
        "  relay_slow: 2.00, 8.00 ms (1.00, 2.00 calls)",
        "  relay_begin: 4.00, 4.00 ms (1.00, 1.00 calls)",
    ]
