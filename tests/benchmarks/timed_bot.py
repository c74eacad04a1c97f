"""`relay run` that records when each of its calls to the database, the model and Telegram began and ended."""

from __future__ import annotations

import functools
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from relay.__main__ import main
from relay.clients.anthropic.client import Claude
from relay.clients.postgres.database import Postgres
from relay.clients.telegram.client import Telegram

SPANS: list[tuple[str, float, float]] = []
"""The call, its begin and its end (monotonic seconds, the same in every process of the machine)."""


def watched(kind: type, method: str, name: Callable[..., str]) -> None:
    """Makes a method of a class record its times."""
    work = getattr(kind, method)

    @functools.wraps(work)
    async def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        begun = time.monotonic()
        try:
            return await work(self, *args, **kwargs)
        finally:
            SPANS.append((name(*args), begun, time.monotonic()))

    setattr(kind, method, run)


if __name__ == "__main__":
    watched(Postgres, "call", lambda function, *_: str(function))
    watched(Claude, "reply", lambda *_: "model")
    watched(Telegram, "call", lambda method, *_: str(method))
    sys.argv = ["relay", "run"]
    try:
        main()
    finally:
        with open(os.environ["BENCH_SPANS"], "w") as file:
            json.dump(SPANS, file)
