"""A long session with markers, and a model that compresses to the requested size."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import psycopg

from relay.core.models import ModelRequest, Step
from relay.jobs.runner import Runner
from relay.jobs.writing import compression_kind
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.memory.writing.compressor import Compressor
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, private

WEIGHTS = ("1.00", "1.00", "0.80", "0.80", "0.50", "0.50", "0.25")
WORDS = re.findall(
    r"\w+",
    "garden plan water stone bench winter seed corner neighbour fence price summer wall path light apple tree order "
    "shade clay roof letter plant cellar market sun rain morning tool bucket ladder gravel hedge pond frost",
)


@dataclass(frozen=True)
class LongSession:
    """A stored session. `contents`: the markers' weights and contents."""

    id: int
    space_id: int
    thread_id: int
    messages: int
    contents: tuple[tuple[str, str], ...]


@contextlib.asynccontextmanager
async def superuser_sql(url: str) -> AsyncIterator[Sql]:
    """Opens a connection of the superuser. Yields a function that runs a statement in Relay's schema."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:

        async def sql(statement: str, *values: Any) -> list[tuple[Any, ...]]:
            cursor = await connection.execute(statement.encode(), values or None)
            return await cursor.fetchall() if cursor.description else []

        await sql("set search_path = relay, public, extensions")
        yield sql


async def long_session(
    sql: Sql, messages: int = 450, tokens: int = 100_234, weights: tuple[str, ...] = WEIGHTS, user_id: int = ADA
) -> LongSession:
    """Stores a session of about this many tokens, with markers of these weights at even distances."""
    random = Random(messages)
    [(space,)] = await sql(
        "insert into space (kind, owner_id) values ('private', %s) on conflict do nothing returning id", user_id
    ) or await sql("select id from space where owner_id = %s", user_id)
    [(thread,)] = await sql(
        "insert into thread (space_id, chat_id) values (%s, %s) on conflict do nothing returning id", space, user_id
    ) or await sql("select id from thread where space_id = %s", space)
    [(session,)] = await sql("insert into session (thread_id, space_id) values (%s, %s) returning id", thread, space)
    await sql("update thread set session_id = %s where id = %s", session, thread)
    marked = {(2 * place + 1) * messages // (2 * len(weights)) // 2 * 2: weight for place, weight in enumerate(weights)}
    rows = []
    for number in range(messages):
        text = prose(random, tokens * 4 // messages)
        if number in marked:
            middle = len(text) // 2
            text = f"{text[:middle]} ##keepit{marked[number]}##{content_of(number)}##/keepit## {text[middle:]}"
        rows.append({"number": number, "role": "assistant" if number % 2 else "user", "text": text})
    stored = await sql(
        "insert into message (space_id, thread_id, session_id, role, user_id, name, text, blocks, created_at) "
        "select %s, %s, %s, role, %s, case role when 'user' then 'Ada' end, text, '[]', "
        "now() - interval '1 day' + number * interval '1 minute' "
        "from jsonb_to_recordset(%s::jsonb) as r (number int, role text, text text) order by number returning id",
        space, thread, session, user_id, json.dumps(rows),
    )  # fmt: skip
    for number, weight in sorted(marked.items()):
        await mark(sql, stored[number][0], weight, content_of(number), user_id)
    contents = tuple((weight, content_of(number)) for number, weight in sorted(marked.items()))
    return LongSession(session, space, thread, messages, contents)


def content_of(number: int) -> str:
    """Returns the content of the marker on a message."""
    return f"The answer to number {number} is {number * 7 + 3} and must not be lost."


async def mark(sql: Sql, message_id: int, weight: str, content: str, user_id: int = ADA) -> int:
    """Sets a marker on a message; returns its id."""
    [(id,)] = await sql(
        "insert into keepit (space_id, thread_id, session_id, message_id, seq, weight, content, block, start_at, "
        "end_at, context, origin, user_id) select space_id, thread_id, session_id, id, "
        "(select count(*) from keepit k where k.message_id = m.id), %s::numeric, %s, 0, 0, 0, '', 'text', %s "
        "from message m where id = %s returning id",
        weight, content, user_id, message_id,
    )  # fmt: skip
    return int(id)


def prose(random: Random, size: int) -> str:
    """Returns sentences of about `size` bytes."""
    text = ""
    while len(text) < size:
        words = random.choices(WORDS, k=random.randint(5, 14))
        text += f"{words[0].capitalize()} {' '.join(words[1:])}. "
    return text[:size].strip()


class Obedient:
    """A model that writes the requested number of tokens. `longer`: multiplies that number. `hangs_at`: the number of
    the request on which it hangs. `asked`: the requests that it answered."""

    def __init__(self, longer: float = 1.0) -> None:
        self.longer = longer
        self.asked: list[str] = []
        self.hangs_at = -1
        self.hung = asyncio.Event()
        self.error: Exception | None = None
        self.stop_reason = "tool_use"

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        text = str(request.messages[0]["content"][0]["text"])
        if len(self.asked) == self.hangs_at:
            self.hung.set()
            await asyncio.sleep(60)
        if self.error:
            raise self.error
        self.asked.append(text)
        tokens, rows, last = map(int, wanted(text))
        size = int(tokens * 4 * self.longer / rows)
        random = Random(text)
        given: list[dict[str, Any]] = [
            {
                "role": "assistant" if number % 2 else "user",
                "text": prose(random, size).rpartition(".")[0] + ".",
                "through": -(-last * (number + 1) // rows),
            }
            for number in range(rows)
        ]
        block = {"type": "tool_use", "id": "1", "name": "compress", "input": {"rows": self.answer(given)}}
        return Step([block], self.stop_reason, {"input_tokens": 10, "output_tokens": tokens}, request.model)

    def answer(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Returns the rows that it answers."""
        return rows

    async def close(self) -> None:
        """Does nothing."""


def wanted(text: str) -> tuple[str, str, str]:
    """Returns the requested numbers of tokens and rows, and the number of the last message."""
    found = re.search(r"about (\d+) tokens .* in (\d+) rows, through (\d+)", text)
    assert found, text[-300:]
    return found[1], found[2], found[3]


def compressor_of(store: Store, model: Any) -> Compressor:
    """Returns a compressor that uses the model."""
    return Compressor(store, Gate(model, store), "small", "big")


async def make(
    store: Store, compressor: Compressor, session: LongSession, settings: dict[str, Any], **more: Any
) -> int:
    """Requests a version and makes it. Returns its id."""
    made = await store.make_version(private(ADA), session.id, ADA, settings, **more)
    assert made is not None
    await Runner(store, [compression_kind(compressor)]).run_one("compression", str(made))
    return made
