"""One Relay for all tests of a file, with a new person for each test, so that a fault for one doesn't affect the
next."""

from __future__ import annotations

import contextlib
import itertools
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from relay.clients.embedded.cluster import Cluster
from tests.acceptance.harness import OWNER, RelayProcess, environment
from tests.places import furnish
from tests.standins.anthropic import AnthropicStandIn, Recorded
from tests.standins.telegram import Chat, StoredMessage, TelegramStandIn
from tests.standins.telegram.faults import Fault
from tests.standins.telegram.values import TEST_TOKEN

GUESTS = range(200_001, 200_200)
WORD = re.compile(r"\bq\d+\b")
SECRETS = (TEST_TOKEN, "sk-ant-test")


def echo(request: Recorded) -> str:
    """Repeats each question word (q1, q2 …) of the last message, so that tests can count how often each was
    answered."""
    return "Answer: " + " ".join(WORD.findall(request.last_text) or ["none"])


@dataclass
class SharedRelay:
    """A Relay, its Telegram and its model."""

    tg: TelegramStandIn
    model: AnthropicStandIn
    relay: RelayProcess
    data: Path
    url: str = ""
    people: Iterator[int] = field(default_factory=lambda: iter(GUESTS))
    """The ids of people who were not there yet."""
    _words: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def guest(self) -> Chat:
        """Returns the private chat of a new person who may use the bot."""
        return self.tg.dm(self.tg.user(next(self.people), "Guest"))

    def room(self, forum: bool = False) -> Chat:
        """Returns a group with the bot and one new person who may use it."""
        number = next(self.people)
        return self.tg.group(-1000000000000 - number, "Room", [self.tg.user(number, "Guest")], forum)

    def word(self) -> str:
        """Returns a question word that was never used."""
        return f"q{next(self._words)}"

    def quiet(self) -> None:
        """Removes all faults and all rules except the echo."""
        self.tg.clear_faults()
        self.model.reset()
        self.model.rule(None, echo)

    async def answered(self, chat: Chat, *words: str, timeout: float = 20) -> list[str]:
        """Waits until the chat shows an answer to each word. Returns everything the bot says there."""
        await self.tg.wait_for(lambda: all(self.times(chat, word) for word in words), timeout)
        return self.said(chat)

    async def asked(self, chat: Chat, text: str = "", topic: int | None = None) -> str:
        """Asks a new question and returns its word."""
        word = self.word()
        await self.tg.say(chat, None, f"{text} {word}".strip(), topic=topic)
        return word

    async def until_said(self, chat: Chat, words: str, timeout: float = 30) -> None:
        """Waits until the bot says this in a chat."""
        await self.tg.wait_for(lambda: words in "\n".join(self.said(chat)), timeout)

    async def struck(self, fault: Fault) -> None:
        """Waits until a fault of Telegram has struck."""
        await self.tg.wait_for(lambda: fault.hits)

    def said(self, chat: Chat | int, topic: int | None = None) -> list[str]:
        """Returns what the bot says in a chat."""
        return [message.text for message in self.replies(chat, topic)]

    def replies(self, chat: Chat | int, topic: int | None = None) -> list[StoredMessage]:
        return [message for message in self.tg.messages(chat, topic) if message.from_bot]

    def times(self, chat: Chat, word: str) -> int:
        """Counts the answers to a word in a chat."""
        return sum(WORD.findall(text).count(word) for text in self.said(chat))

    async def again(self) -> None:
        """Starts the bot again on its data."""
        await self.relay.start()

    async def crash(self) -> None:
        """Sends SIGKILL and starts the bot again."""
        await self.relay.kill()
        await self.again()

    async def polled(self) -> None:
        await self.tg.wait_polling(timeout=60)

    def tracebacks(self) -> list[str]:
        """Returns the lines of the log that hold a traceback."""
        return [line for line in self.relay.output().splitlines() if "Traceback" in line]

    def database(self) -> psycopg.Connection[Any]:
        """Opens a superuser's connection."""
        if self.url:
            return psycopg.connect(self.url, autocommit=True)
        cluster = Cluster(self.data)
        cluster.prepare()
        return psycopg.connect(cluster.url("postgres"), autocommit=True)

    def sql(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Runs a statement and returns its rows."""
        with self.database() as connection:
            cursor = connection.execute(query.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    @contextlib.contextmanager
    def locked(self, table: str, mode: str = "access exclusive") -> Iterator[None]:
        """Locks a table, so that a turn stops at the step that uses it. With mode share, only changes wait."""
        with self.database() as connection, connection.transaction():
            connection.execute("set local lock_timeout = '5s'")
            connection.execute(f"lock table relay.{table} in {mode} mode".encode())
            yield

    async def until(self, query: str, *values: Any, timeout: float = 30) -> None:
        """Waits until a query returns a true value."""
        await self.tg.wait_for(lambda: self.sql(query, *values)[0][0], timeout)

    async def logged(self, words: str, timeout: float = 20) -> None:
        """Waits until the log contains these words."""
        await self.tg.wait_for(lambda: words in self.relay.output(), timeout)

    def exchanges(self, chat: Chat | int) -> int:
        """Counts the completed exchanges of a chat's threads."""
        chat_id = self.tg.chat(chat).id
        return int(self.sql("select sum(exchange_count) from relay.thread where chat_id = %s", chat_id)[0][0] or 0)


@contextlib.asynccontextmanager
async def open_relay(
    start: bool = True, module: tuple[str, ...] = ("relay",), **settings: str
) -> AsyncIterator[SharedRelay]:
    """Opens a bot on a fresh data directory. At the end, asserts that it logged no traceback and no secret."""
    folder = Path(tempfile.mkdtemp(prefix="relay-shared-"))
    try:
        async with TelegramStandIn() as tg, AnthropicStandIn(delta_size=8) as model:
            tg.dm(tg.user(OWNER, "Ada"))
            everybody = {"RELAY_USERS": ",".join(map(str, GUESTS))}
            relay = RelayProcess(
                environment(tg, model, folder / "data", **{**everybody, **settings}),
                folder / "relay.log",
                module=module,
            )
            if not {"DATABASE_URL", "SUPABASE_URL"} & settings.keys():
                await furnish(folder / "data")
            shared_relay = SharedRelay(tg, model, relay, folder / "data", settings.get("DATABASE_URL", ""))
            shared_relay.quiet()
            try:
                if start:
                    await relay.start()
                    await shared_relay.polled()
                yield shared_relay
            finally:
                if relay.process is not None:
                    await relay.stop()
            assert not [secret for secret in SECRETS if secret in relay.output()]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
