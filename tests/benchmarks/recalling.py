"""Benchmarks of memory: recall at the size that the bounds assume, and the cost of embedders and of background work."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from pathlib import Path

import psycopg

from relay.core.models import Space
from relay.memory.rows.search import SearchQuery
from relay.memory.store import Store
from tests.benchmarks.crowd import FIRST_USER
from tests.benchmarks.generated import chosen, fill, one
from tests.benchmarks.lab import PEOPLE, Child, Lab, Row, cpu, median, p95, polling
from tests.benchmarks.opened import open_store
from tests.month import written

LARGEST = Space("private", owner_id=FIRST_USER)
MODEL = "benchmark"
VECTORS = Path(__file__).with_name("vectors.sql")
BACKLOG_OWNER = FIRST_USER + PEOPLE - 1
"""The person whose month waits to be judged and indexed while others talk."""


async def recall(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Asks the largest space, with 100,000 messages and 10,000 memories, in a database of the size
    that the bounds assume."""
    async with open_store(options.data or lab.folder / "data") as (store, url):
        filled = fill(url, chosen(options))
        asked = Questions(store, url, options)
        rows = [Row(f"recall: {chosen(options)}, {asked.embedded:,} vectors", "", filled)]
        for kind in ("words", "words and vector") if options.vectors else ("words",):
            rows += await asked.measure(kind, options.turns)
    return rows


class Questions:
    """Questions made from words of messages, some with the vector of a nearby text."""

    def __init__(self, store: Store, url: str, options: argparse.Namespace) -> None:
        self.store = store
        self.random = random.Random(7)
        with psycopg.connect(url, autocommit=True) as connection:
            rows = connection.execute("select text from relay.message where space_id = 1 order by id limit 5000")
            self.texts = [text for (text,) in rows.fetchall()]
            self.vectors: list[str] = []
            if options.vectors:
                connection.execute((VECTORS.read_text("utf-8") % {"spaces": options.embedded_spaces}).encode())
                near = connection.execute("select vector::text from relay.embedding where space_id = 1 limit 500")
                self.vectors = [vector for (vector,) in near.fetchall()]
                connection.execute("vacuum analyze relay.embedding")
            self.embedded = one(connection, "select count(*) from relay.embedding")

    async def measure(self, kind: str, turns: int) -> list[Row]:
        """Asks as a turn does, as the model's tool does, and as /search does."""
        times: dict[str, list[float]] = {"recall_for": [], "look_up": [], "find": []}
        found = 0
        for number in range(turns + 20):
            words = " ".join(self.random.sample(self.random.choice(self.texts).split(), 6))
            vector = self.random.choice(self.vectors) if kind != "words" else None
            query = {"text": words, "vector": vector, "model": MODEL, "chat_id": FIRST_USER, "topic_id": 0}
            looked_for = SearchQuery(words, vector=vector, model=MODEL)
            for name, call in (
                ("recall_for", self.store.recall_for(LARGEST, query, 5)),
                ("look_up", self.store.look_up(LARGEST, {"bot_id": 0}, {"kinds": None, "tags": None, **query}, 8)),
                ("find", self.store.find(LARGEST, 0, looked_for, 0, 6)),
            ):
                started = time.perf_counter()
                result = await call
                if number >= 20:  # the first ones are a warm-up
                    times[name].append(time.perf_counter() - started)
                    found += bool(result)
        told = {"recall_for": "a turn's recall", "look_up": "search_memory", "find": "/search"}
        rows = []
        for name, taken in times.items():
            bound = 25 if name == "recall_for" else None
            measured = f"{p95(taken):.1f} ms (median {median(taken):.1f})"
            ok = p95(taken) <= bound if bound else None
            rows.append(Row(f"{told[name]}, {kind}: p95", f"≤ {bound} ms" if bound else "", measured, ok))
        return [*rows, Row(f"of these, {kind}: found something", "", f"{found / (3 * turns):.0%}")]


async def meaning(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Measures one message end to end, without and with an embedder."""
    model, rows = await lab.model(), []
    for embedder, bound in (("off", 10), (options.embedder, 35)):
        tg = await lab.crowd()
        bot = await lab.relay(tg, model, data=f"data-{embedder}", RELAY_EMBEDDER=embedder)
        await warm(tg, bot)
        before = cpu(bot.pid, True)
        took = await talked(tg, options.rounds)
        used = (cpu(bot.pid, True) - before) / len(took) * 1000
        measured = f"{median(took):.1f} ms (p95 {p95(took):.1f}; CPU {used:.1f} ms)"
        rows.append(Row(f"latency, embedder {embedder}: median", f"≤ {bound} ms", measured, median(took) <= bound))
        await bot.end()
    return rows


async def warm(tg: Child, bot: Child) -> None:
    """Runs some turns as a warm-up, which completes the embedder's first-turn work."""
    await polling(tg, bot)
    await tg.post("/_bench/one_by_one", messages=30, pause=0.1)


async def talked(tg: Child, rounds: int) -> list[float]:
    """Returns the seconds of each turn."""
    took: list[float] = []
    for _ in range(rounds):
        took += await tg.post("/_bench/one_by_one", messages=50, pause=0.02)
    return took


async def backlog(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Measures turns with no pending work, and while an imported month waits to be judged and indexed."""
    model = await lab.model()
    settings = {"RELAY_EMBEDDER": options.embedder, "RELAY_CAPTURE": "auto"}
    took: dict[str, list[float]] = {}
    for name in ("quiet", "busy"):
        tg = await lab.crowd()
        bot = await lab.relay(tg, model, data=name, **settings)
        if name == "busy":
            await polling(tg, bot)
            await bot.end()
            path = await asyncio.to_thread(written, lab.folder / "month.jsonl", BACKLOG_OWNER, options.backlog)
            taken = await lab.relay_once(name, "import", str(path), "--user", str(BACKLOG_OWNER), **settings)
            bot = await lab.relay(tg, model, data=name, **settings)
        await warm(tg, bot)
        took[name] = await talked(tg, options.rounds)
        left = await lab.relay_once(name, "memory", "index", "--status", **settings) if name == "busy" else "{}"
        await bot.end()
    quiet, busy = p95(took["quiet"]), p95(took["busy"])
    due = json.loads(left)["due"]
    measured = f"{busy:.1f} ms beside {quiet:.1f} ms, {busy / quiet - 1:+.0%}"
    return [
        Row(f"p95 of a turn under a backlog of {options.backlog:,}", "≤ +10 %", measured, busy <= 1.1 * quiet),
        Row("of it still to be indexed at the end", "> 0", f"{due:,} ({taken.strip().splitlines()[-1][:80]})", due > 0),
    ]
