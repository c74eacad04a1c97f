"""Tests the shutdown of a worker: it starts nothing new, and another worker takes over what it can't finish in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from relay.core.errors import OtherVersion
from relay.core.models import ModelRequest, Step
from relay.core.retry import RetryPolicy
from relay.memory import retrying_database
from relay.memory.retrying_database import RetryingDatabase
from relay.memory.store import Store
from relay.surfaces.telegram.turns.worker import TurnMedia, Worker
from tests.integration.conftest import Server
from tests.integration.inside import Inside, Json, inside
from tests.integration.turn_driver import ADA
from tests.unread import unread


def answers(request: ModelRequest) -> list[Json]:
    """Gives every message the same answer."""
    return [{"type": "text", "text": "Here I am."}]


@pytest.fixture
async def relay(embedded: Server) -> AsyncIterator[Inside]:
    async with inside(embedded, answers, frozenset(), frozenset([ADA])) as opened:
        yield opened


async def test_an_unfinished_turn_is_handed_over_and_answered_once(
    relay: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, begun = relay.worker.engine, asyncio.Event()

    async def endless(request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        on_text("Here")
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(engine.gate._model, "reply", endless)
    chat = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    await relay.tg.say(chat, ADA, "are you there?")
    async with asyncio.timeout(20):
        await begun.wait()
        await relay.worker.close(0.05)
    assert await relay.sql("select status, lease_owner, failures from turn") == [("working", None, 0)]
    begun.clear()
    await relay.tg.say(chat, ADA, "and now?")
    await relay.tg.say(chat, ADA, "/help")
    await relay.tg.wait_for(lambda: not relay.tg.pending_updates)
    assert not relay.worker.running
    assert not begun.is_set(), "a stopping worker must start nothing new"
    monkeypatch.undo()
    await relay.store.release()
    follower = Worker(
        engine, relay.worker._services, relay.worker.connection, TurnMedia(unread(relay.wire)), lambda _: None, 16
    )
    working = asyncio.create_task(follower.run())
    await relay.tg.wait_for(lambda: len([m for m in relay.tg.messages(chat) if m.from_bot]) >= 3)
    await relay.settled()
    said = [message.text for message in relay.tg.messages(chat) if message.from_bot]
    assert said.count("Here I am.") == 2, "each of the two questions must be answered once"
    assert len(said) == 3
    working.cancel()


async def test_a_worker_ends_with_a_sentence_if_a_function_stays_missing(
    relay: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrying_database, "SCHEMA_SECONDS", 0.05)
    monkeypatch.setattr(retrying_database, "RETRIES", RetryPolicy(first=0.01))
    relay.worker.store = Store(RetryingDatabase(relay.store._database), "another")
    await relay.sql("alter function public.relay_claim rename to relay_claim_of_another_version")
    async with asyncio.timeout(20):
        with pytest.raises(OtherVersion, match="no function relay_claim that fits this version of Relay"):
            await relay.worker.run()
