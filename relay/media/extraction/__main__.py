"""Runs one task on one file. Options and content arrive on standard input; results leave on standard output. Ends when
its parent does."""

from __future__ import annotations

import importlib
import json
import os
import threading
from collections.abc import Callable
from typing import Any

from relay.media.extraction.failure import Unusable
from relay.media.extraction.fence import restrict_files
from relay.media.extraction.isolation import limit_resources, pipes

BROKEN = "It's damaged, or it isn't what its name says."
TOO_MUCH = "It needs more memory than I may use for a file."
WORK = {
    "picture": "relay.media.extraction.picture",
    "document": "relay.media.extraction.document",
    "opus": "relay.media.extraction.opus",
    "speech": "relay.media.extraction.speech",
}
"""Modules with a function `work(content, **options) -> (told, made)`."""


def main() -> None:
    """Reads a line of JSON (`{work, options, memory, seconds, size}`) and a file of that size. Writes a line of JSON
    (`{told, sizes}` or `{refused, error}`) and the files produced. Standard input stays open."""
    given, output = pipes()
    asked = json.loads(given.readline())
    limit_resources(AS=asked["memory"], CPU=asked["seconds"], FSIZE=0)
    voice = asked["options"].get("voice")
    restrict_files([voice, f"{voice}.json"] if voice else [])

    def content() -> bytes:
        whole = given.read(asked["size"])
        threading.Thread(target=_end_with_parent, args=(given,), daemon=True).start()
        return whole

    answer, made = run_task(asked, content)
    output.write(json.dumps(answer).encode() + b"\n")
    for one in made:
        output.write(one)
    output.flush()
    os._exit(0)  # the thread may be in the middle of a read


def run_task(asked: dict[str, Any], content: Callable[[], bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Returns a task's result or refusal, and the files produced."""
    try:
        told, made = importlib.import_module(WORK[asked["work"]]).work(content(), **asked["options"])
    except Unusable as error:
        return {"refused": str(error), "error": "Unusable"}, []
    except MemoryError:
        return {"refused": TOO_MUCH, "error": "MemoryError"}, []
    except Exception as error:
        return {"refused": BROKEN, "error": type(error).__name__}, []
    return {"told": told, "sizes": [len(one) for one in made]}, made


def _end_with_parent(given: Any) -> None:
    """Waits for the end of standard input, which the system closes when the parent ends."""
    while given.read(1 << 16):
        pass
    os._exit(1)


if __name__ == "__main__":
    main()
