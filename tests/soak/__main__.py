"""`python -m tests.soak`: a bot for hours between stand-ins; at its end, or at SIGTERM, what became of it."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from tests.benchmarks.crowd import FIRST_USER
from tests.benchmarks.lab import Child, Lab, between, lab, spawn
from tests.soak.people import PRIVATE
from tests.soak.verdict import verdict
from tests.soak.watch import Watch

NIGHT = 1 / 8
"""After what share of the time the nightly work begins: in the warm-up, so that its peak is not taken for a leak."""
HURRY = 0.05
"""The pace, in seconds, of what people do beforehand."""


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--every", type=float, default=45, help="seconds between two samples")
    parser.add_argument("--pace", type=float, default=2.0, help="seconds between two things that people do")
    parser.add_argument("--history", type=int, default=0, help="turns beforehand, as fast as they are answered")
    parser.add_argument("--data", type=Path, help="keep everything in this folder, which has to be empty")
    parser.add_argument("--samples", type=Path, help="where the samples go, a JSON line each (in the folder)")
    parser.add_argument("--judge", type=Path, help="only say what the samples in this file come to")
    return parser.parse_args()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def started(opened: Lab, people: Child, mind: Child, hours: float) -> Watch:
    """`relay run` as it is installed, with its temporary files and its log apart."""
    folder, port = opened.folder, free_port()
    temporary = folder / "tmp"
    temporary.mkdir()
    night = datetime.now(ZoneInfo("Europe/Berlin")) + timedelta(hours=hours * NIGHT, minutes=1)
    settings = between(people, mind) | opened.at("data") | {
        "RELAY_ADMINS": str(FIRST_USER),
        "RELAY_USERS": ",".join(str(FIRST_USER + number) for number in range(PRIVATE)),
        "RELAY_LOG_FORMAT": "json",
        "RELAY_WEB_PORT": str(port),
        "RELAY_SLEEP_AT": f"{night:%H:%M}",
        "TMPDIR": str(temporary),
    }  # fmt: skip
    bot = await spawn("-m", "relay", "run", log=folder / "relay.log", **settings)
    opened.children.append(bot)
    return Watch(bot, people, folder, f"http://127.0.0.1:{port}")


async def wait(ended: asyncio.Event, seconds: float) -> None:
    """Until the event is set, and no longer than so many seconds."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(ended.wait(), seconds)


async def soak(opened: Lab, options: argparse.Namespace, path: Path, ended: asyncio.Event) -> None:
    """Runs until the time is over or the event is set; one sample now and then, each written at once."""
    mind = await opened.start("-m", "tests.soak.mind", speaks=True)
    people = await opened.start("-m", "tests.soak.people", speaks=True)
    watch = await started(opened, people, mind, options.hours)
    await people.post("/_soak/begin", seconds=HURRY if options.history else options.pace)
    turns = 0.0
    while not ended.is_set() and turns < options.history:
        await wait(ended, 5)
        turns = (await watch.queue())["turns"]
    await people.post("/_soak/pace", seconds=options.pace)
    watch.begin()
    deadline = time.monotonic() + options.hours * 3600
    while not ended.is_set() and time.monotonic() < deadline:
        await wait(ended, min(options.every, max(1.0, deadline - time.monotonic())))
        sample = await watch.look()
        with path.open("a") as file:
            file.write(json.dumps(sample) + "\n")


async def run(options: argparse.Namespace) -> bool:
    """The soak and its verdict: whether it holds."""
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    folder = options.data or Path(tempfile.mkdtemp(prefix="relay-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    os.chmod(folder, 0o755)  # noqa: S103 — the server runs as another user
    path = options.samples or folder / "samples.jsonl"
    print(f"samples: {path}; ends {options.hours:g} hours after the history, or at SIGTERM", flush=True)
    try:
        async with lab(folder) as opened:
            await soak(opened, options, path, ended)
    finally:
        holds = judge(path) if path.exists() else False
        if not options.data:
            shutil.rmtree(folder, ignore_errors=True)
    return holds


def judge(path: Path) -> bool:
    """Prints what the samples in a file come to."""
    told, holds = verdict([json.loads(line) for line in path.read_text().splitlines()])
    print(told, "holds" if holds else "does NOT hold", sep="\n", flush=True)
    return holds


if __name__ == "__main__":
    given = arguments()
    sys.exit(not (judge(given.judge) if given.judge else asyncio.run(run(given))))
