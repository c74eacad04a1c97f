"""Benchmarks of the database at the size of the bounds: what each call of a turn takes there, and what it scans."""

from __future__ import annotations

import argparse
import itertools
import random
import re
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from relay import migrate
from relay.clients.embedded import EmbeddedPostgres
from relay.clients.postgres import Postgres
from relay.memory.store import Store
from relay.models import Incoming, Space
from tests.benchmarks.crowd import FIRST_USER
from tests.benchmarks.lab import Lab, Row, median, p95

BOT = 12345
LEAVE = """update relay.turn set status = 'done' where status in ('working', 'answered');
update relay.inbox set status = 'done' where status = 'pending';
update relay.lane set due_at = null, open_turn_id = null where due_at is not null or open_turn_id is not null"""
"""What a run that was cut off had begun."""
WINDOW = """update relay.thread t set window_from = (
    select min(id) from (select id from relay.message m where m.thread_id = t.id order by id desc limit 20) w)
where space_id = 1 and topic_id = 0"""
FILLING = Path(__file__).with_name("filling.sql")


async def scale(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Turns of random people, and of the one with most messages, in a database of the bounds' size."""
    server = EmbeddedPostgres(options.data or lab.folder / "data")
    database = Postgres(await server.start(), pooled=False)
    await database.open()
    try:
        await migrate.migrate(database, database.run)
        filled = fill(server.superuser_url, options)
        turns = Turns(Store(database, str(uuid.uuid4())), server.superuser_url)
        everyone = await turns.measure(options.turns, lambda: random.randrange(options.spaces))
        largest = await turns.measure(options.turns, lambda: 0)
        scans = await turns.scans()
    finally:
        await database.close()
        await server.stop()
    size = f"{options.messages:,} messages, {options.spaces:,} people, {options.facts:,} facts"
    rows = [Row(f"scale: {size}", "", filled)]
    for name, times in everyone.items():
        measured = f"{median(times):.1f} ms (p95 {p95(times):.1f})"
        measured += f"; the largest: {median(largest[name]):.1f} ms (p95 {p95(largest[name]):.1f})"
        bound = 5 if name == "begin" else None
        ok = max(median(times), median(largest[name])) <= bound if bound else None
        rows.append(Row(f"scale, {name}: median", f"≤ {bound} ms" if bound else "", measured, ok))
    return [*rows, Row("scale: sequential scans in a turn's plans (auto_explain)", "", scans)]


def fill(url: str, options: argparse.Namespace) -> str:
    """Fills an empty database. Returns what is told about that."""
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute("select count(*) from relay.message").fetchone()
        if found and found[0] >= options.messages:
            connection.execute(LEAVE)
            return "filled before"
        started = time.monotonic()
        sizes = {name: getattr(options, name) for name in ("messages", "spaces", "largest", "facts")}
        script = FILLING.read_text("utf-8") % {name: str(size) for name, size in sizes.items()}
        connection.execute(sql.SQL(script))  # type: ignore[arg-type]
        connection.execute("vacuum analyze")
        return f"filled in {time.monotonic() - started:.0f} s"


class Turns:
    """Turns as the worker runs them, without a model and without Telegram, and the time of each call."""

    def __init__(self, store: Store, superuser_url: str) -> None:
        self.store = store
        self.url = superuser_url
        self.random = random.Random(7)
        self.updates = itertools.count(int(time.time()) * 1000)
        self.times: dict[str, list[float]] = defaultdict(list)
        with psycopg.connect(superuser_url) as connection:
            rows = connection.execute("select text from relay.message order by id desc limit 2000").fetchall()
        self.texts = [row[0] for row in rows]

    async def measure(self, turns: int, person: Any) -> dict[str, list[float]]:
        """Runs turns after a few to warm up."""
        for _ in range(20):
            await self.turn(FIRST_USER + person())
        self.times = defaultdict(list)
        for number in range(turns):
            await self.turn(FIRST_USER + person())
            if number % 10 == 0:
                self.summarised()
        return self.times

    def summarised(self) -> None:
        """Moves the largest person's window up, as a summary does."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(WINDOW)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.times[name].append(time.perf_counter() - started)

    async def turn(self, user_id: int) -> None:
        """One message of a person in their chat."""
        update_id = next(self.updates)
        text = " ".join(self.random.sample(self.random.choice(self.texts).split(), 6))
        row = {
            "update_id": update_id, "kind": "turn", "chat_id": user_id, "topic_id": 0, "user_id": user_id,
            "known": True, "hold": 0, "mergeable": True, "telegram_message_id": update_id,
            "payload": {"message": {"text": text}},
        }  # fmt: skip
        with self.timed("intake"):
            (turn,), _ = await self.store.intake(BOT, [row], 64)
        said = incoming(turn.turn_id, turn.fence, user_id, update_id, text)
        with self.timed("begin"):
            await self.store.begin(said, "model")
        with self.timed("recall"):
            await self.store.recall(said)
        with self.timed("finish"):
            await self.store.finish(said, reply(text))
        part = {"seq": 1, "chat_id": user_id, "request": {"chat_id": user_id, "text": text}}
        with self.timed("deliver"):
            await self.store.deliver(turn, BOT, [part])
        sent = {"seq": 1, "status": "sent", "telegram_message_id": next(self.updates)}
        with self.timed("sent"):
            await self.store.sent(turn, [sent], True)

    async def scans(self) -> str:
        """Which tables a turn's statements read from end to end, as the server's own plans say."""
        found: Counter[str] = Counter()

        def noticed(notice: psycopg.errors.Diagnostic) -> None:
            for table in re.findall(r"Seq Scan on (\w+)", notice.message_primary or ""):
                found[table] += 1

        connection = await psycopg.AsyncConnection.connect(self.url, autocommit=True)
        async with connection:
            await connection.execute("load 'auto_explain'")
            for name, value in (("log_min_duration", "0"), ("log_nested_statements", "on")):
                await connection.execute(f"set auto_explain.{name} = {value}".encode())
            await connection.execute("set client_min_messages = log")
            connection.add_notice_handler(noticed)
            self.store = Store(Single(connection), str(uuid.uuid4()))
            for _ in range(10):
                await self.turn(FIRST_USER)
        return ", ".join(f"{table} ×{times / 10:g}" for table, times in found.items()) or "none"


class Single(Postgres):
    """The client on one given connection."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        super().__init__("")
        self._pool = Lent(connection)  # type: ignore[assignment]


class Lent:
    """A pool of one connection."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection = connection

    def connection(self) -> Lent:
        return self

    async def __aenter__(self) -> psycopg.AsyncConnection[Any]:
        return self._connection

    async def __aexit__(self, *_: object) -> None:
        pass


def incoming(turn_id: int, fence: int, user_id: int, message_id: int, text: str) -> Incoming:
    """A plain text message in a private chat."""
    return Incoming(
        turn_id=turn_id, fence=fence, bot_id=BOT, space=Space("private", user_id), chat_id=user_id, topic_id=0,
        user_id=user_id, name="Ada", text=text, blocks=[{"type": "text", "text": text}], untrusted=False,
        telegram_message_ids=[message_id], at=datetime.now(UTC),
    )  # fmt: skip


def reply(text: str) -> dict[str, Any]:
    """An answer without tags."""
    blocks = [{"role": "assistant", "content": [{"type": "text", "text": text}]}]
    told = {"text": text, "tools": [], "note": "", "retry": False, "web": False, "failed": []}
    return {"text": text, "blocks": blocks, "status": "complete", "tainted": False, "model": "model", "usage": {},
            "prompt": {}, "actions": [], "told": told}  # fmt: skip
