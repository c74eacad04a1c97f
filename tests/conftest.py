"""What holds for every test: nothing that it, or a process it started, wrote holds a secret that the run has used. And
a Supabase project for those that want one. What was left out is named at the end."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import settings

from tests import leaks, places, strategies
from tests.standins.supabase import SupabaseProject

if os.environ.get("HYPOTHESIS_PROFILE") == strategies.NIGHTLY:
    settings.load_profile(strategies.NIGHTLY)

LEFT_OUT: dict[str, str] = {}
"""Tests that were not chosen, and why."""
ELSEWHERE = pytest.StashKey[bool]()
"""Set on a test of SQL that runs on another backend."""


FOLDERS: list[Path] = []


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Workers inherit the directory of the one that started them. A shell's job in the background is deaf to Ctrl-C, as
    all that tests start would be."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput") and (folder := places.settle()):
        FOLDERS.append(folder)
        # A server's socket next to its data has to have a path of at most 103 bytes.
        config.option.basetemp = config.option.basetemp or folder / "b"


def pytest_unconfigure() -> None:
    for folder in FOLDERS:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays until the end: the garbage collector need not look at it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Processes, kills and a loaded machine: a test that misses its moment is run once more, and listed as rerun. A
    slow test says which others cover the same."""
    for item in items:
        for mark in item.iter_markers("slow"):
            if not mark.args:
                raise pytest.UsageError(f"{item.nodeid} is marked as slow and does not say which tests cover the same")
        if {"acceptance", "integration"} & set(item.path.relative_to(Path(__file__).parent).parts):
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("heavy"):
            LEFT_OUT[item.nodeid] = f"{item.nodeid.partition('::')[0]}, which needs the speech engines"
        elif slow := item.get_closest_marker("slow"):
            LEFT_OUT[item.nodeid] = f"{item.nodeid.partition('::')[0]}, slow; covered by {slow.args[0]}"
        elif ELSEWHERE in item.stash:
            LEFT_OUT[item.nodeid] = "SQL, on one more backend"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of several tells the one that prints."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = LEFT_OUT


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object | None) -> None:
    LEFT_OUT.update(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was left out, and why."""
    if LEFT_OUT:
        terminalreporter.section("left out; `make test-all` runs them", "-")
        for reason, number in sorted(Counter(LEFT_OUT.values()).items()):
            terminalreporter.write_line(f"{number} test{'s' if number != 1 else ''}: {reason}")


def is_wanted(item: pytest.Item) -> bool:
    """Whether a test is heavy, and heavy tests must run. (espeak-ng is no package: not everybody can install it.)"""
    return bool(os.environ.get("RELAY_HEAVY")) and item.get_closest_marker("heavy") is not None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """A phase whose captured output or log holds a secret has failed; so has a heavy test that was skipped where all
    that it needs should be there."""
    report = yield
    if report.skipped and is_wanted(item) and "espeak-ng" not in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"left out, with RELAY_HEAVY set: {report.longrepr}"
    if report.passed and (leaked := leaks.found("".join(text for _, text in report.sections))):
        report.outcome = "failed"
        report.longrepr = f"a secret was written: {leaked}"
    return report


@pytest.fixture(autouse=True)
def log() -> Iterator[None]:
    """Each test finds the log set up as every test does, whatever the one before it silenced."""
    found = structlog.get_config()
    structlog.reset_defaults()
    logging.getLogger().setLevel(logging.WARNING)
    yield
    structlog.configure(**found)


@pytest.fixture(scope="module")
def running() -> Iterator[SupabaseProject]:
    """A migrated project for the tests of one file."""
    with SupabaseProject() as project:
        project.migrate()
        yield project


@pytest.fixture
def project(running: SupabaseProject) -> SupabaseProject:
    """The file's project with nothing in it."""
    running.reset()
    return running
