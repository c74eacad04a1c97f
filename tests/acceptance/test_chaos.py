"""A few seconds of `make chaos`: a crowd in thirty places, kills, and other faults."""

from __future__ import annotations

import pytest

from tests.chaos.driver import run
from tests.chaos.stage import Plan


@pytest.mark.slow("test_kill.py, test_edits_kill.py, test_outbox_kill.py, and test_faults_*.py")
@pytest.mark.timeout(400)
async def test_all_guarantees_hold_through_kills_and_faults() -> None:
    outcome = await run(Plan(seconds=20, processes=1, kills=2, seed=5, pause=4, trouble=1, longest=3))
    assert outcome.verdict.whole, "\n".join(outcome.verdict.lines())
    assert outcome.kills
    assert outcome.verdict.asked > 30
