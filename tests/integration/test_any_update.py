"""Checks that any update from Telegram is stored or ignored, and that the next message is answered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import structlog
from hypothesis import example, given
from telegram.error import TelegramError

from relay.clients.telegram.transport import AiohttpRequest
from relay.core.models import ModelRequest
from relay.surfaces.http.webhook import update_in
from tests.integration.conftest import Server
from tests.integration.inside import Inside, inside
from tests.strategies import examples
from tests.updates import ADA, BEN, GROUP, STRANGER, updates

Json = dict[str, Any]
FRIEND = 4242


def says_yes(request: ModelRequest) -> list[Json]:
    return [{"type": "text", "text": "Yes."}]


@pytest.fixture
async def relay(embedded: Server, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Inside]:
    monkeypatch.setattr("relay.surfaces.telegram.groups.group_join.SETTLE_SECONDS", 0)
    async with inside(embedded, says_yes, frozenset([ADA]), frozenset([BEN, FRIEND])) as running:
        for person in (ADA, BEN, STRANGER):
            running.tg.dm(running.tg.user(person, "Somebody"))
        running.tg.group(GROUP, "Friends", [ADA, BEN], forum=True)
        running.tg.group(-44, "Small", [ADA])
        yield running


def message(**more: Any) -> Json:
    private = {"id": ADA, "type": "private"}
    return {"message_id": 5, "date": 1, "chat": private, "from": {"id": ADA, "first_name": "Ada"}, "text": "hi", **more}


FORWARD = {"forward_origin": {"type": "hidden_user", "sender_user_name": "Eve"}}
PRESS = {"from": {"id": ADA}, "data": "ml:1:1"}
REACTION = {"chat": {"id": ADA, "type": "private"}, "user": {"id": ADA}, "old_reaction": [], "new_reaction": []}
ARRIVAL = {"chat": {"id": -44, "type": "group"}, "from": {"id": ADA}, "date": 1}


@examples(40)
@given(update=updates)
@example(update={"message": {key: value for key, value in message(**FORWARD).items() if key != "message_id"}})
@example(update={"message": message(message_id=2**63, **FORWARD)})
@example(update={"message": message(migrate_to_chat_id=-(2**70), chat={"id": -44, "type": "group"})})
@example(update={"message": "x", "edited_message": message()})
@example(update={"message": message(date=253_402_300_799)})  # 31 December 9999
@example(update={"edited_message": {key: value for key, value in message().items() if key != "date"}})
@example(update={"message_reaction": {**REACTION, "message_id": 5, "date": False}})
@example(update={"message_reaction": {**REACTION, "date": 1}})
@example(update={"my_chat_member": {**ARRIVAL, "old_chat_member": 5, "new_chat_member": {"status": "member"}}})
@example(update={"callback_query": {**PRESS, "message": message()}})
@example(update={"message": message(reply_to_message={"message_id": "x", "from": {"id": 77}, "text": "✎ soul #1"})})
@example(update={"message": message(text="nul \0 and half \ud800", caption=5)})
async def test_no_update_prevents_the_next_message_from_being_answered(relay: Inside, update: Json) -> None:
    friend = relay.tg.user(FRIEND, "Fay")
    with structlog.testing.capture_logs() as logs:
        number = relay.tg.queue.push(update)
        await relay.tg.say(relay.tg.dm(friend), friend, "Are you still there?")
        await relay.settled(20)
    if number % 500 == 0:  # the test server does neither by itself, and there are many examples
        await relay.sql("vacuum analyze")
    assert relay.tg.messages(FRIEND)[-1].text == "Yes."
    assert not [one for one in logs if one["event"] == "turn failed"]
    assert await relay.sql("select count(*) from inbox where update_id = %s", number) == [(1,)]


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000, b"9" * 10_000, b'{"update_id": true}', b"\xff"])
def test_an_invalid_update_is_rejected_by_webhook_and_polling(body: bytes) -> None:
    assert update_in(body) is None
    with pytest.raises(TelegramError):
        AiohttpRequest.parse_json_payload(body)
