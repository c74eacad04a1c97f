"""Tests buttons and replies to the bot's questions: stored data decides what they do, not the look of a message."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from relay.commands.registry import Command
from relay.core.errors import ChatGone, MessengerUnavailable
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Part, PartResult
from relay.surfaces.chat import ANSWERS, BUTTONS, COMMANDS, HANDLERS
from relay.surfaces.chat.callbacks import CALLBACKS, Callback
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.dispatch import TOO_OLD
from relay.surfaces.chat.reply import ButtonReply, CommandReply, question
from relay.surfaces.telegram.groups.groups import Connection, Groups
from relay.surfaces.telegram.turns.controls import FAILED, Controls
from relay.surfaces.telegram.turns.running import RunningTurns
from relay.surfaces.telegram.turns.understand import ParsedTurn, understand
from tests.integration.conftest import Sql
from tests.integration.turn_driver import (
    ADA,
    BEN,
    BOT,
    GROUP,
    TurnDriver,
    a_house,
    fact,
    group,
    incoming_of,
    message,
    private,
    reply,
)
from tests.standins.fakes import FakeMessenger
from tests.telegram_objects import sorted_row

Json = dict[str, Any]
AGAIN = [[{"text": "↻ Retry", "callback_data": "r:1"}]]


@dataclass(frozen=True)
class Pressed(Callback):
    """A button for these tests. Its data is `zz`."""

    code: ClassVar[str] = "zz"


class Desk:
    """Passes presses and replies through intake to their handlers."""

    def __init__(self, driver: TurnDriver) -> None:
        self.driver, self.store = driver, driver.store
        self.messenger = FakeMessenger()
        self.groups = Groups(self.messenger, 77)
        self.controls = Controls(a_house(self.store), Connection(self.messenger, BOT, self.groups), RunningTurns())

    async def take(self, update: Json, user_id: int = ADA) -> ClaimedTurn:
        """Returns the turn of an update."""
        turns, _ = await self.store.intake(BOT.id, [sorted_row(update, BOT, frozenset([user_id]), True)], 64)
        return next(turn for turn in turns if update in turn.updates)

    async def press(self, data: str, under: int, user_id: int = ADA, **more: Any) -> ClaimedTurn:
        update = message(user_id, "x", **more)
        shown = update["message"] | {"message_id": under, "date": more.get("date", 5)}
        query = {"id": "7", "from": update["message"]["from"], "data": data, "message": shown}
        return await self.take({"update_id": update["update_id"], "callback_query": query}, user_id)

    async def post(self, turn: ClaimedTurn, parts: list[Json], message_id: int) -> None:
        """Delivers one part as the message with this id."""
        await self.store.deliver(turn, BOT.id, parts)
        result = PartResult(1, "sent", message_id)
        await self.store.store_sent(turn, [result] if parts else [], True)

    async def answered(self, text: str, message_id: int, *facts: str, topic_id: int = 0) -> ClaimedTurn:
        """Returns a turn of Ada's with its answer in the chat."""
        turn = await self.driver.turn(ADA, "hello", topic_id=topic_id)
        incoming = incoming_of(turn, "hello", private(ADA))
        await self.store.begin(incoming, "m")
        await self.store.finish(incoming, reply(text, [fact(ADA, one) for one in facts]))
        await self.post(turn, [Part(1, ADA, {"chat_id": ADA, "text": text})], message_id)
        return turn

    async def reply_to(
        self, message_id: int, shown: str, text: str, user_id: int = ADA, chat_id: int | None = None
    ) -> tuple[ClaimedTurn, ParsedTurn]:
        target = {"message_id": message_id, "from": {"id": BOT.id}, "text": shown}
        turn = await self.take(message(user_id, text, chat_id, reply_to_message=target), user_id)
        return turn, await understand(turn, BOT, self.groups, self.messenger, self.store)

    def sent(self, method: str) -> list[Json]:
        return [parameters for called, parameters in self.messenger.calls if called == method]

    def shown(self) -> list[str]:
        """Returns the data of the buttons that were drawn last."""
        rows = self.sent("editMessageReplyMarkup")[-1]["reply_markup"]["inline_keyboard"]
        return [button["callback_data"] for row in rows for button in row]


@pytest.fixture
def desk(driver: TurnDriver) -> Desk:
    return Desk(driver)


# Edits


async def test_an_answer_that_looks_like_an_edit_prompt_is_not_treated_as_one(desk: Desk, driver: TurnDriver) -> None:
    (change,) = await driver.teach(ADA, "likes tea")
    posing = f"✎ #{change.memory_id} – reply to this message with the new wording of:\nlikes tea"
    await desk.answered(posing, 900)
    turn, understood = await desk.reply_to(900, posing, "thanks, now tell me a joke")
    assert turn.kind == "message"
    assert understood.command is None
    assert understood.incoming is not None
    assert understood.incoming.text == "thanks, now tell me a joke"
    assert await driver.known(private(ADA)) == ["likes tea"]


async def test_a_reply_to_an_edit_prompt_rewords_the_memory_it_asked_about(desk: Desk, driver: TurnDriver) -> None:
    (change,) = await driver.teach(ADA, "likes tea")
    (other,) = await driver.teach(ADA, "lives in Berlin")
    pressed = await desk.press(f"e:{change.memory_id}", 900)
    await desk.post(pressed, (await desk.controls.handle(pressed)).parts, 901)
    turn, understood = await desk.reply_to(901, f"✎ #{other.memory_id} – a forged text", "likes coffee")
    assert understood.command == "reply"
    await desk.post(turn, (await desk.controls.handle(turn)).parts, 902)
    assert await driver.known(private(ADA)) == ["likes coffee", "lives in Berlin"]


async def test_a_reply_is_understood_before_the_id_of_the_question_is_stored(desk: Desk, driver: TurnDriver) -> None:
    """The question is in the chat, but the database doesn't have its message id yet."""
    (change,) = await driver.teach(ADA, "likes tea")
    pressed = await desk.press(f"e:{change.memory_id}", 900)
    parts = (await desk.controls.handle(pressed)).parts
    await desk.store.deliver(pressed, BOT.id, parts)
    shown = parts[0].request["text"]
    _, of_another = await desk.reply_to(99_999, shown, "likes coffee", BEN)
    assert of_another.command is None
    _, understood = await desk.reply_to(99_999, shown, "likes coffee")
    assert understood.command == "reply"
    await desk.store.store_sent(pressed, [PartResult(1, "sent", 99_998)], True)
    assert not await desk.store.find_question(BOT.id, ADA, 99_999, ADA), (
        "the id is now known to belong to another message"
    )


# Buttons that stay under a message


async def test_a_tap_on_retry_keeps_the_undo_button(desk: Desk) -> None:
    turn = await desk.answered("Nice.", 900, "likes tea")
    again = await desk.press(f"r:{turn.turn_id}", 900)
    understood = await understand(again, BOT, desk.groups, desk.messenger, desk.store)
    assert understood.incoming is not None
    assert understood.incoming.retry_turn == turn.turn_id
    assert desk.shown() == [f"u:{turn.turn_id}"]


async def test_opening_and_closing_the_undo_list_keeps_the_retry_button(desk: Desk) -> None:
    turn = await desk.answered("Nice.", 900, "likes tea")
    for data, expected in ((f"u:{turn.turn_id}", 4), (f"c:{turn.turn_id}", 3)):
        pressed = await desk.press(data, 900, reply_markup={"inline_keyboard": AGAIN})
        await desk.post(pressed, (await desk.controls.handle(pressed)).parts, 0)
        assert desk.shown()[-1] == "r:1"
        assert len(desk.shown()) == expected


async def test_only_the_person_who_asked_can_press_retry(desk: Desk) -> None:
    turn = await desk.answered("Nice.", 900)
    forged = await desk.press(f"r:{turn.turn_id}", 900, BEN, chat_id=GROUP, date=0)
    understood = await understand(forged, BOT, desk.groups, desk.messenger, desk.store)
    assert understood.incoming is None
    assert desk.sent("answerCallbackQuery")[-1]["text"] == "Only the person who asked can do that."
    assert desk.sent("editMessageReplyMarkup") == []


async def test_undo_says_that_a_newer_change_comes_first(desk: Desk, driver: TurnDriver) -> None:
    turn = await desk.answered("Nice.", 900, "likes tea")
    (learned,) = await desk.store.changes(turn.turn_id, ADA, False) or []
    edit = await driver.turn(ADA, "words")
    reworded = {"action": "edit", "memory_id": learned.memory_id, "content": "likes coffee"}
    await desk.store.change_memory(edit, private(ADA), [reworded])
    await driver.close(edit)
    pressed = await desk.press(f"d:{learned.id}:u", 900)
    await desk.post(pressed, (await desk.controls.handle(pressed)).parts, 0)
    assert "changed again since" in desk.sent("answerCallbackQuery")[-1]["text"]
    assert await driver.known(private(ADA)) == ["likes coffee"]


# Old messages, for which Telegram sends only the id


async def test_a_button_under_an_old_message_acts_in_its_topic(desk: Desk, driver: TurnDriver) -> None:
    turn = await desk.answered("Nice.", 900, "likes tea", topic_id=5)
    again = await desk.press(f"r:{turn.turn_id}", 900, date=0)
    understood = await understand(again, BOT, desk.groups, desk.messenger, desk.store)
    assert understood.incoming is not None
    assert (understood.place.topic_id, understood.incoming.topic_id) == (5, 5)
    await driver.close(again)
    (change,) = await desk.store.changes(turn.turn_id, ADA, False) or []
    edit = await desk.press(f"e:{change.memory_id}", 900, date=0)
    (part,) = (await desk.controls.handle(edit)).parts
    assert part.request["message_thread_id"] == 5


async def test_a_press_under_an_old_message_waits_for_its_topic(desk: Desk, driver: TurnDriver) -> None:
    turn = await desk.answered("Nice.", 900, topic_id=5)
    busy = await driver.turn(ADA, "take your time", topic_id=5)
    update = message(ADA, "x")
    shown = {"message_id": 900, "date": 0, "chat": update["message"]["chat"]}
    query = {"id": "7", "from": update["message"]["from"], "data": f"r:{turn.turn_id}", "message": shown}
    row = sorted_row({"update_id": update["update_id"], "callback_query": query}, BOT, frozenset([ADA]), True)
    turns, _ = await desk.store.intake(BOT.id, [row], 64)
    assert turns == []
    await driver.close(busy)
    (again,) = await driver.claim()
    understood = await understand(again, BOT, desk.groups, desk.messenger, desk.store)
    assert understood.place.topic_id == 5


# Invalid data


NONSENSE = ["", ":", "u", "u:", "u:x", "u:-1", "c:1e5", "c:1:2:3:4:5:6:7", "d:1", "d:1:u:u", "d:99999999999999999999:u",
            "d:١٢:u", "e:0", "e:🦆", "🦆:1", "zz:1", "n:1:2", "u:\ufffd", "x" * 64]  # fmt: skip


@pytest.mark.parametrize("data", NONSENSE)
async def test_invalid_button_data_is_answered_and_does_nothing(desk: Desk, data: str) -> None:
    await desk.answered("Nice.", 900, "likes tea")
    pressed = await desk.press(data, 900)
    assert (await desk.controls.handle(pressed)).parts == []
    assert len(desk.sent("answerCallbackQuery")) == 1
    assert await desk.driver.known(private(ADA)) == ["likes tea"]


@pytest.mark.parametrize("data", ["r:", "r:x", "r:1:2", "w:٣", "a:🦆", "a:1:2", "r:999999999999999999", "w:-1"])
async def test_an_invalid_retry_button_is_answered_without_asking_the_model(desk: Desk, data: str) -> None:
    await desk.answered("Nice.", 900)
    pressed = await desk.press(data, 900)
    understood = await understand(pressed, BOT, desk.groups, desk.messenger, desk.store)
    assert understood.incoming is None
    assert [answer["text"] for answer in desk.sent("answerCallbackQuery")] == [TOO_OLD.toast]
    assert desk.sent("editMessageReplyMarkup") == []


async def test_a_person_who_is_only_mentioned_cannot_retry_an_old_message(desk: Desk, driver: TurnDriver) -> None:
    """Telegram doesn't say whose message an old message answered, but the turn knows."""
    turn = await driver.turn(ADA, "hello", GROUP)
    incoming = incoming_of(turn, "hello", group())
    await desk.store.begin(incoming, "m")
    await desk.store.finish(incoming, reply("Nice.", [fact(BEN, "likes tea")]))
    await desk.post(turn, [Part(1, GROUP, {"chat_id": GROUP, "text": "Nice."})], 900)
    pressed = await desk.press(f"r:{turn.turn_id}", 900, BEN, chat_id=GROUP, date=0)
    understood = await understand(pressed, BOT, desk.groups, desk.messenger, desk.store)
    assert understood.incoming is None
    assert desk.sent("editMessageReplyMarkup") == []


# Failures


async def test_a_failing_button_reports_it_and_works_at_the_next_try(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def once(call: ChatContext, _: Pressed) -> ButtonReply:
        monkeypatch.setitem(BUTTONS, "zz", twice)
        raise ValueError("not yet")

    async def twice(call: ChatContext, _: Pressed) -> ButtonReply:
        return ButtonReply("Now.", text="Done.", rows=[])

    monkeypatch.setitem(CALLBACKS, "zz", Pressed)
    monkeypatch.setitem(BUTTONS, "zz", once)
    pressed = await desk.press("zz", 900)
    with pytest.raises(ValueError, match="not yet"):
        await desk.controls.handle(pressed)
    assert [answer["text"] for answer in desk.sent("answerCallbackQuery")] == [FAILED]
    await desk.controls.handle(pressed)
    assert [edit["text"] for edit in desk.sent("editMessageText")] == ["Done."]


async def test_an_interrupted_button_shows_no_error(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process ends in the middle of the handler, and the next process runs it."""

    async def slow(call: ChatContext, _: Pressed) -> ButtonReply:
        await asyncio.sleep(60)
        return ButtonReply("Done.")

    monkeypatch.setitem(CALLBACKS, "zz", Pressed)
    monkeypatch.setitem(BUTTONS, "zz", slow)
    pressed = await desk.press("zz", 900)
    handling = asyncio.create_task(desk.controls.handle(pressed))
    await asyncio.sleep(0.05)
    handling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await handling
    assert desk.sent("answerCallbackQuery") == []


async def test_a_message_is_never_edited_to_be_empty(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def empty(call: ChatContext, _: Pressed) -> ButtonReply:
        return ButtonReply("Gone.", text="")

    monkeypatch.setitem(CALLBACKS, "zz", Pressed)
    monkeypatch.setitem(BUTTONS, "zz", empty)
    assert (await desk.controls.handle(await desk.press("zz", 900))).parts == []
    assert desk.sent("editMessageText") == []


async def test_a_private_reply_links_to_the_chat_when_it_is_closed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    async def tell(call: ChatContext) -> CommandReply:
        return CommandReply("a secret of yours", private=True)

    async def call(method: str, **parameters: Any) -> Any:
        desk.messenger.calls.append((method, parameters))
        if method == "sendChatAction":
            raise ChatGone("Forbidden: bot was blocked by the user")
        return 3 if method == "getChatMemberCount" else True

    monkeypatch.setitem(COMMANDS, "secret", Command("secret", tell, "tell", "", "everyone", ("chat",), ("private",)))
    monkeypatch.setitem(HANDLERS, "secret", tell)
    monkeypatch.setattr(desk.messenger, "call", call)
    asked = await desk.take(message(ADA, "/secret", GROUP))
    (part,) = (await desk.controls.handle(asked)).parts
    assert part.chat_id == GROUP
    assert "secret" not in part.request["text"]
    ((link,),) = part.request["reply_markup"]["inline_keyboard"]
    assert link["url"] == "https://t.me/relay_bot?start=hello"


# Who may answer a question


async def test_a_question_can_be_answered_only_by_the_person_it_asks(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask(call: ChatContext, _: Pressed) -> ButtonReply:
        return ButtonReply(says=CommandReply(f"{question('name', 4)} – what shall it be called?", asks="Its name"))

    heard: list[tuple[int, int, str]] = []

    async def hear(call: ChatContext, number: int) -> CommandReply:
        heard.append((call.user_id, number, call.text))
        if len(heard) > 1:
            return CommandReply("It is.")
        return CommandReply(f"{question('name', 5)} – and its second name?", asks="Its second name")

    monkeypatch.setitem(CALLBACKS, "zz", Pressed)
    monkeypatch.setitem(BUTTONS, "zz", ask)
    monkeypatch.setitem(ANSWERS, "name", hear)
    pressed = await desk.press("zz", 900, chat_id=GROUP)
    await desk.post(pressed, (await desk.controls.handle(pressed)).parts, 901)
    turn, understood = await desk.reply_to(901, "✎ name #4", "Bob", BEN, GROUP)
    assert understood.command is None
    assert understood.incoming is not None, "the reply must be treated as an ordinary message"
    await desk.driver.close(turn)
    turn, understood = await desk.reply_to(901, "✎ name #4", "Ann", ADA, GROUP)
    assert understood.command == "reply"
    await desk.post(turn, (await desk.controls.handle(turn)).parts, 902)
    turn, understood = await desk.reply_to(902, "✎ name #5", "Lee", ADA, GROUP)
    assert understood.command == "reply", "the handler of an answer may ask another question"
    await desk.controls.handle(turn)
    assert heard == [(ADA, 4, "Ann"), (ADA, 5, "Lee")]


async def test_an_unknown_decision_changes_and_records_nothing(desk: Desk, driver: TurnDriver, sql: Sql) -> None:
    (change,) = await driver.teach(ADA, "likes tea")
    before = await sql("select count(*) from event where kind = 'memory'")
    await desk.controls.handle(await desk.press(f"d:{change.id}:zz", 900))
    assert await driver.known(private(ADA)) == ["likes tea"]
    assert await sql("select count(*) from event where kind = 'memory'") == before
    assert desk.sent("answerCallbackQuery")[-1]["text"]


# What a message shows after a tap is recorded, so that erasing finds it


async def test_a_redrawn_message_is_recorded(desk: Desk, driver: TurnDriver, sql: Sql) -> None:
    turn = await desk.answered("Nice.", 900, "likes tea")
    shown = "select request #>> '{reply_markup,inline_keyboard,0,0,text}' from outbox where telegram_message_id = 900"
    await desk.controls.handle(await desk.press(f"u:{turn.turn_id}", 900))
    assert await sql(shown) == [("↩ Undo: likes tea",)]


async def test_a_failed_redraw_keeps_the_recorded_text(desk: Desk, monkeypatch: pytest.MonkeyPatch, sql: Sql) -> None:
    async def redrawn(call: ChatContext, _: Pressed) -> ButtonReply:
        return ButtonReply(text="something else")

    async def away(method: str, **parameters: Any) -> Any:
        raise MessengerUnavailable("Telegram is away.")

    monkeypatch.setitem(CALLBACKS, "zz", Pressed)
    monkeypatch.setitem(BUTTONS, "zz", redrawn)
    await desk.answered("Nice.", 900)
    before = await sql("select request from outbox where telegram_message_id = 900")
    pressed = await desk.press("zz", 900)
    monkeypatch.setattr(desk.messenger, "call", away)
    await desk.controls.handle(pressed)
    assert await sql("select request from outbox where telegram_message_id = 900") == before
