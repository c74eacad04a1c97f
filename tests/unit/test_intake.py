"""During an outage of the database, only those who wait for an answer are told."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from relay.core.errors import DatabaseError, OtherVersion, SchemaError
from relay.core.retry import RetryPolicy
from relay.memory.people import People
from relay.memory.store import Store
from relay.surfaces.telegram.groups.groups import Groups
from relay.surfaces.telegram.incoming import intake, polling
from relay.surfaces.telegram.incoming.intake import OUTAGE, Intake
from relay.surfaces.telegram.parsing.updates import Bot
from relay.surfaces.telegram.turns.polling_lease import PollLease
from relay.surfaces.telegram.turns.worker import Worker
from tests.standins.fakes import FakeMessenger

ADA, STRANGER = 1001, 1009
BOT = Bot(77, "relay_bot")


class Away:
    """A store whose database is unavailable."""

    def __init__(self, error: DatabaseError) -> None:
        self.error = error

    async def intake(self, *given: Any) -> Any:
        raise self.error


def make_intake(messenger: FakeMessenger, error: DatabaseError) -> Intake:
    worker = SimpleNamespace(bot=BOT, free=1, running=[], connection=SimpleNamespace(groups=Groups(messenger, BOT.id)))
    return Intake(cast(Store, Away(error)), messenger, cast(Worker, worker), People(frozenset([ADA])))


def message(chat_id: int, text: str, user: int = ADA) -> dict[str, Any]:
    chat = {"id": chat_id, "type": "private" if chat_id > 0 else "supergroup"}
    return {"message_id": 5, "date": 1_700_000_000, "chat": chat, "from": {"id": user, "first_name": "A"}, "text": text}


async def test_in_groups_only_a_message_for_the_bot_is_told_that_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "OUTAGE_SECONDS", 0.0)
    messenger = FakeMessenger()
    intakes = make_intake(messenger, DatabaseError("away"))
    said = [message(-101, "shall we eat?"), message(-102, "@relay_bot, what is there to eat?"), message(ADA, "hello")]
    said += [message(-103, "@relay_bot hello", STRANGER), message(STRANGER, "hello", STRANGER)]
    updates = [{"update_id": number, "message": one} for number, one in enumerate(said, 1)]
    updates.append(
        {"update_id": 9, "edited_message": message(-104, "shall we eat now?") | {"edit_date": 1_700_000_001}}
    )
    with pytest.raises(DatabaseError):
        await intakes.take(updates)
    await asyncio.gather(*intakes._telling)
    told = [(given["chat_id"], given["text"]) for method, given in messenger.calls if method == "sendMessage"]
    assert sorted(told) == [(-102, OUTAGE), (ADA, OUTAGE)]


async def test_updates_wait_for_a_missing_function_only_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    intakes = make_intake(FakeMessenger(), SchemaError("no such function"))
    updates = [{"update_id": 1, "message": message(ADA, "hello")}]
    with pytest.raises(SchemaError, match="no such function"):
        await intakes.take(updates)
    monkeypatch.setattr(intake, "SCHEMA_SECONDS", 0.0)
    with pytest.raises(OtherVersion, match="no function relay_intake that fits this version of Relay"):
        await intakes.take(updates)


async def test_a_poll_answered_with_nonsense_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polling, "RETRIES", RetryPolicy(first=0, longest=0))
    again = asyncio.Event()

    class Broken:
        asked = 0

        async def call(self, method: str, **_: Any) -> Any:
            self.asked += 1
            if self.asked > 1:
                again.set()
                await asyncio.Event().wait()

    async def duty(*_: object) -> bool:
        return True

    store, nobody = SimpleNamespace(hold_duty=duty, free_duty=duty), cast(Any, None)
    one = polling.Polling(nobody, cast(Any, Broken()), cast(Store, store), nobody, BOT.id, PollLease())
    running = asyncio.create_task(one.run())
    try:
        async with asyncio.timeout(10):
            await again.wait()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert running.cancelled()
