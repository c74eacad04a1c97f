"""A process with the protocol of `relay.embedding`, without a model. A text's vector tells its words, and its first
word sets what happens."""

from __future__ import annotations

import base64
import json
import os
import sys
import time
import zlib
from array import array

DIMENSIONS = 384


def tell(**what: object) -> None:
    print(json.dumps(what), flush=True)


def vector_of(text: str) -> str | None:
    """Returns the text's vector. First words: `die` ends the process, `hang` never returns, `null` can't be embedded,
    and `environment` gives the number of secrets that the process sees as the first component."""
    word = text.partition(" ")[0]
    if word == "die":
        os._exit(9)
    if word == "hang":
        time.sleep(600)
    if word == "null":
        return None
    numbers = [0.0] * DIMENSIONS
    if word == "environment":
        numbers[0] = sum("TOKEN" in name or name.startswith(("RELAY_", "ANTHROPIC_")) for name in os.environ)
        return base64.b64encode(array("f", numbers).tobytes()).decode()
    for one in text.lower().split():
        numbers[zlib.crc32(one.encode()) % DIMENSIONS] += 1.0
    length = sum(number**2 for number in numbers) ** 0.5 or 1.0
    return base64.b64encode(array("f", [number / length for number in numbers]).tobytes()).decode()


def main() -> None:
    asked = json.loads(sys.stdin.buffer.readline())
    if "broken" in asked["model"]:
        tell(failed="RuntimeError: no such model")
        return
    tell(log="loading")
    tell(ready=True, dimensions=DIMENSIONS)
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        tell(id=request["id"], vectors=[vector_of(text) for text in request["texts"]])


if __name__ == "__main__":
    main()
