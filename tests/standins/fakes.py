"""Fakes of ports, which record what they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from relay.core.errors import FileTooLarge, MessengerRefused
from relay.core.spending.charge import Account, Charge, Spending


class FakeLedger:
    """Records spending in `spends`, with its charge; reports nothing spent before."""

    def __init__(self) -> None:
        self.spends: list[tuple[Charge, Spending]] = []

    async def find_account(self, charge: Charge, since: datetime) -> Account:
        """See `Store.find_account`."""
        return Account(charge.user_id, ())

    async def spend(self, charge: Charge, spending: Spending) -> None:
        """See `Store.spend`."""
        self.spends.append((charge, spending))


class FakeMessenger:
    """Records every Bot API call in `calls`. Sends get increasing message ids. `files`: downloads by id."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.files: dict[str, bytes] = {}
        self._last_id = 0

    async def call(self, method: str, **parameters: Any) -> Any:
        """See `ports.Messenger.call`."""
        self.calls.append((method, parameters))
        if method not in ("sendMessage", "sendPhoto", "sendDocument", "sendVoice"):
            return True
        self._last_id += 1
        return {"message_id": self._last_id, "text": parameters.get("text")}

    async def fetch(self, file_id: str, most: int) -> bytes:
        """See `ports.Messenger.fetch`."""
        if file_id not in self.files:
            raise MessengerRefused("wrong file_id or the file is temporarily unavailable")
        if len(self.files[file_id]) > most:
            raise FileTooLarge
        return self.files[file_id]


class FakeSink:
    """Records everything that it receives."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.waits: list[str] = []

    def text(self, so_far: Callable[[], str]) -> None:
        """See `ports.Sink.text`."""
        self.texts.append(so_far())

    def report_wait(self, sentence: str) -> None:
        """See `ports.Sink.report_wait`."""
        self.waits.append(sentence)
