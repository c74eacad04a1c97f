"""Fixtures: a running Relay between stand-ins for Telegram and the model."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.acceptance.harness import FRIEND, OWNER, RelayProcess, environment
from tests.acceptance.shared_bot import SharedBot, World, bot, session_bot
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.places import furnish
from tests.standins.anthropic import AnthropicStandIn
from tests.standins.telegram import TelegramStandIn

__all__ = ["World", "bot", "session_bot", "world"]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_relay(request: pytest.FixtureRequest) -> AsyncIterator[SharedRelay]:
    """One Relay for the tests of a file. `SETTINGS` in the file change its environment."""
    async with open_relay(**getattr(request.module, "SETTINGS", {})) as shared_relay:
        yield shared_relay
        assert shared_relay.tracebacks() == []


@pytest.fixture
def shared_relay(module_relay: SharedRelay) -> SharedRelay:
    """The file's Relay, reset to its initial rules and without faults."""
    module_relay.quiet()
    return module_relay


@pytest.fixture
def shared_world(bot: SharedBot) -> World:
    """The shared bot with two new people."""
    return bot.world()


@pytest.fixture
def module_world(shared_relay: SharedRelay) -> World:
    """The file's Relay with two new people, and a model without rules."""
    shared_relay.model.reset()
    return SharedBot(
        shared_relay.tg, shared_relay.model, shared_relay.relay, shared_relay.data, shared_relay.people
    ).world()


@pytest.fixture
def world(own_world: World) -> World:
    """A bot for this test alone. Files whose tests can share one override this."""
    return own_world


@pytest.fixture
async def own_world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
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
