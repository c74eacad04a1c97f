"""Asserts for every test that nothing written by it, or by a process it started, holds a secret used in the run.
Provides a Supabase project to tests that want one, and lists at the end what was left out."""

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

from tests import forks, leaks, places, strategies
from tests.standins.supabase import SupabaseProject

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or strategies.UNHURRIED)

LEFT_OUT: dict[str, str] = {}
"""Tests that were left out, and why."""


FOLDERS: list[Path] = []


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Makes the temporary directory, which workers inherit. Restores Ctrl-C, which a shell's background jobs ignore,
    and all processes that tests start would ignore too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput") and (folder := places.settle()):
        FOLDERS.append(folder)
        # The path of a server's socket, which is next to its data, may have at most 103 bytes.
        config.option.basetemp = config.option.basetemp or folder / "b"


def pytest_unconfigure() -> None:
    for folder in FOLDERS:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collected tests stay until the end, so the garbage collector need not scan them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs a failed test of processes once more, as a loaded machine can spoil its timing, and lists it as rerun.
    Asserts that a slow test says which others cover the same."""
    for item in items:
        for mark in item.iter_markers("slow"):
            if not mark.args:
                raise pytest.UsageError(f"{item.nodeid} is marked as slow and does not say which tests cover the same")
        if item.nodeid.startswith(("tests/acceptance/", "tests/browser/", "tests/integration/")):
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("heavy"):
            LEFT_OUT[item.nodeid] = f"{item.nodeid.partition('::')[0]}, which needs the speech engines"
        elif slow := item.get_closest_marker("slow"):
            LEFT_OUT[item.nodeid] = f"{item.nodeid.partition('::')[0]}, slow; covered by {slow.args[0]}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Each worker reports to the process that prints."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = LEFT_OUT


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object | None) -> None:
    LEFT_OUT.update(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints what was left out, and why."""
    if LEFT_OUT:
        terminalreporter.section("left out; `make test-all` runs them", "-")
        for reason, number in sorted(Counter(LEFT_OUT.values()).items()):
            terminalreporter.write_line(f"{number} test{'s' if number != 1 else ''}: {reason}")
        if not os.environ.get("RELAY_HEAVY"):
            terminalreporter.write_line("SQL tests: most on a second server, and over REST")


def is_wanted(item: pytest.Item) -> bool:
    """Whether a test is heavy and heavy tests must run. (espeak-ng is no package, so not everybody can install it.)"""
    return bool(os.environ.get("RELAY_HEAVY")) and item.get_closest_marker("heavy") is not None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """Fails a phase whose captured output or log holds a secret, and a heavy test that is skipped although all that it
    needs should be installed."""
    # Python 3.11 can't parse a failure's source while the garbage collector makes it format another traceback.
    gc.disable()
    try:
        report = yield
    finally:
        gc.enable()
    if report.skipped and is_wanted(item) and "espeak-ng" not in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"left out, with RELAY_HEAVY set: {report.longrepr}"
    if report.passed and (leaked := leaks.found("".join(text for _, text in report.sections))):
        report.outcome = "failed"
        report.longrepr = f"a secret was written: {leaked}"
    return report


@pytest.fixture(scope="session", autouse=True)
def forked() -> Iterator[None]:
    """Relay's processes start without importing anything."""
    with forks.installed():
        yield


@pytest.fixture(autouse=True)
def log() -> Iterator[None]:
    """Sets up logging the same way for each test, whatever the previous one silenced. Tracebacks are plain, as in
    Relay's own log: the default draws each one with all values, which takes up to seconds."""
    found = structlog.get_config()
    structlog.reset_defaults()
    *before, _ = structlog.get_config()["processors"]
    plain = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*before, plain])
    logging.getLogger().setLevel(logging.WARNING)
    logging.getLogger("relay").setLevel(logging.NOTSET)
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
    """The file's project, emptied."""
    running.reset()
    return running
