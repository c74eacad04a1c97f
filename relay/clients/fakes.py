"""Fakes of every port except Database."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from relay.core.charge import Account, Charge, Spending
from relay.core.errors import FileTooLarge, MessengerRefused, ModelRefused
from relay.core.models import ModelRequest, Step
from relay.core.program import RELAY
from relay.core.text import pluralize

LABEL = "*(offline stand-in, no model is answering)*"
NO_FORMS = (
    f"This takes a model, and offline there is none. Set ANTHROPIC_API_KEY ({RELAY} setup asks for it), then start "
    f"{RELAY} chat without --offline."
)


class OfflineModel:
    """A fake model, which echoes its input, and learns facts like “I am …” and “I like …”."""

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        """See `ports.Model.reply`. Raises `ModelRefused` if the request needs an answer in a given form."""
        if request.tool_choice or request.form:
            raise ModelRefused(NO_FORMS)
        texts = [block["text"] for block in request.messages[-1]["content"] if block["type"] == "text"]
        said = next((text for text in reversed(texts) if not text.startswith("<context>")), "")
        known = sum(block["text"].count("\n- ") for block in request.system[1:])
        messages, memories = pluralize(len(request.messages), "message"), pluralize(known, "memory", "memories")
        text = f"{LABEL}\nYou said: {said[:500]}\nThis prompt has {messages} and {memories}."
        fact = re.search(r"\bI (?:am|like|love|live in|work as|have) [^.!?\n]{2,120}", said)
        if fact:
            text += f"\n[LEARN: {fact[0].replace('[', '(').replace(']', ')')}]"
        for piece in re.findall(r"\S+\s*", text):
            on_text(piece)
            await asyncio.sleep(0)
        return Step([{"type": "text", "text": text}], "end_turn", {}, "offline")

    async def close(self) -> None:
        """Does nothing."""


class FakeLedger:
    """Records spending in `spends`, with its charge; reports nothing spent before."""

    def __init__(self) -> None:
        self.spends: list[tuple[Charge, Spending]] = []

    async def find_account(self, charge: Charge, since: datetime) -> Account:
        """See `gate.UsageLedger.find_account`."""
        return Account(charge.user_id, ())

    async def spend(self, charge: Charge, spending: Spending) -> None:
        """See `gate.UsageLedger.spend`."""
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
