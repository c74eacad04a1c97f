"""Shows the progress of long work, with a terminal or without, and what to do next after Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from relay.archive.transfer import Watcher

LINE_SECONDS = 5.0
"""How often to print a line about a long table, without a terminal."""


def plain(stderr: bool = False) -> Console:
    """Returns a console that prints texts unchanged, to standard output or to standard error."""
    return Console(stderr=stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)


class ProgressBar:
    """A progress bar."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[tuple[str, str], TaskID] = {}

    def report(self, step: str, table: str, rows: int, of: int) -> None:
        key = (step, table)
        if key not in self._tasks:
            for task in self._tasks.values():
                self._progress.update(task, visible=False)
            self._tasks[key] = self._progress.add_task(f"{step} {table}", total=of)
        self._progress.update(self._tasks[key], completed=rows, total=of)

    def say(self, sentence: str) -> None:
        self._progress.console.print(sentence)


class ProgressLines:
    """Progress in lines, without a terminal: one for each table, and some in between."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._next = time.monotonic() + LINE_SECONDS
        self._copied: set[str] = set()

    def report(self, step: str, table: str, rows: int, of: int) -> None:
        copied = step == "Copying" and rows == of > 0 and table not in self._copied
        if copied or time.monotonic() > self._next:
            self._next = time.monotonic() + LINE_SECONDS
            self._copied |= {table} if copied else set()
            self._console.print(f"{step} {table}: {rows:,} of {of:,} rows")

    def say(self, sentence: str) -> None:
        self._console.print(sentence)


@contextlib.contextmanager
def show_progress(console: Console) -> Iterator[Watcher]:
    """Returns a progress bar on a terminal, or lines without one."""
    if not console.is_terminal:
        yield ProgressLines(console)
        return
    columns = (TextColumn("{task.description:<24}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        yield ProgressBar(progress)


def count_progress() -> Callable[[str, int], None]:
    """Returns what shows how many rows of a part were read: in place on a terminal, else in lines."""
    due = time.monotonic() + LINE_SECONDS

    def told(part: str, seen: int) -> None:
        nonlocal due
        if sys.stdout.isatty():
            print(f"\r{part}: {seen:,} ", end="", flush=True)
        elif time.monotonic() > due:
            due = time.monotonic() + LINE_SECONDS
            print(f"Adding {part.replace('_', ' ')}: {seen:,} so far", flush=True)

    return told


@contextlib.contextmanager
def tell_if_interrupted(hint: str) -> Iterator[None]:
    """Says on standard error what to do next if the work is interrupted, as by Ctrl-C."""
    try:
        yield
    except asyncio.CancelledError:
        line_end = "\n" if sys.stderr.isatty() else ""
        print(f"{line_end}relay: Interrupted. {hint}", file=sys.stderr, flush=True)
        raise
