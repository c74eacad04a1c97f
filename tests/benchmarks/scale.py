"""Benchmarks of the database at the size that the bounds assume: the time of each call of a turn, and what it scans."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import psycopg

from relay.core.models import Incoming, Space
from relay.memory.rows.delivery import Part, PartResult
from relay.memory.rows.turns.inbox import InboxRow
from relay.memory.store import Store
from tests.benchmarks import calls
from tests.benchmarks.crowd import FIRST_USER
from tests.benchmarks.generated import chosen, fill
from tests.benchmarks.lab import Lab, Row, median, p95
from tests.benchmarks.opened import open_store
from tests.plans import plans

BOT = 12345
WINDOW = """update relay.thread t set window_from = (
    select min(id) from (select id from relay.message m where m.thread_id = t.id order by id desc limit 20) w)
where space_id = 1 and topic_id = 0"""


async def scale(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Measures turns of random people, and of the person with most messages, in a database of the size
    that the bounds assume."""
    async with open_store(options.data or lab.folder / "data") as (store, url):
        filled = fill(url, chosen(options))
        turns = Turns(store, url)
        everyone = await turns.measure(options.turns, lambda: random.randrange(options.spaces))
        largest = await turns.measure(options.turns, lambda: 0)
        scans = await turns.scans()
        others = await asyncio.to_thread(calls.calls, url)
    rows = [Row(f"scale: {chosen(options)}", "", filled)]
    for name, times in everyone.items():
        measured = f"{median(times):.1f} ms (p95 {p95(times):.1f})"
        measured += f"; the largest: {median(largest[name]):.1f} ms (p95 {p95(largest[name]):.1f})"
        bound = 5 if name == "begin" else None
        ok = max(median(times), median(largest[name])) <= bound if bound else None
        rows.append(Row(f"scale, {name}: median", f"≤ {bound} ms" if bound else "", measured, ok))
    return [*rows, Row("scale: sequential scans in a turn's plans (auto_explain)", "", scans), *others]


class Turns:
    """Runs turns as the worker does, without a model and without Telegram, and times each call."""

    def __init__(self, store: Store, superuser_url: str) -> None:
        self.store = store
        self.url = superuser_url
        self.random = random.Random(7)
        self.updates = itertools.count(int(time.time() * 1000))
        self.times: dict[str, list[float]] = defaultdict(list)
        with psycopg.connect(superuser_url) as connection:
            rows = connection.execute("select text from relay.message order by id desc limit 2000").fetchall()
        self.texts = [row[0] for row in rows]

    async def measure(self, turns: int, person: Any) -> dict[str, list[float]]:
        """Runs turns after a few as a warm-up."""
        for _ in range(20):
            await self.turn(FIRST_USER + person())
        self.times = defaultdict(list)
        for number in range(turns):
            await self.turn(FIRST_USER + person())
            if number % 10 == 0:
                self.summarised()
        return self.times

    def summarised(self) -> None:
        """Advances the largest person's window, as a summary does."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(WINDOW)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.times[name].append(time.perf_counter() - started)

    async def turn(self, user_id: int, actions: Sequence[dict[str, Any]] = ()) -> None:
        """Runs one message of a person in their chat, with an answer that changes memory."""
        update_id = next(self.updates)
        text = " ".join(self.random.sample(self.random.choice(self.texts).split(), 6))
        row = InboxRow(
            update_id, "turn", user_id, True, chat_id=user_id, topic_id=0, payload={"message": {"text": text}},
            telegram_message_id=update_id, hold=0, mergeable=True,
        )  # fmt: skip
        with self.timed("intake"):
            (turn,), _ = await self.store.intake(BOT, [row], 64)
        said = incoming(turn.turn_id, turn.fence, user_id, update_id, text)
        with self.timed("begin"):
            await self.store.begin(said, "model")
        with self.timed("recall"):
            await self.store.recall(said)
        with self.timed("finish"):
            await self.store.finish(said, reply(text, actions))
        part = Part(1, user_id, {"chat_id": user_id, "text": text})
        with self.timed("deliver"):
            await self.store.deliver(turn, BOT, [part])
        sent = PartResult(1, "sent", next(self.updates))
        with self.timed("sent"):
            await self.store.store_sent(turn, [sent], True)

    async def scans(self) -> str:
        """Returns the tables that a turn's statements scan sequentially, according to the server's plans."""
        own = self.store
        async with plans(self.url) as told:
            self.store = Store(told.database, str(uuid.uuid4()))
            for _ in range(10):
                await self.turn(FIRST_USER)
        self.store = own
        return ", ".join(sorted(told.scans())) or "none"


def incoming(turn_id: int, fence: int, user_id: int, message_id: int, text: str) -> Incoming:
    """Returns a plain text message in a private chat."""
    return Incoming(
        turn_id=turn_id, fence=fence, bot_id=BOT, space=Space("private", user_id), chat_id=user_id, topic_id=0,
        user_id=user_id, name="Ada", text=text, blocks=[{"type": "text", "text": text}], untrusted=False,
        telegram_message_ids=[message_id], at=datetime.now(UTC),
    )  # fmt: skip


def reply(text: str, actions: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """Returns an answer with its actions on memory."""
    blocks = [{"role": "assistant", "content": [{"type": "text", "text": text}]}]
    told = {"text": text, "tools": [], "note": "", "retry": False, "web": False, "failed": []}
    return {"text": text, "blocks": blocks, "status": "complete", "tainted": False, "model": "model", "usage": {},
            "prompt": {}, "actions": list(actions), "told": told}  # fmt: skip
