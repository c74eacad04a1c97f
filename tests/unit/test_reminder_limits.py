"""What the model is told when a person has no room for another reminder."""

from __future__ import annotations

from datetime import UTC
from typing import Any, cast

import pytest

from relay.conversation.tools.reminders import ReminderTools
from relay.core.limits import OPEN_INTENTS, OPEN_REMINDERS
from relay.memory.store import Store
from tests.unit.test_outcome import SAID


class Full:
    """A store of a person who has as many reminders and mentions as there may be."""

    async def make_reminder(self, new: object) -> str:
        return "many"

    async def make_intent(self, new: object) -> str:
        return "many"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"at": "2031-03-01T18:00"}, f"They have {OPEN_REMINDERS} open reminders"),
        ({"mention": "dentist"}, f"They have {OPEN_INTENTS} open mentions"),
    ],
)
async def test_the_model_is_told_which_limit_was_reached(given: dict[str, Any], told: str) -> None:
    tools = ReminderTools(cast(Store, Full()), SAID, UTC)
    said, _ = await tools.set({"text": "Take the card", **given})
    assert said.startswith(told)
