"""One bot for many tests. Each test gets its own people, so that tests don't affect each other."""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.acceptance.harness import OWNER, RelayProcess, environment
from tests.places import furnish
from tests.standins.anthropic import AnthropicStandIn, Recorded
from tests.standins.telegram import Chat, StoredMessage, TelegramStandIn, User

SESSION = pytest.mark.asyncio(loop_scope="session")
"""Marks tests that use the shared bot, to run in its event loop."""
FIRST, LAST = 5_000_000_000, 5_000_001_000
HUGE = 2**52 - 17
"""A user id beyond 2^31; Telegram's may have 52 bits."""


@dataclass
class World:
    """Telegram, the model, the bot, and the private chats of two people."""

    tg: TelegramStandIn
    model: AnthropicStandIn
    relay: RelayProcess
    owner: User
    friend: User
    dm: Chat
    friend_dm: Chat

    @property
    def shell_settings(self) -> dict[str, str]:
        """The environment in which `relay …` acts for the owner."""
        return self.relay.environment | {"RELAY_ADMINS": str(self.owner.id)}


@dataclass
class SharedBot:
    """Telegram, the model, the bot, and as many people as a test needs."""

    tg: TelegramStandIn
    model: AnthropicStandIn
    relay: RelayProcess
    data: Path
    ids: Iterator[int] = field(default_factory=lambda: iter(range(FIRST, LAST)))
    groups: Iterator[int] = field(default_factory=lambda: itertools.count(-1_002_000_000_001, -1))

    @property
    def asked(self) -> int:
        """Counts the requests to the big model. Background work (summaries, titles) asks the small one."""
        return sum(number for model, number in self.model.asked.items() if "haiku" not in model)

    def person(self, name: str = "Ada", id: int = 0) -> tuple[User, Chat]:
        """Returns a new person whom the bot knows, and their private chat."""
        user = self.tg.user(id or next(self.ids), name)
        return user, self.tg.dm(user)

    def world(self) -> World:
        """Returns the bot with two new people."""
        (owner, dm), (friend, friend_dm) = self.person(), self.person("Ben")
        return World(self.tg, self.model, self.relay, owner, friend, dm, friend_dm)

    def forum(self, *members: User) -> Chat:
        return self.tg.group(next(self.groups), "Forum", list(members), forum=True)

    def group(self, *members: User) -> Chat:
        return self.tg.group(next(self.groups), "Group", list(members))

    async def ask(
        self, chat: Chat, user: User, text: str, answer: Any = None, *, topic: int | None = None, **more: Any
    ) -> StoredMessage:
        """Sends a message and returns the bot's first reply. `answer` is what the model says to it."""
        if answer is not None:
            self.says(text, answer)
        said = await self.tg.say(chat, user, text, topic=topic, **more)
        return await self.tg.wait_reply(chat, said, topic=topic)

    async def stored(self, chat: Chat) -> None:
        """Waits until an answer in this chat is stored, which is just after it is shown."""
        done = re.compile(rf'^(?=.*"turn done")(?=.*"kind": "message").*"chat_id": {chat.id}\b', re.MULTILINE)
        await self.tg.wait_for(lambda: done.search(self.relay.output()))

    def says(self, text: str, answer: Any) -> None:
        """Sets what the model answers, once, to a message with this text."""
        self.model.rule(lambda request: text in request.user_turn()[0], answer, times=1)

    def prompts(self, text: str) -> list[Recorded]:
        """Returns the model's requests whose present message contains this text."""
        return [one for one in self.model.requests if "sonnet" in one.model and text in one.user_turn()[0]]

    def prompt(self, text: str) -> Recorded:
        """Returns the latest of them."""
        return self.prompts(text)[-1]

    async def press(self, chat: Chat, user: User, message: StoredMessage, label: str) -> str:
        """Presses the button whose label contains `label`. Returns the toast, which may be empty."""
        return await self.tg.tap(chat, user, message, label)

    def keeps(self, text: str) -> bool:
        """Whether a text is anywhere in the data directory or the log."""
        files = [path for path in self.data.parent.rglob("*") if path.is_file()]
        return any(text.encode() in path.read_bytes() for path in files)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def session_bot() -> AsyncIterator[SharedBot]:
    """The shared bot."""
    folder = Path(tempfile.mkdtemp(prefix="relay-bot-"))
    users = ",".join(map(str, [*range(FIRST, LAST), HUGE]))
    async with TelegramStandIn() as tg, AnthropicStandIn() as model:
        settings = environment(tg, model, folder / "data", RELAY_USERS=users)
        await furnish(folder / "data")
        relay = RelayProcess(settings, folder / "relay.log")
        tg.user(OWNER, "Olga")
        await relay.start()
        try:
            await tg.wait_polling(timeout=30)
            yield SharedBot(tg, model, relay, folder / "data")
        finally:
            await relay.stop()
            shutil.rmtree(folder, ignore_errors=True)


@pytest_asyncio.fixture(loop_scope="session")
async def bot(session_bot: SharedBot, request: pytest.FixtureRequest) -> AsyncIterator[SharedBot]:
    """The shared bot with its stand-ins reset. Checks the log afterwards."""
    if session_bot.relay.process is None or session_bot.relay.process.returncode is not None:
        await session_bot.relay.start()  # a failed test had ended it
        await session_bot.tg.wait_polling(timeout=30)
    before = len(session_bot.relay.output())
    session_bot.model.reset()
    session_bot.model.delay = session_bot.model.chunk_delay = 0.0
    session_bot.tg.clear_faults()
    yield session_bot
    log = session_bot.relay.output()[before:]
    if hasattr(request.node, "rep_call") and request.node.rep_call.failed:
        print(log[-6000:])
    assert "Traceback" not in log or request.node.get_closest_marker("expects_trouble")
