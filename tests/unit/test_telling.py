"""What was learned after an answer: what cannot be told stands in the log."""

from __future__ import annotations

from typing import Any

import pytest
import structlog

from relay.bot import telling
from relay.bot.telling import Teller, tell_anew
from relay.errors import DeliveryUncertain, MessengerError, MessengerThrottled, MessengerUnavailable
from relay.testing import FakeMessenger

CHANGE = {"id": 1, "action": "learn", "status": "applied", "content": "likes tea", "memory_id": 3, "kind": "fact",
          "subject": "Ada", "tainted": False, "replaced": None}  # fmt: skip
DUE = {"turn_id": 7, "chat_id": 9, "topic_id": 0, "private": True, "changes": [CHANGE], "tells": [1]}


class Told:
    """Takes an announcement anew."""

    async def announce_anew(self, turn_id: int) -> bool:
        return True


class Away(FakeMessenger):
    """Takes no message."""

    def __init__(self, trouble: MessengerError) -> None:
        super().__init__()
        self.trouble = trouble

    async def call(self, method: str, **parameters: Any) -> Any:
        await super().call(method, **parameters)
        raise self.trouble


@pytest.mark.parametrize(
    ("trouble", "tries"),
    [
        (MessengerThrottled(0), telling.TRIES),
        (MessengerUnavailable("Telegram is away."), telling.TRIES),
        (DeliveryUncertain("It may be there."), 1),
    ],
)
async def test_what_cannot_be_told_stands_in_the_log(
    monkeypatch: pytest.MonkeyPatch, trouble: MessengerError, tries: int
) -> None:
    async def at_once(_: float) -> None: ...

    monkeypatch.setattr(telling.asyncio, "sleep", at_once)
    monkeypatch.setattr(telling, "log", structlog.get_logger())
    messenger = Away(trouble)
    with structlog.testing.capture_logs() as logs:
        await tell_anew(Teller(Told(), messenger, 1), DUE)  # type: ignore[arg-type]
    assert [name for name, _ in messenger.calls] == ["sendMessage"] * tries
    assert [(one["event"], one["error"]) for one in logs] == [("what was learned could not be told", str(trouble))]
