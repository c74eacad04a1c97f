"""How well recall finds what was said in long chats, asked through the database: evidence within the first few."""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import time
import uuid
from typing import Any

import psycopg

from relay import migrate
from relay.clients.embedded import EmbeddedPostgres
from relay.clients.embedder import ChildEmbedder
from relay.clients.postgres import Postgres
from relay.embedding.installed import named
from relay.indexing import Asked, Indexer
from relay.memory.meaning import meant
from relay.memory.store import Store
from relay.models import Space
from tests.benchmarks.lab import Lab, Row, p95

FIRST = (5, 10)


async def recall(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Without `--score` there is nothing to ask. With the vectors of `--embedder`; off: what words alone find."""
    if options.score is None:
        return [Row("recall: needs --score, a folder with score.py and its chats", "", "not measured")]
    sys.path.insert(0, str(options.score))
    chats = importlib.import_module("score").load(options.no_names)
    what = named(options.embedder)
    embedder = ChildEmbedder(what, lab.folder) if what else None
    server = EmbeddedPostgres(lab.folder / "data")
    database = Postgres(await server.start(), pooled=False)
    await database.open()
    try:
        await migrate.migrate(database, database.run)
        store = Store(database, str(uuid.uuid4()))
        shares: dict[int, list[float]] = {first: [] for first in FIRST}
        times: list[float] = []
        with psycopg.connect(server.superuser_url, autocommit=True) as connection:
            for chat in chats:
                space, said = tell(connection, chat)
                if embedder:
                    await Indexer(store, Asked(embedder, lambda model: None)).run()
                await ask(store, embedder, chat, space, said, shares, times)
    finally:
        if embedder:
            await embedder.close()
        await database.close()
        await server.stop()
    found = ", ".join(f"{statistics.mean(shares[first]):.3f} in the first {first}" for first in FIRST)
    return [
        Row(f"recall: share of the evidence, embedder {options.embedder}", "", f"{found} ({len(times)} questions)"),
        Row("recall: a question and its vector, p95", "", f"{p95(times):.1f} ms"),
    ]


def tell(connection: psycopg.Connection[Any], chat: Any) -> tuple[Space, dict[int, str]]:
    """Lets a space hear a chat. It, and which message is which turn."""
    heard = Space("group", chat_id=time.time_ns())
    space = one(connection, "insert into relay.space (kind, chat_id) values ('group', %s) returning id", heard.chat_id)
    thread = one(
        connection, "insert into relay.thread (space_id, chat_id) values (%s, %s) returning id", space, heard.chat_id
    )
    sessions: dict[int, int] = {}
    said = {}
    for turn in chat.turns:
        if turn.session not in sessions:
            sessions[turn.session] = one(
                connection,
                "insert into relay.session (thread_id, space_id) values (%s, %s) returning id",
                thread,
                space,
            )
        text = f"{turn.text} [photo: {turn.caption}]" if turn.caption else turn.text
        message = one(
            connection,
            "insert into relay.message (space_id, thread_id, session_id, role, user_id, name, text, blocks, created_at)"
            " values (%s, %s, %s, 'user', 1, %s, %s, '[]', %s::timestamp at time zone 'UTC') returning id",
            space, thread, sessions[turn.session], turn.speaker, text, turn.when,
        )  # fmt: skip
        said[message] = turn.dia_id
    return heard, said


async def ask(
    store: Store,
    embedder: ChildEmbedder | None,
    chat: Any,
    space: Space,
    said: dict[int, str],
    shares: dict[int, list[float]],
    times: list[float],
) -> None:
    """Asks all questions of a chat."""
    for question in chat.questions:
        started = time.perf_counter()
        query = await meant(embedder, question.text, seconds=10)
        rows = await store.look_up(space, {"bot_id": 0}, query, max(FIRST)) or []
        times.append(time.perf_counter() - started)
        found = [said[row["id"]] for row in rows]
        evidence = set(question.evidence)
        for first in FIRST:
            shares[first].append(len(evidence & set(found[:first])) / len(evidence))


def one(connection: psycopg.Connection[Any], statement: str, *values: Any) -> int:
    """The number that a statement returns."""
    row = connection.execute(statement.encode(), values).fetchone()
    if row is None:
        raise RuntimeError(statement)
    return int(row[0])
