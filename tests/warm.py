"""A process that opens one file after another, within the limits of `relay.media.extraction`.

What takes half a second in a separate process takes milliseconds here. A file that ends the process or makes it hang
is noticed all the same.

    python -m tests.warm   reads lines of JSON as `relay.media.extraction` does, each with a file, and answers each
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import subprocess
import sys
from typing import Any

from relay.clients.processes.file_extractor import MEMORY, SECONDS
from relay.media.extraction.__main__ import WORK, run_task
from relay.media.extraction.isolation import limit_resources, pipes

MOST = 500
"""The most files for one process, so that a library's memory leaks do not affect later files."""

Json = dict[str, Any]


class Warm:
    """Opens files. Each call returns the result for the file, or `{"ended": exit code}`."""

    def __init__(self) -> None:
        self._opened = 0
        self._process: subprocess.Popen[bytes] | None = None

    def open(self, work: str, content: bytes, **options: Any) -> Json:
        process = self._process
        if process is None or self._opened % MOST == 0:
            self.close()
            process = self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        self._opened += 1
        given, answers = process.stdin, process.stdout
        assert given is not None
        assert answers is not None
        given.write(json.dumps({"work": work, "options": options, "size": len(content)}).encode() + b"\n" + content)
        given.flush()
        if select.select([answers], [], [], SECONDS)[0] and (line := answers.readline()):
            return dict(json.loads(line))
        self.close()
        return {"ended": process.returncode}

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
        self._process = None


def work(content: bytes, **options: Any) -> tuple[Json, list[bytes]]:
    """Decodes a recording as speech to text does. Without content, the process dies, as when a library crashes."""
    if not content:
        os.kill(os.getpid(), signal.SIGABRT)
    from relay.media.speech.decoding import decode

    return {"seconds": decode(content, 1).seconds}, []


def main() -> None:
    """Opens files until there are no more."""
    WORK["recording"] = "tests.warm"
    for module in WORK.values():
        importlib.import_module(module)
    given, output = pipes()
    limit_resources(AS=MEMORY, FSIZE=0)
    while head := given.readline():
        asked = json.loads(head)
        content = given.read(asked["size"])
        answer, _ = run_task(asked, lambda content=content: content)
        output.write(json.dumps(answer).encode() + b"\n")
        output.flush()


if __name__ == "__main__":
    main()
