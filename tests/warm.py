"""The process that opens files, forked from one that has loaded its libraries: a file costs milliseconds then, not the
half second of a process of its own. All else is as in `relay.opening`: its limits, its pipes, how it ends.

    python -m tests.warm   reads lines of JSON as `relay.opening` does, each followed by a file; for each it writes a
                           line with the exit code and the length of what came out, and then that
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import select
import signal
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

from relay.clients.opener import MEMORY, Made, _answered
from relay.opening.__main__ import WORK, main

SECONDS = 20
"""How long a file may take."""
HUNG = -int(signal.SIGALRM)


class Warm:
    """Opens files one after another."""

    def __init__(self) -> None:
        program = [sys.executable, "-m", "tests.warm"]
        self._process = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def open(self, work: str, content: bytes, **options: Any) -> tuple[int, Made | None]:
        """The exit code (`HUNG` when it did not end), and what was told and made; None when that is no answer."""
        given, answers = self._process.stdin, self._process.stdout
        assert given is not None
        assert answers is not None
        asked = {"work": work, "options": options, "memory": MEMORY, "seconds": SECONDS, "size": len(content)}
        given.write(json.dumps(asked).encode() + b"\n" + content)
        given.flush()
        said = json.loads(answers.readline())
        return said["code"], _answered(answers.read(said["size"]))

    def close(self) -> None:
        self._process.communicate()


def work(content: bytes, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
    """A recording as those get it that hear it. Without any, the process is gone, as when a library crashes."""
    if not content:
        os.kill(os.getpid(), signal.SIGKILL)
    from relay.hearing.decoding import decoded

    return {"seconds": decoded(content, 1).seconds}, []


def opened(head: bytes, content: bytes) -> tuple[int, bytes]:
    """One file in a process of its own: its exit code, and what it wrote."""
    given, to_give = os.pipe()
    answers, to_answer = os.pipe()
    process = os.fork()
    if not process:
        with contextlib.suppress(BaseException):
            os.dup2(given, 0)
            os.dup2(to_answer, 1)
            os.closerange(3, 64)
            main()
        os._exit(1)
    os.close(given)
    os.close(to_answer)
    with open(to_give, "wb", 0) as file, open(answers, "rb", 0) as output:
        with contextlib.suppress(BrokenPipeError):
            left = memoryview(head + content)
            while left:
                left = left[file.write(left) or 0 :]
        made = io.BytesIO()
        while select.select([output], [], [], SECONDS)[0]:
            if not (piece := output.read(1 << 16)):
                return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), made.getvalue()
            made.write(piece)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return HUNG, b""


def serve() -> None:
    """Opens what it is given until there is no more."""
    WORK["recording"] = "tests.warm"
    for module in (*WORK.values(), "relay.hearing.decoding", "PIL.Image", "pypdfium2", "mammoth", "python_calamine"):
        importlib.import_module(module)
    if find_spec("av"):
        for module in ("av", "numpy"):
            importlib.import_module(module)
    given, output = sys.stdin.buffer, sys.stdout.buffer
    while head := given.readline():
        code, made = opened(head, given.read(json.loads(head)["size"]))
        output.write(json.dumps({"code": code, "size": len(made)}).encode() + b"\n" + made)
        output.flush()


if __name__ == "__main__":
    serve()
