"""What people and the database are told when a message fails for good: the kind of error, never anybody's words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from relay.commands.context import Installation
from relay.core.errors import DatabaseError
from relay.core.text import escape_markdown
from relay.memory.claims import ClaimedTurn
from relay.memory.people import People
from relay.memory.rows.delivery import Message
from relay.memory.rows.people import Person
from relay.surfaces.telegram.groups.groups import make_connection
from relay.surfaces.telegram.parsing.updates import Bot
from relay.surfaces.telegram.turns.worker import TurnMedia, Worker, describe_cause
from tests.standins.fakes import FakeMessenger
from tests.unread import unread

KEY = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAA"
UPDATE = {"update_id": 1, "message": {"message_id": 5, "chat": {"id": 1001, "type": "private"}, "text": "my words"}}


class Queue:
    """A queue that sets every turn aside."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.said: list[Message] = []

    async def fail(self, turn: ClaimedTurn, error: str, retry_seconds: float, say: list[Message]) -> bool:
        self.errors.append(error)
        self.said += say
        return True

    async def people(self) -> list[Person]:
        """A second admin, added by another process in the meantime."""
        return [Person(8, "Eve", "admin")]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("invalid literal: 'my words'"), "ValueError"),
        (DatabaseError(f"The database refused {KEY}."), "DatabaseError: The database refused [redacted]."),
    ],
)
async def test_a_failed_turn_is_reported_without_quoting_the_message(error: Exception, told: str) -> None:
    messenger, queue = FakeMessenger(), Queue()
    engine: Any = SimpleNamespace(store=queue)
    services: Any = SimpleNamespace(
        people=People(frozenset([9])), store=queue, installation=Installation("1", "", "", "")
    )
    media = TurnMedia(unread(messenger))
    worker = Worker(engine, services, make_connection(messenger, Bot(77, "relay_bot")), media, lambda _: None, 4)
    await worker._fail(ClaimedTurn(3, 1, "message", "working", 2, 1001, (UPDATE,), ()), describe_cause(error))
    assert queue.errors == [told]
    _, *reports = queue.said
    assert [one.chat_id for one in reports] == [8, 9]
    assert all(one.text.endswith(escape_markdown(f": {told}")) for one in reports)
