"""Some seconds of what `make chaos` does for minutes: a crowd in thirty places, kills, and whatever else goes wrong."""

from __future__ import annotations

import pytest

from tests.chaos.driver import run
from tests.chaos.stage import Plan


@pytest.mark.timeout(400)
async def test_every_promise_is_kept_through_some_kills() -> None:
    outcome = await run(Plan(seconds=20, processes=1, kills=2, seed=5, pause=4, trouble=1, longest=3))
    assert outcome.verdict.whole, "\n".join(outcome.verdict.lines())
    assert outcome.kills
    assert outcome.verdict.asked > 30
