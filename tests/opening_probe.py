"""`python -m tests.opening_probe`: the file extractor's process, with work that misbehaves."""

from __future__ import annotations

import os
import sys
import time
from tempfile import gettempdir
from typing import Any

from relay.media.extraction import __main__ as opening
from relay.media.extraction import fence

Made = tuple[dict[str, Any], list[bytes]]


def work(content: bytes, how: str) -> Made:
    """Misbehaves as told."""
    return globals()[how](content)


def echo(content: bytes) -> Made:
    print("a library says something")
    os.write(1, b'{"told": {"forged": true}, "sizes": []}\n')
    return {"length": len(content)}, [content[:3], b"", content[-3:]]


def surroundings(content: bytes) -> Made:
    return {"environment": dict(os.environ), "path": sys.path}, []


def hungry(content: bytes) -> Made:
    return {}, [bytes(4 * 1024**3)]


def endless(content: bytes) -> Made:
    while True:
        pass


def asleep(content: bytes) -> Made:
    if content:
        os.symlink(str(os.getpid()), content)
    time.sleep(600)
    return {}, []


def writing(content: bytes) -> Made:
    with open(content, "wb") as file:
        file.write(b"x" * 10)
        file.flush()
    return {}, []


def collecting(content: bytes) -> Made:
    return {"held": len([open(os.devnull) for _ in range(int(content))])}, []


def dying(content: bytes) -> Made:
    os.kill(os.getpid(), 9)
    return {}, []


def garbled(content: bytes) -> Made:
    os.write(ANSWER, b"\xff\xfe no answer\n")
    os._exit(0)


def half(content: bytes) -> Made:
    os.write(ANSWER, b'{"told": {}, "sizes": [1000]}\nxx')
    os._exit(0)


def silent(content: bytes) -> Made:
    os._exit(0)


def noisy(content: bytes) -> Made:
    for _ in range(300):
        sys.stderr.write("x" * 100_000)
    return {}, []


def fountain(content: bytes) -> Made:
    while True:
        os.write(ANSWER, b"x" * 65536)


def reading(content: bytes) -> Made:
    found = {}
    for path in content.decode().split():
        try:
            with open(path, "rb") as file:
                found[path] = len(file.read())
        except OSError as error:
            found[path] = -(error.errno or 1)
    return found, []


def broken(content: bytes) -> Made:
    raise RuntimeError("these are somebody's words")


ANSWER = os.dup(1)

if __name__ == "__main__":
    sys.modules["tests.opening_probe"] = sys.modules["__main__"]
    opening.WORK["probe"] = "tests.opening_probe"
    fence.WRITES += [gettempdir(), "/dev/shm"]
    opening.main()
