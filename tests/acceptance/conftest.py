"""Fixtures: a running Relay between stand-ins for Telegram and the model."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from tests.acceptance.harness import FRIEND, OWNER, RelayProcess, environment
from tests.acceptance.shared_bot import bot, session_bot
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.places import furnish
from tests.standins.anthropic import AnthropicStandIn
from tests.standins.telegram import Chat, TelegramStandIn, User

__all__ = ["World", "bot", "session_bot", "world"]


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


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_relay() -> AsyncIterator[SharedRelay]:
    """One Relay for the tests of a file."""
    async with open_relay() as shared_relay:
        yield shared_relay
        assert shared_relay.tracebacks() == []


@pytest.fixture
def shared_relay(module_relay: SharedRelay) -> SharedRelay:
    """The file's Relay, reset to its initial rules and without faults."""
    module_relay.quiet()
    return module_relay


@pytest.fixture
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    """A running bot on a fresh data directory. Mark a test with `settings(NAME=value)` to change its environment."""
    marker = request.node.get_closest_marker("settings")
    folder = Path(tempfile.mkdtemp(prefix="test-"))
    async with TelegramStandIn() as tg, AnthropicStandIn() as model:
        owner, friend = tg.user(OWNER, "Ada"), tg.user(FRIEND, "Ben")
        settings = environment(tg, model, folder / "data", **(marker.kwargs if marker else {}))
        if not {"DATABASE_URL", "SUPABASE_URL"} & settings.keys():
            await furnish(folder / "data")
        relay = RelayProcess(settings, folder / "relay.log")
        await relay.start()
        try:
            await tg.wait_polling(timeout=30)
            yield World(tg, model, relay, owner, friend, tg.dm(owner), tg.dm(friend))
            assert "Traceback" not in relay.output() or request.node.get_closest_marker("expects_trouble")
        finally:
            await relay.stop()
            if hasattr(request.node, "rep_call") and request.node.rep_call.failed:
                print(relay.output()[-8000:])
            shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    setattr(item, f"rep_{report.when}", report)
    return report
