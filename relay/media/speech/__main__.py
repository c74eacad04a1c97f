"""Hears one recording after the other. Requests come by standard input, a line of JSON and then the recording; what is
told leaves by standard output, a line of JSON each. It ends when standard input does."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import threading
from typing import IO, Any

from relay.media.extraction.failure import Unusable
from relay.media.extraction.isolation import bounded, pipes
from relay.media.speech.decoding import NOTHING, decoded
from relay.media.speech.engines import ENGINES, Engine

NICENESS = 10
"""Whoever waits for an answer by text comes first."""
FILES = 256
"""Open at a time; a download has many connections."""
TOO_MUCH = "It needs more memory than a recording gets here."
BROKEN = "The speech engine could not make anything of it."

Requests = queue.Queue[tuple[dict[str, Any], bytes]]


def main() -> None:
    """Reads `{engine, model, threads, memory}`, loads the model, and tells `{ready}` or `{failed}`. Then, for each
    `{size, language, minutes}` and recording: `{seconds, cut}` and after it `{text, language}`; or `{refused}`. In
    between, `{log}` is a sentence for the log.
    """
    given, output = pipes()

    def tell(**what: Any) -> None:
        output.write(json.dumps(what).encode() + b"\n")
        output.flush()

    asked = json.loads(given.readline())
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICENESS)
    # Not its address space: PyTorch maps far more than it uses. And files it may write: it downloads models.
    bounded(DATA=asked["memory"], NOFILE=FILES)
    requests: Requests = queue.Queue()
    threading.Thread(target=_read, args=(given, requests), daemon=True).start()
    try:
        engine = ENGINES[asked["engine"]](asked["model"], asked["threads"], lambda sentence: tell(log=sentence))
    except Exception as error:
        tell(failed=f"{type(error).__name__}: {error}"[:300])
        return
    tell(ready=True)
    while True:
        request, recording = requests.get()
        try:
            _hear(engine, request, recording, tell)
        except Unusable as error:
            tell(refused=str(error))
        except MemoryError:
            tell(refused=TOO_MUCH)
        except Exception as error:
            tell(refused=BROKEN, log=type(error).__name__)


def _hear(engine: Engine, request: dict[str, Any], content: bytes, tell: Any) -> None:
    recording = decoded(content, request["minutes"])
    tell(seconds=recording.seconds, cut=recording.cut)
    text, language = engine.transcribe(recording.samples, request["language"])
    if not text:
        raise Unusable(NOTHING)
    tell(text=text, language=language)


def _read(given: IO[bytes], requests: Requests) -> None:
    """Reads requests, also while one is worked on: so this process ends with the one that asks, whatever it does."""
    while line := given.readline():
        request = json.loads(line)
        requests.put((request, given.read(request["size"])))
    os._exit(0)


if __name__ == "__main__":
    main()
