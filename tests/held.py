"""`python -m tests.held FILE run`: runs Relay and records what blocks its event loop.

Only processor time counts, so a busy machine changes nothing: that of the loop's own thread in each callback, and that
of the whole process between two ticks of the loop, as another thread may hold the interpreter's lock. While the loop's
thread waits for a processor, nobody blocks it: other threads may work without the lock then.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

TICK = 0.005
TOLD = 0.02
"""The fewest seconds that are recorded."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Something that blocked the loop. `at`: Unix time; `seconds`: of processor time."""

    at: float
    seconds: float
    kind: str
    """`callback`, or `tick`: any thread of the process."""
    where: str


def read(file: Path) -> list[Hold]:
    """What was recorded so far."""
    return [Hold(**json.loads(line)) for line in file.read_text("utf-8").splitlines()] if file.exists() else []


class Watch:
    """Measures the event loop of the main thread."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("a", encoding="utf-8")
        self._ticking: asyncio.AbstractEventLoop | None = None
        self._ticked = (0.0, 0.0)
        self._queue = os.open(f"/proc/self/task/{threading.main_thread().native_id}/schedstat", os.O_RDONLY)
        self._began = 0.0
        self._stack = ""
        self._main = threading.main_thread().ident or 0

    def start(self) -> None:
        """Wraps every callback of the loop."""
        run = asyncio.events.Handle._run

        def timed(handle: asyncio.Handle) -> None:
            if threading.get_ident() != self._main:
                return run(handle)
            if self._ticking is not handle._loop:  # type: ignore[attr-defined]
                self._ticking = handle._loop  # type: ignore[attr-defined]
                self._ticked = self._times()
                self._ticking.call_later(TICK, self._tick)
            self._stack, self._began = "", time.thread_time()
            run(handle)
            took, self._began = time.thread_time() - self._began, 0.0
            if took >= TOLD:
                self._write(took, "callback", self._stack or repr(handle))
            return None

        asyncio.events.Handle._run = timed  # type: ignore[method-assign]
        threading.Thread(target=self._look, daemon=True).start()

    def _tick(self) -> None:
        now = self._times()
        took = min(after - before for after, before in zip(now, self._ticked, strict=True))
        self._ticked = now
        if took >= TOLD:
            self._write(took, "tick", "")
        if self._ticking:
            self._ticking.call_later(TICK, self._tick)

    def _times(self) -> tuple[float, float]:
        """Returns the process's processor time, and the time in which the loop's thread didn't wait for a processor."""
        waited = int(os.pread(self._queue, 100, 0).split()[1])  # ns; Documentation/scheduler/sched-stats.rst of Linux
        return time.process_time(), time.perf_counter() - waited / 1e9

    def _look(self) -> None:
        """Records where the loop's thread is once a callback takes long."""
        clock = time.pthread_getcpuclockid(self._main)
        while True:
            time.sleep(TICK)
            began = self._began
            if began and time.clock_gettime(clock) - began > TOLD:
                frame = sys._current_frames().get(self._main)
                lines = traceback.extract_stack(frame)[-12:] if frame else []
                self._stack = " < ".join(
                    f"{one.filename.split('/')[-1]}:{one.lineno} {one.name}" for one in lines[::-1]
                )

    def _write(self, seconds: float, kind: str, where: str) -> None:
        told: dict[str, Any] = asdict(Hold(time.time(), seconds, kind, where[:1500]))
        self._file.write(json.dumps(told) + "\n")
        self._file.flush()


if __name__ == "__main__":
    Watch(Path(sys.argv.pop(1))).start()
    from relay.__main__ import main

    main()
