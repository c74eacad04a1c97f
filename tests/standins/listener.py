"""A process that speaks as `relay.media.speech` does and hears nothing: each recording says what is to happen to it."""

from __future__ import annotations

import json
import os
import sys
import time


def tell(**what: object) -> None:
    print(json.dumps(what), flush=True)


def main() -> None:
    """`die`: it ends at once; `die once PATH`: it does when that file is not there yet; `hang`: it says nothing; else:
    that text is what was said, and how often this process was asked."""
    asked = json.loads(sys.stdin.buffer.readline())
    if asked["model"] == "broken":
        tell(failed="RuntimeError: no such model")
        return
    tell(log="loading")
    tell(ready=True)
    number = 0
    while line := sys.stdin.buffer.readline():
        request, number = json.loads(line), number + 1
        word, _, rest = sys.stdin.buffer.read(request["size"]).rstrip(b"\0").decode().partition(" ")
        if word == "die" and (not rest or not os.path.exists(rest)):
            if rest:
                open(rest, "w").close()
            os._exit(9)
        if word == "refuse":
            tell(refused="I heard nothing in it.")
            continue
        tell(seconds=2, cut=False)
        if word == "hang":
            time.sleep(600)
        tell(text=f"{word} {number} {','.join(sorted(os.environ))}", language=request["language"] or "en")


if __name__ == "__main__":
    main()
