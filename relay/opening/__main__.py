"""One piece of work on one file: options and content come by standard input, what is told and made leaves by standard
output."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from typing import Any

from relay.opening.failure import Unusable

BROKEN = "It is damaged, or it is not what its name says."
TOO_MUCH = "It needs more memory than a file gets here."
WORK = {
    "picture": "relay.opening.picture",
    "document": "relay.opening.document",
    "opus": "relay.opening.opus",
    "speech": "relay.opening.speech",
}
"""Modules with a function `work(content, **options) -> (told, made)`."""


def main() -> None:
    """Reads a line of JSON (`{work, options, memory, seconds}`) and then the file; writes a line of JSON
    (`{told, sizes}`, or `{refused}`) and then what was made."""
    given, output = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no part of the answer
    asked = json.loads(given.readline())
    content = given.read()
    _bound(asked["memory"], asked["seconds"])
    answer: dict[str, Any]
    made: list[bytes] = []
    try:
        told, made = importlib.import_module(WORK[asked["work"]]).work(content, **asked["options"])
        answer = {"told": told, "sizes": [len(one) for one in made]}
    except Unusable as error:
        answer = {"refused": str(error)}
    except MemoryError:
        answer = {"refused": TOO_MUCH}
    except Exception as error:
        print(type(error).__name__, file=sys.stderr)
        answer = {"refused": BROKEN}
    output.write(json.dumps(answer).encode() + b"\n")
    for one in made:
        output.write(one)
    output.flush()


def _bound(memory: int, seconds: int) -> None:
    """Limits this process: bytes of memory, seconds of processor time, no file written, no dump."""
    with contextlib.suppress(ImportError):  # Windows has none
        import resource

        for limit, most in (
            (resource.RLIMIT_AS, memory),
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ):
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(limit, (most, most))


if __name__ == "__main__":
    main()
