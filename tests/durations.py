"""Where a test run spends its time. With `-p tests.durations`, a run ends with tables by folder, backend, file and
fixture: seconds that passed, and processor seconds of the test process and its ended children."""

from __future__ import annotations

import re
import resource
import time
from collections import Counter, defaultdict
from typing import Any

import pytest

MOST = 40
"""The most lines of a table."""
BACKEND = re.compile(r"\[(embedded|url|supabase)\b")

last = 0.0
"""Processor time of this process at the end of the last phase."""
tables: dict[str, defaultdict[str, Counter[str]]] = {
    name: defaultdict(Counter) for name in ("folder", "backend", "file", "fixture")
}


def used() -> float:
    """Seconds of processor time so far."""
    usages = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def pytest_collection_finish() -> None:
    global last
    last = used()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any):
    began, processor = time.perf_counter(), used()
    try:
        return (yield)
    finally:
        spent = (f"{fixturedef.argname} ({fixturedef.scope})", time.perf_counter() - began, used() - processor)
        request._pyfuncitem.user_properties.append(("fixture", spent))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: Any):
    global last
    report, before = (yield), last
    last = used()
    report.user_properties = [*item.user_properties, ("processor", last - before)]
    item.user_properties.clear()
    return report


def pytest_runtest_logreport(report: Any) -> None:
    """Runs in the process to which workers send their results."""
    file = report.nodeid.partition("::")[0]
    backend = BACKEND.search(report.nodeid)
    rows = [
        tables["folder"]["/".join(file.split("/")[:2])],
        tables["backend"][backend[1] if backend else "-"],
        tables["file"][file],
    ]
    for name, value in report.user_properties:
        if name == "processor":
            for row in rows:
                row.update({report.when: report.duration, "all": report.duration, "processor": value})
                row["number"] += report.when == "call"
        elif name == "fixture":
            fixture, seconds, processor = value
            tables["fixture"][fixture].update({"setup": seconds, "all": seconds, "processor": processor, "number": 1})


def pytest_terminal_summary(terminalreporter: Any) -> None:
    columns = ("number", "setup", "call", "teardown", "all", "processor")
    for name, rows in tables.items():
        terminalreporter.section(f"by {name}, in seconds", "-")
        terminalreporter.write_line("".join(f"{column:>10}" for column in columns))
        for key, row in sorted(rows.items(), key=lambda one: -one[1]["all"])[:MOST]:
            figures = "".join(f"{row[column]:10.1f}" for column in columns[1:])
            terminalreporter.write_line(f"{row['number']:10.0f}{figures}  {key}")
