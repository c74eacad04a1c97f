"""Whatever people do, nothing of one space is shown in another: random people, chats, links, commands, buttons."""

from __future__ import annotations

import pytest

from relay.bot import arrival
from relay.verbs import VERBS
from tests.integration.conftest import Server
from tests.integration.inside import inside
from tests.integration.walk import ADMINS, KNOWN, Walk

STEPS = 350


async def walked(server: Server, seed: int, steps: int = STEPS) -> Walk:
    """A walk of so many steps."""
    walk = Walk(seed)
    async with inside(server, walk.answers, ADMINS, frozenset(KNOWN)) as relay:
        walk.settle_in(relay)
        await relay.settled()
        await walk.steps(steps)
        failed = await relay.sql("select id, error from turn where failures > 0 or status = 'failed'")
        assert failed == []
    return walk


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "SETTLE_SECONDS", 0.0)


@pytest.mark.parametrize("seed", list(range(2, 14)))
async def test_no_space_shows_in_another(embedded: Server, seed: int) -> None:
    walk = await walked(embedded, seed)
    print(walk.count, walk.ledger.looked_at)
    assert walk.count["prompts"] > STEPS / 4
    assert walk.ledger.looked_at > 5 * STEPS
    assert all(walk.count[f"/{name}"] for name, verb in VERBS.items() if "chat" in verb.doors)
