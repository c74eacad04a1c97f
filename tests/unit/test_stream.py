"""Previews of a growing answer: how long they stay, and how they follow what Telegram asks for."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from relay.core.errors import DeliveryUncertain, MessengerRefused, MessengerThrottled, MessengerUnavailable, RelayError
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import PartResult, Request, StoredPart
from relay.surfaces.telegram.outgoing import chat_action, stream
from relay.surfaces.telegram.outgoing.stream import Preview, PreviewLimits
from relay.surfaces.telegram.parsing.place import Place
from tests.standins.fakes import FakeMessenger

TURN = ClaimedTurn(7, 1, "message", "working", 0, 9, (), ())
DM, GROUP = Place(9, 0, True), Place(-9, 0, False)


class FakeStore:
    """Accepts a preview's row and discards it."""

    async def preview(self, turn: ClaimedTurn, bot_id: int, chat_id: int, request: Request) -> StoredPart:
        return StoredPart(1, chat_id, request, id=1, status="sending")

    async def store_sent(self, turn: ClaimedTurn, results: list[PartResult], close: bool) -> None: ...


class Throttled(FakeMessenger):
    """Refuses a second edit for half a second."""

    async def call(self, method: str, **parameters: Any) -> Any:
        if method == "editMessageText" and "editMessageText" in [name for name, _ in self.calls]:
            self.free_at = time.monotonic() + 0.5
            raise MessengerThrottled(0.5)
        return await super().call(method, **parameters)


def preview(messenger: FakeMessenger, place: Place) -> Preview:
    return Preview(messenger, FakeStore(), TURN, 1, place, PreviewLimits(set()))  # type: ignore[arg-type]


async def until(messenger: FakeMessenger, method: str, count: int) -> list[dict[str, Any]]:
    """Waits for `count` calls of a method, and returns them."""
    async with asyncio.timeout(20):
        while len(made := [given for name, given in messenger.calls if name == method]) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return made


async def test_a_final_edit_waits_as_long_as_telegram_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "EDIT_FIRST", 0.01)
    monkeypatch.setattr(stream, "EDIT_EVERY", 0.01)
    messenger, words, stop = Throttled(), ["so far"], asyncio.Event()
    async with preview(messenger, GROUP) as growing:
        for word in ("and", "on"):
            growing.text(lambda: " ".join(words))
            await until(messenger, "sendMessage" if word == "and" else "editMessageText", 1)
            words.append(word)
        growing.text(lambda: " ".join(words))
        async with asyncio.timeout(20):
            while not hasattr(messenger, "free_at"):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
    await growing.settle(stop)
    assert time.monotonic() >= messenger.free_at
    growing._free_at = time.monotonic() + 3600
    stop.set()
    async with asyncio.timeout(5):
        await growing.settle(stop)


class FailingMessenger(FakeMessenger):
    """Raises an error for the first draft."""

    def __init__(self, trouble: RelayError) -> None:
        super().__init__()
        self.trouble: RelayError | None = trouble

    async def call(self, method: str, **parameters: Any) -> Any:
        done = await super().call(method, **parameters)
        if method == "sendMessageDraft" and self.trouble is not None:
            trouble, self.trouble = self.trouble, None
            raise trouble
        return done


@pytest.mark.parametrize("trouble", [MessengerUnavailable("Telegram is away."), DeliveryUncertain("Who knows?")])
async def test_drafts_continue_after_a_temporary_error(monkeypatch: pytest.MonkeyPatch, trouble: RelayError) -> None:
    monkeypatch.setattr(stream, "DRAFT_FIRST", 0.01)
    monkeypatch.setattr(stream, "DRAFT_EVERY", 0.01)
    messenger, refused, words = FailingMessenger(trouble), set[int](), ["so far"]
    async with Preview(messenger, FakeStore(), TURN, 1, DM, PreviewLimits(refused)) as growing:  # type: ignore[arg-type]
        growing.text(lambda: " ".join(words))
        await until(messenger, "sendMessageDraft", 1)
        words.append("and on")
        growing.text(lambda: " ".join(words))
        drafts = await until(messenger, "sendMessageDraft", 2)
    assert drafts[1]["text"] == "so far and on"
    assert not refused


async def test_a_refused_draft_ends_drafts_in_that_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "DRAFT_FIRST", 0.01)
    messenger, refused = FailingMessenger(MessengerRefused("TEXTDRAFT_PEER_INVALID")), set[int]()
    async with Preview(messenger, FakeStore(), TURN, 1, DM, PreviewLimits(refused)) as growing:  # type: ignore[arg-type]
        growing.text(lambda: "so far")
        await until(messenger, "sendMessageDraft", 1)
        await growing._tasks[1]
    assert refused == {DM.chat_id}


async def test_a_draft_is_sent_again_before_it_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stream.DRAFT_LASTS < 30, "Telegram removes a draft after this many seconds"
    monkeypatch.setattr(stream, "DRAFT_LASTS", 0.1)
    messenger = FakeMessenger()
    async with preview(messenger, DM) as growing:
        growing.text(lambda: "the model thinks on")
        drafts = await until(messenger, "sendMessageDraft", 3)
    assert all(draft == drafts[0] for draft in drafts)


async def test_the_typing_indicator_is_sent_again_before_it_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chat_action.SECONDS < 5, "Telegram removes the sign after this many seconds"
    monkeypatch.setattr(chat_action, "SECONDS", 0.01)
    messenger = FakeMessenger()
    async with preview(messenger, DM):
        signs = await until(messenger, "sendChatAction", 3)
    assert all(one == {"chat_id": 9, "action": "typing"} for one in signs)
    count = len(messenger.calls)
    await asyncio.sleep(0.05)
    assert len(messenger.calls) == count, "the typing indicator ends with the answer"
