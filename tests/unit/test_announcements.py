"""Announcements of what was learned after an answer: where they appear, and what happens if they cannot."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from relay.core.errors import (
    ChatGone,
    ChatMigrated,
    MessengerError,
    MessengerRefused,
    MessengerThrottled,
    MessengerUnavailable,
)
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.changes import MemoryChange
from relay.memory.rows.delivery import AnnouncedAnswer, Announcement, Part
from relay.memory.rows.turns.answer import Answer
from relay.surfaces.telegram.outgoing import insist
from relay.surfaces.telegram.turns.announcements import announce
from tests.standins.fakes import FakeMessenger

ADA, GROUP = 9, -5
CHANGE = MemoryChange(1, "learn", "applied", 3, "fact", "likes tea", subject="Ada")
REQUEST = {"chat_id": GROUP, "text": "Hi!"}
TOLD = Answer("Hi!")
DUE = Announcement(7, (1,), (CHANGE,), TOLD, True, GROUP, 4, True, ADA, AnnouncedAnswer(1, 40, REQUEST), REQUEST)
TURN = ClaimedTurn(8, 1, "control", "working", 0, ADA, (), ())


class FakeStore:
    """Records the outcome of an announcement."""

    def __init__(self, due: Announcement = DUE) -> None:
        self.due = due
        self.became: list[str] = []

    async def announcement(self, turn_id: int) -> Announcement:
        return self.due

    async def announce_anew(self, turn: ClaimedTurn, chat_id: int, request: Any, changes: Any) -> None:
        self.became.append(f"anew in {chat_id}")

    async def start_redrawing(self, bot_id: int, chat_id: int, message_id: int, request: Any) -> bool:
        return True

    async def record_announced(self, turn_id: int, seq: int | None, request: Any) -> None:
        self.became.append("told")


class Telegram(FakeMessenger):
    """Returns the group's number of members, or raises it if it is an error; raises `trouble` for other calls."""

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


async def told(store: FakeStore, messenger: Telegram) -> list[Part]:
    return await announce(store, messenger, 1, TURN, 7)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("members", "places", "became"),
    [
        (2, [("editMessageText", GROUP)], ["told"]),
        (3, [], [f"anew in {ADA}"]),
        (ChatGone("Forbidden: the bot was kicked"), [], [f"anew in {ADA}"]),
    ],
)
async def test_private_memories_are_not_announced_in_a_group_others_joined(
    members: int | MessengerError, places: list[tuple[str, int]], became: list[str]
) -> None:
    store, messenger = FakeStore(), Telegram(members)
    parts = await told(store, messenger)
    assert messenger.places == places
    assert store.became == became
    assert [part.chat_id for part in parts] == [ADA] * (not places)


async def test_memories_of_a_group_are_announced_in_the_group() -> None:
    store, messenger = FakeStore(replace(DUE, owner_id=None)), Telegram(30)
    assert await told(store, messenger) == []
    assert messenger.calls[0][0] == "editMessageText"
    assert store.became == ["told"]


@pytest.mark.parametrize("trouble", [MessengerThrottled(0), MessengerUnavailable("Telegram is away.")])
async def test_announcing_is_retried_while_telegram_is_away(
    trouble: MessengerError, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(insist.RetryPauses, "next_pause", lambda self, error: 0.0)
    store, messenger = FakeStore(), Telegram(trouble=trouble)
    announcing = asyncio.create_task(told(store, messenger))
    for _ in range(100):
        await asyncio.sleep(0)
    assert len(messenger.places) > 2
    assert store.became == []
    messenger.trouble = None
    assert await announcing == []
    assert store.became == ["told"]


async def test_an_answer_that_cannot_be_edited_gets_a_separate_message() -> None:
    store, messenger = FakeStore(), Telegram(trouble=MessengerRefused("Bad Request: message can't be edited"))
    (part,) = await told(store, messenger)
    assert (part.chat_id, part.request["message_thread_id"]) == (GROUP, 4)
    assert part.request["text"] == "🧠 Learned: likes tea"
    assert store.became == [f"anew in {GROUP}"]


async def test_an_announcement_follows_a_group_that_has_just_become_a_supergroup() -> None:
    store, messenger = FakeStore(replace(DUE, owner_id=None)), Telegram(30, ChatMigrated(-1_000_000_000_005))
    (part,) = await told(store, messenger)
    assert part.request["text"] == "🧠 Learned: likes tea"
    assert store.became == [f"anew in {GROUP}"], "delivery sends it to the new chat"


async def test_an_answer_changed_by_an_erasure_still_gets_its_announcement() -> None:
    store, messenger = FakeStore(replace(DUE, told=None)), Telegram()
    await told(store, messenger)
    assert messenger.calls[-1][1]["text"] == "Hi!\n\n🧠 Learned: likes tea"
    assert store.became == ["told"]


async def test_changes_that_are_open_stay_open_below_the_line() -> None:
    telegram, earlier = Telegram(), replace(CHANGE, id=2, content="lives in Bern")
    rows = [
        [{"text": "↩ Undo: lives in Bern", "callback_data": "d:2:u"}],
        [{"text": "‹ Close", "callback_data": "c:7"}],
    ]
    before = {"chat_id": GROUP, "text": "Hi!\n\n🧠 Learned: lives in Bern"}
    assert DUE.shown is not None
    shown = replace(DUE.shown, request=before | {"reply_markup": {"inline_keyboard": rows}})
    await told(FakeStore(replace(DUE, changes=(earlier, CHANGE), before=before, shown=shown)), telegram)
    (edit,) = [given for name, given in telegram.calls if name == "editMessageText"]
    labels = [one["text"] for row in edit["reply_markup"]["inline_keyboard"] for one in row]
    assert labels == ["↩ Undo: lives in Bern", "✎ Edit", "↩ Undo: likes tea", "✎ Edit", "‹ Close"]


async def test_the_button_goes_with_the_line_that_was_withdrawn() -> None:
    telegram = Telegram()
    shown = DUE.shown
    assert shown is not None
    withdrawn = replace(DUE, tells=(), changes=(replace(CHANGE, status="undone"),), keeps=False)
    await told(FakeStore(withdrawn), telegram)
    (edit,) = [given for name, given in telegram.calls if name == "editMessageText"]
    assert edit["text"] == "Hi!"
    assert "Undo" not in str(edit["reply_markup"])
    said = {"chat_id": GROUP, "text": "Hi!\n\n🧠 Learned: likes tea"}
    kept = replace(withdrawn, before=said, shown=replace(shown, request=said))
    await told(FakeStore(kept), telegram)
    assert "Undo" in str(telegram.calls[-1][1]["reply_markup"]), "a line that stays keeps its button"
