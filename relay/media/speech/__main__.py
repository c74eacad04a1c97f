"""Transcribes one recording after another. Reads requests from standard input, each a line of JSON and the recording;
writes answers to standard output, one line of JSON each. Ends with its input."""

import contextlib
import json
import os
import queue
import threading
from typing import IO, Any

from relay.media.extraction.failure import Unusable
from relay.media.extraction.isolation import limit_resources, pipes
from relay.media.speech.decoding import NOTHING, decode
from relay.media.speech.engines import ENGINES, Engine

NICENESS = 10
"""The niceness of this process, because text answers take priority."""
FILES = 256
"""How many files may be open. A download uses many connections."""
TOO_MUCH = "It needs more memory than I may use for a recording."
BROKEN = "The speech engine couldn't transcribe it."

Requests = queue.Queue[tuple[dict[str, Any], bytes]]


def main() -> None:
    """Reads `{engine, model, threads, memory}`, loads the model, and writes `{ready}` or `{failed}`. Answers each
    `{size, language, minutes}` and recording with `{seconds, cut}` and then `{text, language}`, or with
    `{refused}`. `{log}` is a sentence for the log."""
    given, output = pipes()

    def tell(**what: Any) -> None:
        output.write(json.dumps(what).encode() + b"\n")
        output.flush()

    asked = json.loads(given.readline())
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICENESS)
    # Not the address space: PyTorch maps far more than it uses. Not file sizes: it downloads models.
    limit_resources(DATA=asked["memory"], NOFILE=FILES)
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
    recording = decode(content, request["minutes"])
    tell(seconds=recording.seconds, cut=recording.cut)
    text, language = engine.transcribe(recording.samples, request["language"])
    if not text:
        raise Unusable(NOTHING)
    tell(text=text, language=language)


def _read(given: IO[bytes], requests: Requests) -> None:
    """Reads requests while one is processed, so that this process ends with its parent in any case."""
    while line := given.readline():
        request = json.loads(line)
        requests.put((request, given.read(request["size"])))
    os._exit(0)


if __name__ == "__main__":
    main()
