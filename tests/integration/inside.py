"""A running Relay inside this process: real intake, worker, turns and Postgres, with a fake Telegram (without HTTP) and
a model that the test provides."""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC
from functools import partial
from typing import Any

import psycopg

from relay.clients.postgres.database import Postgres
from relay.clients.processes.file_extractor import FileExtractor
from relay.clients.telegram.client import GONE
from relay.commands.context import Installation, Services
from relay.conversation.engine import Engine
from relay.core.errors import ChatGone, ChatMigrated, FileTooLarge, MessengerError, MessengerRefused
from relay.core.models import File, ModelRequest, Step
from relay.core.ports import SpeechToText, TextToSpeech
from relay.core.settings import Settings
from relay.media.reading import Reader
from relay.memory.erasure import retract
from relay.memory.people import People as Known
from relay.memory.retrying_database import RetryingDatabase
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.memory.writing.summaries import Summariser
from relay.runtime.media import make_reader
from relay.surfaces.telegram.groups.groups import make_connection
from relay.surfaces.telegram.incoming.intake import Intake
from relay.surfaces.telegram.incoming.polling import Polling
from relay.surfaces.telegram.parsing.updates import Bot
from relay.surfaces.telegram.turns.worker import TurnMedia, Worker
from tests.integration.conftest import TEMPLATE, Server
from tests.standins.telegram.methods import METHODS
from tests.standins.telegram.people import People
from tests.standins.telegram.values import ApiError, Upload

Json = dict[str, Any]
Answers = Callable[[ModelRequest], list[Json]]
"""Returns the model's answer to a request, as content blocks."""


class Wire:
    """The `Messenger` port on a fake Telegram. `watch` sees every call before it is carried out."""

    def __init__(self, tg: People) -> None:
        self.tg = tg
        self.watch: Callable[[str, Json], None] = lambda method, parameters: None

    async def call(self, method: str, **given: Any) -> Any:
        """See `ports.Messenger.call`."""
        await asyncio.sleep(0)
        parameters = {key: value for key, value in given.items() if value is not None}
        if method == "getUpdates":
            return copied(await self.tg.queue.poll(parameters))
        files = {key: Upload(value.whole(), value.name) for key, value in parameters.items() if isinstance(value, File)}
        plain = {key: f"attach://{key}" if key in files else value for key, value in parameters.items()}
        self.watch(method, parameters)
        try:
            result = METHODS[method.lower()][1](self.tg, copied(plain), files)
        except ApiError as error:
            raise as_ours(error) from None
        self.tg.changed()
        return copied(result)

    async def fetch(self, file_id: str, most: int) -> bytes:
        """See `ports.Messenger.fetch`."""
        await asyncio.sleep(0)
        self.watch("getFile", {"file_id": file_id})
        if file_id not in self.tg.files:
            raise MessengerRefused("wrong file_id or the file is temporarily unavailable")
        content = self.tg.files[file_id].upload.data
        if len(content) > most:
            raise FileTooLarge
        return content


def speechless(request: ModelRequest) -> list[Json]:
    raise AssertionError("no model is asked")


def copied(value: Any) -> Any:
    """Returns a JSON value as the other side receives it."""
    return json.loads(json.dumps(value))


def as_ours(error: ApiError) -> MessengerError:
    """Returns the exception that the client raises for an API error."""
    if "migrate_to_chat_id" in error.parameters:
        return ChatMigrated(error.parameters["migrate_to_chat_id"])
    if error.code == 403 or any(words in error.description.lower() for words in GONE):
        return ChatGone(error.description)
    return MessengerRefused(error.description)


class ScriptedModel:
    """The `Model` port on a function."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        """See `ports.Model.reply`."""
        blocks = self.answers(request)
        for block in blocks:
            if block["type"] == "text":
                on_text(block["text"])
        await asyncio.sleep(0)
        used = any(block["type"] == "tool_use" for block in blocks)
        usage = {"input_tokens": 1, "output_tokens": 1}
        return Step(blocks, "tool_use" if used else "end_turn", usage, request.model)


@dataclass
class Inside:
    """The Relay, its Telegram, and a connection to its database."""

    tg: People
    wire: Wire
    worker: Worker
    store: Store
    summariser: Summariser
    connection: psycopg.AsyncConnection[Any]

    async def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Runs a statement in Relay's schema, and returns its rows."""
        cursor = await self.connection.execute(statement.encode(), values or None)
        return await cursor.fetchall() if cursor.description else []

    async def settled(self, timeout: float = 60) -> None:
        """Waits until all updates are stored and all work that follows from them is done."""
        async with asyncio.timeout(timeout):
            while True:
                stored = not self.tg.pending_updates and self.tg.queue.polling
                if stored and not self.worker.running and not await self._open():
                    return
                await asyncio.sleep(0.003)

    async def _open(self) -> bool:
        ((waiting,),) = await self.sql(
            "select exists (select from turn where status in ('working', 'answered'))"
            " or exists (select from inbox where status = 'pending')"
        )
        return bool(waiting)


@contextlib.asynccontextmanager
async def inside(
    server: Server,
    answers: Answers,
    admins: frozenset[int],
    users: frozenset[int],
    reader: Reader | None = None,
    ears: SpeechToText | None = None,
    voice: TextToSpeech | None = None,
) -> AsyncIterator[Inside]:
    """Runs a Relay on a fresh database. `reader`: reads files; None: the usual reader, with `ears`."""
    name = server.create(TEMPLATE)
    tg = People()
    wire, bot = Wire(tg), Bot(tg.bot.id, str(tg.bot.username))
    client = Postgres(server.url(name), most=10)
    await client.open()
    try:
        async with await psycopg.AsyncConnection.connect(
            server.url(name, superuser=True), autocommit=True, prepare_threshold=None
        ) as connection:
            store, model = Store(client, str(uuid.uuid4())), ScriptedModel(answers)
            summariser = Summariser(store, Gate(model, store), "small")
            speaks = "fake" if voice else ""
            driver = Services(
                Installation("1.2.3", "big", "small", "here", speaks=speaks),
                store,
                Known(admins, users),
                summariser,
                retract=partial(retract, store, wire, bot.id),
            )
            engine = Engine(store, Gate(model, store), "big", 1000, UTC)
            worker = Worker(
                engine,
                driver,
                make_connection(wire, bot),
                TurnMedia(reader or make_reader(Settings(), wire, FileExtractor(), ears)[0], voice),
                lambda _: None,
                16,
            )
            intake = Intake(store, wire, worker, driver.people)
            polling = Polling(intake, wire, store, RetryingDatabase(client), bot.id, worker.poll_lease)
            running = [asyncio.create_task(polling.run()), asyncio.create_task(worker.run())]
            relay = Inside(tg, wire, worker, store, summariser, connection)
            await relay.sql("set search_path = relay, public, extensions")
            try:
                yield relay
            finally:
                for task in running:
                    task.cancel()
                await worker.close(5)
                await asyncio.gather(*running, return_exceptions=True)
    finally:
        await client.close()
        server.drop(name)
