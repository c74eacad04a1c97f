"""What was learned after an answer: where it is told, and what becomes of it when it cannot be."""

from __future__ import annotations

from typing import Any

import pytest
import structlog

from relay.clients.fakes import FakeMessenger
from relay.core.errors import ChatGone, DeliveryUncertain, MessengerError, MessengerThrottled, MessengerUnavailable
from relay.surfaces.telegram.turns import announcements
from relay.surfaces.telegram.turns.announcements import Teller, tell, tell_anew

ADA, GROUP = 9, -5
CHANGE = {"id": 1, "action": "learn", "status": "applied", "content": "likes tea", "memory_id": 3, "kind": "fact",
          "subject": "Ada", "tainted": False, "replaced": None}  # fmt: skip
SHOWN = {"seq": 1, "message_id": 40, "request": {"chat_id": GROUP, "text": "Hi!"}}
TOLD = {"text": "Hi!", "changes": [], "failed": [], "tools": [], "note": "", "retry": False, "web": False}
DUE = {"turn_id": 7, "chat_id": GROUP, "topic_id": 4, "private": True, "owner_id": ADA, "failures": 0, "tells": [1],
       "changes": [CHANGE], "keeps": True, "told": TOLD, "shown": SHOWN, "before": SHOWN["request"]}  # fmt: skip


class Kept:
    """Notes what becomes of an announcement."""

    def __init__(self) -> None:
        self.became: list[str] = []

    async def announce_anew(self, turn_id: int, request: Any) -> bool:
        self.became.append("anew")
        return True

    async def announced(self, turn_id: int, seq: int | None, request: Any) -> None:
        self.became.append("told")

    async def announced_anew(self, turn_id: int, chat_id: int, telegram_message_id: int) -> None:
        self.became.append(f"told in {chat_id}")

    async def put_off_announcement(self, turn_id: int, retry_seconds: float) -> None:
        self.became.append("put off")


class Telegram(FakeMessenger):
    """Tells how many are in the group (an error: does not), and fails with what it is given otherwise."""

    def __init__(self, members: int | MessengerError = 2, trouble: MessengerError | None = None) -> None:
        super().__init__()
        self.members = members
        self.trouble = trouble

    async def call(self, method: str, **parameters: Any) -> Any:
        done = await super().call(method, **parameters)
        if method == "getChatMemberCount":
            if isinstance(self.members, MessengerError):
                raise self.members
            return self.members
        if method == "getChat":
            return {"id": GROUP}
        if method == "getChatMember":
            return {"status": "administrator" if parameters["user_id"] == 1 else "creator"}
        if self.trouble:
            raise self.trouble
        return done

    @property
    def places(self) -> list[tuple[str, int]]:
        return [(name, given["chat_id"]) for name, given in self.calls if not name.startswith("getChat")]


@pytest.mark.parametrize(
    ("members", "places", "became"),
    [
        (2, [("editMessageText", GROUP)], ["told"]),
        (3, [("sendMessage", ADA)], ["anew", f"told in {ADA}"]),
        (ChatGone("Forbidden: the bot was kicked"), [("sendMessage", ADA)], ["anew", f"told in {ADA}"]),
        (MessengerUnavailable("Telegram is away."), [], ["put off"]),
    ],
)
async def test_in_a_group_that_others_have_joined_since_nothing_of_ones_own_is_told(
    members: int | MessengerError, places: list[tuple[str, int]], became: list[str]
) -> None:
    store, messenger = Kept(), Telegram(members)
    await tell(Teller(store, messenger, 1), DUE)  # type: ignore[arg-type]
    assert messenger.places == places
    assert store.became == became


async def test_what_a_group_learned_is_told_among_those_it_belongs_to() -> None:
    store, messenger = Kept(), Telegram(30)
    await tell(Teller(store, messenger, 1), {**DUE, "owner_id": None})  # type: ignore[arg-type]
    assert messenger.calls[0][0] == "editMessageText"
    assert store.became == ["told"]


@pytest.mark.parametrize("trouble", [MessengerThrottled(0), MessengerUnavailable("Telegram is away.")])
async def test_a_message_that_was_certainly_not_sent_is_sent_later(trouble: MessengerError) -> None:
    store = Kept()
    await tell_anew(Teller(store, Telegram(trouble=trouble), 1), DUE)  # type: ignore[arg-type]
    assert store.became == ["anew", "put off"]


async def test_one_that_may_be_there_is_not_sent_again_and_stands_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announcements, "log", structlog.get_logger())
    store, messenger = Kept(), Telegram(trouble=DeliveryUncertain("It may be there."))
    with structlog.testing.capture_logs() as logs:
        await tell_anew(Teller(store, messenger, 1), DUE)  # type: ignore[arg-type]
    assert store.became == ["anew"]
    assert [(one["event"], one["error"]) for one in logs] == [
        ("what was learned could not be told", "It may be there.")
    ]


async def test_what_is_learned_is_told_under_an_answer_that_an_erasure_has_touched() -> None:
    store, messenger = Kept(), Telegram()
    await tell(Teller(store, messenger, 1), {**DUE, "told": None})  # type: ignore[arg-type]
    assert messenger.calls[-1][1]["text"] == "Hi!\n\n🧠 Learned: likes tea"
    assert store.became == ["told"]
