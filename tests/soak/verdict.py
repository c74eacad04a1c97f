"""What a soak came to: whether what is to stay flat did, and what the database grew by."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
WARM = 0.25
"""The warm-up is the first quarter of the time: caches fill, pools open, each kind of thing happens once."""
LEVEL = 0.375
"""From the warm-up's end until here is the level that the second half is compared with."""
MOST_FUNCTIONS = 12
"""The report lists the time of this many functions."""


@dataclass(frozen=True, slots=True)
class Bound:
    """How far the second half may lie above the level: by a share of it, or by `slack` in its own unit."""

    share: float
    slack: float = 0.0


BOUNDS = {
    "bot_rss": Bound(0.05), "bot_own": Bound(0.05), "children_own": Bound(0.05),
    "postgres_own": Bound(0.05, 4.0), "bot_fds": Bound(0.05, 3), "bot_threads": Bound(0.05, 2),
    "children": Bound(0.05, 1), "postgres_processes": Bound(0.05, 3), "tmp_files": Bound(0.05, 3),
    "data_files": Bound(0.05, 3), "relay_queue_updates": Bound(0.05, 2), "median_ms": Bound(0.25, 20),
    "p95_ms": Bound(0.25, 100), "bot_cpu_ms": Bound(0.25), "postgres_cpu_ms": Bound(0.25),
}  # fmt: skip
"""A value that sinks counts as flat, too. Values that are not listed here are only reported."""


@dataclass(frozen=True, slots=True)
class Line:
    """One series: its level after the warm-up, the second half (both medians), its trend an hour, and the verdict."""

    name: str
    level: float
    later: float
    trend: float
    flat: bool

    def __str__(self) -> str:
        change = f"{self.later / self.level - 1:+.1%}" if self.level else "-"
        told = "flat" if self.flat else "**GROWS**"
        return f"| {self.name} | {self.level:.1f} | {self.later:.1f} | {change} | {self.trend:+.2f} | {told} |"


def series(samples: Sequence[Json], name: str) -> list[tuple[float, float]]:
    """When (seconds) and what, of the samples that have it."""
    return [(one["at"], float(one[name])) for one in samples if one.get(name) is not None]


def trend(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the line of least squares, an hour; 0 for fewer than two moments."""
    if len({at for at, _ in points}) < 2:
        return 0.0
    return statistics.linear_regression(*zip(*points, strict=True)).slope * 3600


def judged(name: str, points: Sequence[tuple[float, float]], bound: Bound) -> Line | None:
    """The verdict on one series; None when there is too little of it."""
    if not points:
        return None
    end = points[-1][0]
    level = [value for at, value in points if WARM * end <= at < LEVEL * end]
    later = [value for at, value in points if at >= end / 2]
    if not level or len(later) < 2:
        return None
    low, high = statistics.median(level), statistics.median(later)
    slope = trend([point for point in points if point[0] >= WARM * end])
    return Line(name, low, high, slope, high <= low + max(bound.share * abs(low), bound.slack))


def with_windows(samples: Sequence[Json]) -> list[Json]:
    """The samples with what follows from two neighbours, or from a window's latencies (all in ms)."""
    done: list[Json] = []
    for number, one in enumerate(samples):
        before = samples[number - 1] if number else None
        more: Json = {}
        waited = [seconds * 1000 for kind, seconds in one["latencies"] if kind not in ("photo", "document")]
        if len(waited) >= 2:
            more = {"median_ms": statistics.median(waited), "p95_ms": statistics.quantiles(waited, n=20)[-1]}
        if before and one["turns"] > before["turns"]:
            turns = one["turns"] - before["turns"]
            for name in ("bot_cpu", "postgres_cpu"):
                more[f"{name}_ms"] = (one[name] - before[name]) / turns * 1000
        done.append({**one, **more})
    return done


def growth(samples: Sequence[Json]) -> list[str]:
    """What the database grew by from the warm-up's end until the last sample, for 1,000 turns, in KB, largest first."""
    end = samples[-1]["at"]
    first = next(one for one in samples if one["at"] >= WARM * end)
    last = samples[-1]
    turns = (last["turns"] - first["turns"]) / 1000
    if turns <= 0:
        return ["no turns"]
    parts: dict[tuple[str, str], float] = {}
    kinds = {"r": "rows", "t": "toast", "i": "index"}
    for name, now in last["relations"].items():
        grown = now["size"] - first["relations"].get(name, {"size": 0})["size"]
        part = _owner(name, last["relations"]), kinds[now["kind"]]
        parts[part] = parts.get(part, 0.0) + grown / turns / 1000
    tables: dict[str, float] = {}
    for (table, _), size in parts.items():
        tables[table] = tables.get(table, 0.0) + size
    whole = (last["database"] - first["database"]) / turns / 1000
    written, kept = (last["wal"] - first["wal"]) / turns / 1e6, last["wal_files_bytes"] / 1e6
    lines = [
        f"database: {whole:,.0f} KB for 1,000 turns; "
        f"written to its log: {written:,.1f} MB for 1,000 turns ({kept:.0f} MB on the disk)"
    ]
    for table, size in sorted(tables.items(), key=lambda pair: -pair[1]):
        if abs(size) >= 1:
            of = ", ".join(f"{kind} {parts.get((table, kind), 0):,.0f}" for kind in kinds.values())
            lines.append(f"  {table}: {size:,.0f} KB ({of}; {_rows(table, first, last) / turns:,.0f} rows)")
    return lines


def _rows(table: str, first: Json, last: Json) -> int:
    return int(last["rows"].get(table, [0])[0] - first["rows"].get(table, [0])[0])


def _owner(name: str, relations: Json) -> str:
    """The table that an index or a toast table belongs to."""
    while relations.get(name, {}).get("of"):
        name = relations[name]["of"]
    return name


def spent(samples: Sequence[Json]) -> list[str]:
    """What the database's functions took, in ms a turn, at the level and later, and their calls a turn, those that take
    most first."""
    end = samples[-1]["at"]
    level = [one for one in samples if WARM * end <= one["at"] < LEVEL * end]
    later = [one for one in samples if one["at"] >= end / 2]
    if len(level) < 2 or len(later) < 2:
        return []
    told = []
    for name in later[-1]["functions"]:
        before, after = _a_turn(name, level), _a_turn(name, later)
        told.append((after[1], f"  {name}: {before[1]:.2f}, {after[1]:.2f} ms ({before[0]:.2f}, {after[0]:.2f} calls)"))
    return [line for _, line in sorted(told, reverse=True)[:MOST_FUNCTIONS]]


def _a_turn(name: str, samples: Sequence[Json]) -> tuple[float, float]:
    """A function's calls and milliseconds for each turn between the first and the last of these samples."""
    first, last = samples[0], samples[-1]
    turns = max(last["turns"] - first["turns"], 1)
    calls, seconds = first["functions"].get(name, (0, 0.0))
    calls_then, seconds_then = last["functions"].get(name, (0, 0.0))
    return (calls_then - calls) / turns, (seconds_then - seconds) / turns * 1000


def unused(samples: Sequence[Json]) -> list[str]:
    """Indexes that nothing has looked into, with their KB."""
    found = [(one["size"], name) for name, one in samples[-1]["relations"].items()
             if one["kind"] == "i" and not one["scans"] and not name.startswith("pg_toast")]  # fmt: skip
    return [f"  {name}: {size / 1000:,.0f} KB" for size, name in sorted(found, reverse=True)]


def verdict(samples: Sequence[Json]) -> tuple[str, bool]:
    """The whole report, and whether everything that is to be flat is. Too few samples are no proof of anything."""
    if len(samples) < 8:
        return f"{len(samples)} samples are too few to judge.", False
    derived = with_windows(samples)
    lines = [line for name, bound in BOUNDS.items() if (line := judged(name, series(derived, name), bound))]
    first, last = samples[0], samples[-1]
    hours, turns = last["at"] / 3600, last["turns"] - first["turns"]
    head = [
        f"{hours:.2f} hours, {turns:.0f} turns after {first['turns']:.0f}, {len(samples)} samples. The level: the "
        f"median from {WARM:.0%} of the time (the warm-up's end) to {LEVEL:.1%}; later: the median of the second half; "
        "the trend: an hour, from the warm-up's end. MB, pieces or ms.",
        "",
        "| what | level | later | change | trend an hour | |",
        "|---|---|---|---|---|---|",
        *map(str, lines),
        "",
        f"done: {last['done']}; unanswered: {last['done'].get('unanswered', 0)}; log: "
        f"{(last['log_bytes'] - first['log_bytes']) / max(turns, 1):,.0f} KB for 1,000 turns",
        *growth(samples),
        "the database's functions for each turn, at the level and later:",
        *spent(samples),
        "indexes that nothing looked into:",
        *unused(samples),
    ]
    return "\n".join(head), bool(lines) and all(line.flat for line in lines)
