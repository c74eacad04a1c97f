"""A process with the protocol of `relay.media.speech` that transcribes nothing. Each recording says what happens."""

from __future__ import annotations

import json
import os
import sys
import time


def tell(**what: object) -> None:
    print(json.dumps(what), flush=True)


def main() -> None:
    """Recordings: `die` ends the process, `die once PATH` does so unless that file exists, `refuse` is refused, `hang`
    never returns. Any other word is the transcript, with the count of this process's requests."""
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
