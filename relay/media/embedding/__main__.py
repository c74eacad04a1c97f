"""Embeds texts. Reads requests from standard input and writes answers to standard output, one line of JSON each. Ends
with its input."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any

from relay.media.embedding.engines import DIMENSIONS, ENGINES
from relay.media.extraction.isolation import limit_resources, pipes

NICENESS = 10
"""The niceness of embedding stored texts, which can wait. Questions can't."""
FILES = 256
"""How many files may be open. A download uses many connections."""

Requests = queue.SimpleQueue[dict[str, Any]]


def main() -> None:
    """Reads `{engine, model, threads, memory, cache}`, loads the model, and writes `{ready, dimensions}` or
    `{failed}`. Then answers each `{id, query, texts}` with `{id, vectors}`: base64 of 32-bit floats, or null for a
    text that can't be embedded. Queries run beside other requests. `{log}` is a sentence for the log."""
    given, output = pipes()
    speaking = threading.Lock()

    def tell(**what: Any) -> None:
        with speaking:
            output.write(json.dumps(what).encode() + b"\n")
            output.flush()

    asked = json.loads(given.readline())
    # Not the address space: weights are mapped. Not file sizes: it may download a model.
    limit_resources(DATA=asked["memory"], NOFILE=FILES)
    try:
        engine = ENGINES[asked["engine"]](
            asked["model"], asked["threads"], asked["cache"], lambda sentence: tell(log=sentence)
        )
        dimensions = len(engine.query("ready"))
        if dimensions not in DIMENSIONS:
            raise ValueError(f"its vectors have {dimensions} numbers, not {', '.join(map(str, DIMENSIONS))}")
    except Exception as error:
        tell(failed=f"{type(error).__name__}: {error}"[:300])
        return
    queries: Requests = queue.SimpleQueue()
    passages: Requests = queue.SimpleQueue()
    threading.Thread(target=_work, args=(queries, engine.query, tell), daemon=True).start()
    threading.Thread(target=_work, args=(passages, engine.passage, tell, NICENESS), daemon=True).start()
    tell(ready=True, dimensions=dimensions)
    while line := given.readline():
        request = json.loads(line)
        (queries if request["query"] else passages).put(request)
    os._exit(0)


def _work(requests: Requests, embed: Callable[[str], Any], tell: Callable[..., None], niceness: int = 0) -> None:
    if niceness and sys.platform == "linux":  # only Linux has thread priorities
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
    while True:
        request = requests.get()
        tell(id=request["id"], vectors=[_embed(embed, text, tell) for text in request["texts"]])


def _embed(embed: Callable[[str], Any], text: str, tell: Callable[..., None]) -> str | None:
    try:
        return base64.b64encode(embed(text).tobytes()).decode()
    except Exception as error:
        tell(log=f"a text could not be embedded ({type(error).__name__})")
        return None


if __name__ == "__main__":
    main()
