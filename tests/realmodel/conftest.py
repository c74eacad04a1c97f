"""A bot between the Telegram stand-in and a real model, for the tests of one file."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from relay.clients.embedded.cluster import Cluster
from tests.acceptance.harness import OWNER, RelayProcess, environment
from tests.standins.telegram import Chat, StoredMessage, TelegramStandIn, User

if TYPE_CHECKING:
    from tests.realmodel.server import RealModel, RecordedRequest

NAMES = {"RELAY_MODEL": "smollm2", "RELAY_SMALL_MODEL": "smollm2-small", "RELAY_MODEL_TIMEOUT": "300"}
PATIENCE = 300.0
"""Seconds to wait for an answer: reading a prompt of 2,000 tokens is slow on two busy cores."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks all tests in this folder as needing the model."""
    for item in items:
        if item.nodeid.startswith("tests/realmodel/"):
            item.add_marker(pytest.mark.real_model)
            item.add_marker(pytest.mark.timeout(1800))


@dataclass
class Talk:
    """Telegram, the model, the bot, and its owner in their private chat."""

    tg: TelegramStandIn
    model: RealModel
    relay: RelayProcess
    data: Path
    ada: User
    dm: Chat

    async def ask(self, text: str) -> StoredMessage:
        """Sends a message from Ada and returns the bot's reply."""
        said = await self.tg.say(self.dm, self.ada, text)
        return await self.tg.wait_reply(self.dm, said, timeout=PATIENCE)

    @property
    def answers(self) -> list[RecordedRequest]:
        """The requests to the model for answers to people."""
        return [one for one in self.model.asked if one.body["model"] == NAMES["RELAY_MODEL"]]

    def drafts(self, since: float = 0.0) -> list[str]:
        """The drafts of growing answers that Telegram showed."""
        return [call.params["text"] for call in self.tg.calls("sendMessageDraft", self.dm.id) if call.at > since]

    def sql(self, query: str) -> list[tuple[Any, ...]]:
        """The rows that a superuser reads with a query."""
        cluster = Cluster(self.data)
        cluster.prepare()
        with psycopg.connect(cluster.url("postgres"), autocommit=True) as connection:
            return connection.execute(query.encode()).fetchall()

    async def until(self, query: str) -> Any:
        """Waits until a query gives something true, and returns it. A job may try three times, 90 s each."""
        return await self.tg.wait_for(lambda: self.sql(query)[0][0], 2 * PATIENCE)


@contextlib.asynccontextmanager
async def talking(model: RealModel, **settings: str) -> AsyncIterator[Talk]:
    """Runs a bot with this model. Asserts at the end that it logged no traceback."""
    folder = Path(tempfile.mkdtemp(prefix="relay-real-"))
    async with TelegramStandIn() as tg, model:
        ada = tg.user(OWNER, "Ada")
        bot = environment(tg, model, folder / "data", **NAMES, **settings)  # type: ignore[arg-type]
        relay = RelayProcess(bot, folder / "relay.log")
        await relay.start()
        try:
            await tg.wait_polling(timeout=60)
            yield Talk(tg, model, relay, folder / "data", ada, tg.dm(ada))
        finally:
            await relay.stop()
            told = relay.output()
            print(told[-8000:])
            for one in model.asked:
                print(f"{one.body['model']:14} {one.prompt:5} + {one.pieces:4} {one.stop_reason}")
            shutil.rmtree(folder, ignore_errors=True)
        assert "Traceback" not in told
