"""One bot for many tests: each test gets people of its own, so nothing of one shows up in another."""

from __future__ import annotations

import itertools
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
"""Tests that share the town run in its event loop."""
FIRST, LAST = 5_000_000_000, 5_000_000_400
HUGE = 2**52 - 17
"""A user id beyond 2^31; Telegram's may have 52 bits."""


@dataclass
class Town:
    """Telegram, the model, the bot, and as many people as a test needs."""

    tg: TelegramStandIn
    model: AnthropicStandIn
    relay: RelayProcess
    data: Path
    ids: Iterator[int] = field(default_factory=lambda: iter(range(FIRST, LAST)))
    groups: Iterator[int] = field(default_factory=lambda: itertools.count(-1_002_000_000_001, -1))

    @property
    def asked(self) -> int:
        """How often the model that answers was asked; what comes by itself (summaries, titles) asks the small one."""
        return sum(number for model, number in self.model.asked.items() if "haiku" not in model)

    def person(self, name: str = "Ada", id: int = 0) -> tuple[User, Chat]:
        """Somebody whom the bot knows, new to it, and their private chat."""
        user = self.tg.user(id or next(self.ids), name)
        return user, self.tg.dm(user)

    def forum(self, *members: User) -> Chat:
        return self.tg.group(next(self.groups), "Forum", list(members), forum=True)

    def group(self, *members: User) -> Chat:
        return self.tg.group(next(self.groups), "Group", list(members))

    async def ask(
        self, chat: Chat, user: User, text: str, answer: Any = None, *, topic: int | None = None, **more: Any
    ) -> StoredMessage:
        """Somebody writes; the bot's (first) reply. `answer`: what the model says to it."""
        if answer is not None:
            self.says(text, answer)
        said = await self.tg.say(chat, user, text, topic=topic, **more)
        return await self.tg.wait_reply(chat, said, topic=topic)

    def says(self, text: str, answer: Any) -> None:
        """What the model answers, once, to a message that contains this text."""
        self.model.rule(lambda request: text in request.user_turn()[0], answer, times=1)

    def prompts(self, text: str) -> list[Recorded]:
        """The model's requests whose present message contains this text."""
        return [one for one in self.model.requests if "sonnet" in one.model and text in one.user_turn()[0]]

    def prompt(self, text: str) -> Recorded:
        """The latest of them."""
        return self.prompts(text)[-1]

    async def press(self, chat: Chat, user: User, message: StoredMessage, label: str) -> str:
        """Presses the button whose label contains `label`; what the bot says to that (may be nothing)."""
        return await self.tg.tap(chat, user, message, label)

    def keeps(self, text: str) -> bool:
        """Whether a text is anywhere in the data directory or the log."""
        files = [path for path in self.data.parent.rglob("*") if path.is_file()]
        return any(text.encode() in path.read_bytes() for path in files)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def bot() -> AsyncIterator[Town]:
    """The one bot."""
    folder = Path(tempfile.mkdtemp(prefix="relay-town-"))
    users = ",".join(map(str, [*range(FIRST, LAST), HUGE]))
    async with TelegramStandIn() as tg, AnthropicStandIn() as model:
        settings = environment(tg, model, folder / "data", RELAY_USERS=users)
        await furnish(folder / "data")
        relay = RelayProcess(settings, folder / "relay.log")
        tg.user(OWNER, "Olga")
        await relay.start()
        try:
            await tg.wait_polling(timeout=30)
            yield Town(tg, model, relay, folder / "data")
        finally:
            await relay.stop()
            shutil.rmtree(folder, ignore_errors=True)


@pytest_asyncio.fixture(loop_scope="session")
async def town(bot: Town, request: pytest.FixtureRequest) -> AsyncIterator[Town]:
    """The one bot, with the stand-ins as they were at first, and a look into its log afterwards."""
    before = len(bot.relay.output())
    bot.model.reset()
    bot.model.delay = bot.model.chunk_delay = 0.0
    bot.tg.clear_faults()
    yield bot
    log = bot.relay.output()[before:]
    if hasattr(request.node, "rep_call") and request.node.rep_call.failed:
        print(log[-6000:])
    assert "Traceback" not in log or request.node.get_closest_marker("expects_trouble")
