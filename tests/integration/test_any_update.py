"""Whatever comes from Telegram: it is stored or left aside, and what comes after it is answered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import structlog
from hypothesis import given

from relay.models import ModelRequest
from tests.integration.conftest import Server
from tests.integration.inside import Inside, inside
from tests.strategies import examples
from tests.updates import ADA, BEN, updates

Json = dict[str, Any]
FRIEND = 4242
PROBE = "Are you still there?"


def says_yes(request: ModelRequest) -> list[Json]:
    return [{"type": "text", "text": "Yes."}]


@pytest.fixture
async def relay(embedded: Server) -> AsyncIterator[Inside]:
    async with inside(embedded, says_yes, frozenset([ADA]), frozenset([BEN, FRIEND])) as running:
        yield running


@examples(60)
@given(update=updates)
async def test_nothing_that_comes_stops_what_comes_after_it(relay: Inside, update: Json) -> None:
    friend = relay.tg.user(FRIEND, "Fay")
    with structlog.testing.capture_logs() as logs:
        number = relay.tg.push(update)
        await relay.tg.say(relay.tg.dm(friend), friend, PROBE)
        await relay.settled(20)
    assert relay.tg.messages(FRIEND)[-1].text == "Yes."
    failed = [one for one in logs if one["event"] == "turn failed"]
    assert not failed, failed
    assert await relay.sql("select count(*) from inbox where update_id = %s", number) == [(1,)]
