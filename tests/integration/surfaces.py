"""One installation, used through each of its surfaces: a Telegram chat, the shell, and HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import json
import shlex
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from psycopg.rows import tuple_row
from typer.testing import CliRunner

from relay.clients.offline import OfflineModel
from relay.core.settings import Settings
from relay.runtime.runtime import open_runtime
from relay.runtime.services import make_services
from relay.surfaces.chat.callbacks import Callback, encode
from relay.surfaces.cli.cli import cli
from relay.surfaces.cli.terminal.desk import BOT
from relay.surfaces.telegram.assembly import make_worker
from relay.surfaces.telegram.groups.groups import make_connection
from tests.integration.api import open_api
from tests.integration.conftest import Server
from tests.standins.fakes import FakeMessenger
from tests.telegram_objects import sorted_row

Json = dict[str, Any]
OWNER = 1
DAY = 1_700_000_000
SENDS = ("sendMessage", "sendPhoto", "sendDocument", "sendVoice")
numbers = itertools.count(1_000)
PREVIEWS = ("session compress",)
"""Commands of the shell that only show what they would do, and exit with 1."""


@dataclass(frozen=True)
class Reply:
    """A reply to the question that was asked last."""

    text: str


@dataclass(frozen=True)
class Label:
    """A press of the button whose label holds these words, under the newest message with one."""

    words: str


Step = str | Callback | Label | Reply
Request = tuple[str, str] | tuple[str, str, Json]


class Installation:
    """An installation on a database of its own, and its owner."""

    def __init__(self, server: Server, name: str, folder: Path) -> None:
        self.url = server.url(name)
        self.folder = folder
        self.superuser_url = server.url(name, superuser=True)

    @property
    def environment(self) -> dict[str, str]:
        return {
            "DATABASE_URL": self.url, "RELAY_DATA_DIR": str(self.folder), "RELAY_ADMINS": str(OWNER),
            "RELAY_TIMEZONE": "Europe/Berlin", "RELAY_LOG_LEVEL": "ERROR", "RELAY_EMBEDDER": "off",
        }  # fmt: skip

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Runs a statement as the superuser, in Relay's schema; returns its rows."""
        with psycopg.connect(self.superuser_url, autocommit=True, row_factory=tuple_row) as connection:
            connection.execute("set search_path = relay, public, extensions")
            cursor = connection.execute(statement.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    @property
    def settings(self) -> Settings:
        return Settings(**cast(Any, self.environment))

    def chat(self, steps: Sequence[Step]) -> Json:
        """Writes messages to the bot, and presses its buttons."""
        assert asyncio.run(self.talk(steps)), f"nothing was said to {steps}"
        return {}

    async def talk(self, steps: Sequence[Step]) -> list[str]:
        """Does the same. Returns what the bot wrote."""
        messenger = FakeMessenger()
        async with open_runtime(self.settings, model=OfflineModel()) as relay:
            worker = make_worker(
                relay, make_services(relay, messenger, BOT.id), make_connection(messenger, BOT), lambda _: None
            )
            for step in steps:
                row = sorted_row(update_of(step, messenger), BOT, relay.people.allowed, True)
                worker.accept(*await relay.store.intake(BOT.id, [row], worker.free))
                await worker.wait_until_idle()
            await worker.close(1)
        return [given.get("text", "") for method, given in messenger.calls if method in (*SENDS, "editMessageText")]

    def cli(self, lines: Sequence[str]) -> Json:
        """Runs commands of the shell, for a program; returns what the last one printed. What follows `<` answers what a
        command asks."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            for line in lines:
                words, _, answer = line.partition(" < ")
                done = CliRunner().invoke(cli, [*shlex.split(words), "--json"], input=answer)
                assert done.exit_code == (line in PREVIEWS), (line, done.stdout, done.exception)
        printed: Json = json.loads(done.stdout)
        return printed

    def http(self, requests: Sequence[Request]) -> Json:
        """Makes requests; returns what the last one was answered. Paths may name fields of the answer before."""
        return asyncio.run(self._http(requests))

    async def _http(self, requests: Sequence[Request]) -> Json:
        last: Json = {}
        async with open_runtime(self.settings, model=OfflineModel()) as relay:
            services = make_services(relay, FakeMessenger(), BOT.id)
            async with open_api(relay.store, OWNER, services=services, bot_id=BOT.id) as client:
                for method, path, *body in requests:
                    answer = await client.request(method, path.format(**last), json=body[0] if body else None)
                    assert answer.is_success, (method, path, answer.text)
                    told = answer.content and answer.headers["content-type"] == "application/json"
                    last = answer.json() if told else {}
        return last


def update_of(step: Step, messenger: FakeMessenger) -> Json:
    """What Telegram tells the bot of a step."""
    number = next(numbers)
    person, chat = {"id": OWNER, "first_name": "Ada"}, {"id": 0, "type": "private"}
    if isinstance(step, Callback | Label):
        under, rows = keyboard(messenger)
        shown = [one for row in rows for one in row]
        data = encode(step) if isinstance(step, Callback) else find_button(shown, step.words)
        message = {"message_id": under, "date": 1, "text": "…", "chat": chat, "from": {"id": BOT.id, "is_bot": True}}
        message["reply_markup"] = {"inline_keyboard": rows}
        return {"update_id": number, "callback_query": {"id": "7", "from": person, "data": data, "message": message}}
    message = {"message_id": number, "date": DAY, "chat": chat, "from": person}
    if isinstance(step, str):
        return {"update_id": number, "message": message | {"text": step}}
    asked = next(given for _, given in reversed(messenger.calls) if "force_reply" in given.get("reply_markup", {}))
    place = [given for method, given in messenger.calls if method == "sendMessage"].index(asked) + 1
    question = {"message_id": place, "text": asked["text"], "from": {"id": BOT.id, "is_bot": True}, "chat": chat}
    return {"update_id": number, "message": message | {"text": step.text, "reply_to_message": question | {"date": DAY}}}


def find_button(shown: Sequence[Json], words: str) -> str:
    """The data of a button."""
    found = [str(one["callback_data"]) for one in shown if words in one["text"]]
    assert found, (words, [one["text"] for one in shown])
    return found[0]


def keyboard(messenger: FakeMessenger) -> tuple[int, list[list[Json]]]:
    """The newest message with buttons, and these."""
    sent, found = 0, (1, [])
    for method, given in messenger.calls:
        sent += method in SENDS
        rows = (given.get("reply_markup") or {}).get("inline_keyboard")
        if rows:
            found = (given.get("message_id", sent), rows)
    return found


@contextlib.contextmanager
def watch(run: Callable[..., Awaitable[Any]]) -> Iterator[list[Any]]:
    """Collects what a function returns, wherever in Relay it is run."""
    results: list[Any] = []

    @functools.wraps(run)
    async def watched(*given: Any, **more: Any) -> Any:
        results.append(await run(*given, **more))
        return results[-1]

    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("relay."):
                for word in [word for word, value in vars(module).items() if value is run]:
                    patch.setattr(module, word, watched)
        yield results
