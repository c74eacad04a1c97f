"""Tests delivery with a messenger that misbehaves: nothing is lost, nothing is sent twice, and nothing hangs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from relay.core.errors import (
    ChatGone,
    ChatMigrated,
    DeliveryUncertain,
    MessengerRefused,
    MessengerThrottled,
    PollConflict,
    TokenRefused,
)
from relay.core.models import Space
from relay.core.retry import RetryPolicy
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Delivered, Part, PartResult
from relay.memory.store import Store
from relay.surfaces.telegram.outgoing import insist, sender
from relay.surfaces.telegram.outgoing.delivery import Delivery
from relay.surfaces.telegram.outgoing.delivery_recovery import probe
from relay.surfaces.telegram.outgoing.requests import plainer
from tests.integration.conftest import Sql
from tests.integration.turn_driver import (
    ADA,
    BOT,
    FINISHED,
    GROUP,
    POSTED,
    TurnDriver,
    fact,
    incoming_of,
    message,
    private,
    reply,
    send_queued,
)

Json = dict[str, Any]
SMALL = -4242
BOLD = [{"type": "bold", "offset": 0, "length": 3}]
LOST = object()
"""A fault: the call is carried out, but its response is lost."""
NO_MESSAGE = MessengerRefused("Bad Request: message to edit not found")


class Server:
    """A Telegram that stores messages. `faults` gives the faults of a method's next calls, in order."""

    def __init__(self, first_id: int = 20_000) -> None:
        self.faults: dict[str, list[Any]] = {}
        self.calls: list[tuple[str, Json]] = []
        self.messages: dict[tuple[int, int], Json] = {}
        self.migrated: dict[int, int] = {}
        self.strict = False
        """Only accepts plain text."""
        self.stops: dict[str, asyncio.Event] = {}
        """Events that are set soon after a text is sent."""
        self._next_id = first_id

    async def call(self, method: str, **given: Any) -> Any:
        """See `ports.Messenger.call`."""
        await asyncio.sleep(0)
        self.calls.append((method, given))
        if given.get("text") in self.stops:
            asyncio.get_running_loop().call_soon(self.stops[given["text"]].set)
        orders = self.faults.get(method, [])
        fault = orders.pop(0) if orders else None
        if isinstance(fault, Exception):
            raise fault
        if fault is not None and fault is not LOST:
            return fault
        if given["chat_id"] in self.migrated:
            raise ChatMigrated(self.migrated[given["chat_id"]])
        result = self._carry_out(method, given)
        if fault is LOST:
            raise DeliveryUncertain
        return result

    def _carry_out(self, method: str, given: Json) -> Any:
        if self.strict and set(given) - {"chat_id", "message_id", "message_thread_id", "text"}:
            raise MessengerRefused("Bad Request: something is wrong with it")
        if method == "sendMessage":
            self._next_id += 1
            topic = {"is_topic_message": True} if given.get("message_thread_id") else {}
            self.messages[given["chat_id"], self._next_id] = {"message_id": self._next_id, **given, **topic}
            return self.messages[given["chat_id"], self._next_id]
        found = self.messages.get((given["chat_id"], given["message_id"]))
        if found is None:
            raise NO_MESSAGE
        if method == "deleteMessage":
            return bool(self.messages.pop((given["chat_id"], given["message_id"])))
        given.setdefault("reply_markup", None)  # an edit without buttons removes them
        if all(found.get(key) == value for key, value in given.items()):
            raise MessengerRefused("Bad Request: message is not modified")
        found.update(given)
        return found

    def texts(self, chat_id: int = ADA) -> list[str]:
        return [sent["text"] for (chat, _), sent in self.messages.items() if chat == chat_id]

    def made(self, method: str) -> list[Json]:
        return [given for name, given in self.calls if name == method]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "SETTLE_SECONDS", 0.01)
    monkeypatch.setattr(insist, "REFUSED_SECONDS", 0.01)
    monkeypatch.setattr(insist, "RETRIES", RetryPolicy(first=0.01, longest=0.01))


@pytest.fixture
def tg() -> Server:
    return Server()


def parts(*texts: str, chat_id: int = ADA, **more: Any) -> list[Json]:
    request = {"chat_id": chat_id, "entities": BOLD, "disable_notification": True, **more}
    return [Part(seq, chat_id, {**request, "text": text}) for seq, text in enumerate(texts, 1)]


async def answered(driver: TurnDriver, chat_id: int | None = None) -> ClaimedTurn:
    done = await driver.exchange(ADA, "hello", "Hi!", chat_id=chat_id, close=False)
    return done.turn


async def deliver(
    store: Store, tg: Server, turn: ClaimedTurn, given: Sequence[Json], stop: asyncio.Event | None = None
) -> Delivered:
    async with asyncio.timeout(10):
        return await Delivery(sender.Sender(store, tg, BOT.id)).deliver(turn, list(given), stop)


async def states(sql: Sql) -> list[tuple[str, str | None]]:
    return [(row[0], row[1]) for row in await sql("select status, error from outbox order by seq")]


async def retaken(driver: TurnDriver, store: Store) -> ClaimedTurn:
    """Returns the turn as it is claimed after its worker has died."""
    await store.release()
    (taken,) = await driver.claim()
    return taken


@pytest.mark.parametrize("error", [TokenRefused(), TokenRefused(absent=True), PollConflict()])
async def test_a_temporarily_refused_token_loses_no_answer(
    driver: TurnDriver, store: Store, sql: Sql, tg: Server, error: Exception
) -> None:
    tg.faults["sendMessage"] = [error, error]
    assert (await deliver(store, tg, await answered(driver), parts("one", "two"))).refused == ""
    assert tg.texts() == ["one", "two"]
    assert await states(sql) == [("sent", None)] * 2


@pytest.mark.parametrize(
    "answer",
    [
        TokenRefused(absent=True),
        True,
        MessengerRefused("Bad Request: what is that?"),
        ChatGone("Forbidden: no"),
        {"message_id": 1},
    ],
)
async def test_an_inconclusive_probe_does_not_count_as_finding_the_part(
    driver: TurnDriver, store: Store, tg: Server, answer: Any
) -> None:
    tg.faults["sendMessage"] = [DeliveryUncertain()]
    tg.faults["editMessageReplyMarkup"] = tg.faults["editMessageText"] = [answer] * 200
    await deliver(store, tg, await answered(driver), parts("one"))
    assert tg.texts() == ["one"]


async def test_a_part_whose_response_was_lost_is_found_by_its_text(
    driver: TurnDriver, store: Store, tg: Server
) -> None:
    tg.faults["sendMessage"] = [LOST]
    turn = await answered(driver)
    tg._next_id = 10_000 + int(turn.updates[0]["update_id"])
    tg.messages[ADA, tg._next_id + 2] = {"message_id": tg._next_id + 2, "text": "another of ours"}
    await deliver(store, tg, turn, parts("one"))
    assert sorted(tg.texts()) == ["another of ours", "one"]
    assert not any(sent.get("reply_markup") for sent in tg.messages.values())


async def test_a_part_is_found_behind_hundreds_of_later_messages(
    driver: TurnDriver, store: Store, sql: Sql, tg: Server
) -> None:
    turn = await answered(driver)
    (row,) = await store.deliver(turn, BOT.id, parts("one"))
    floor = row.floor_message_id
    tg._next_id = floor + 400
    await tg.call("sendMessage", **row.request)
    others = "insert into posted (bot_id, chat_id, telegram_message_id, from_bot) select %s, 1002, n, false"
    await sql(f"{others} from generate_series(%s::bigint, %s) n", BOT.id, floor + 1, floor + 400)
    await deliver(store, tg, await retaken(driver, store), parts("one"))
    assert tg.texts() == ["one"]
    assert len(tg.made("editMessageReplyMarkup")) <= 30


async def test_the_button_of_an_interrupted_probe_does_not_count_as_a_find(
    driver: TurnDriver, store: Store, tg: Server
) -> None:
    """Our button on a message shows that we probed it, not that it is the part."""
    turn = await answered(driver)
    (row,) = await store.deliver(turn, BOT.id, parts("one"))
    number = row.floor_message_id + 1
    tg.messages[ADA, number] = {
        "chat_id": ADA,
        "message_id": number,
        "text": "another of ours",
        "reply_markup": probe(row.id),
    }
    await deliver(store, tg, await retaken(driver, store), parts("one"))
    assert tg.texts() == ["another of ours", "one"]


async def test_a_message_sent_while_a_part_is_looked_for_keeps_its_buttons(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn = await answered(driver)
    (row,) = await store.deliver(turn, BOT.id, parts("one"))
    number, menu = row.floor_message_id + 2, {"inline_keyboard": [[{"text": "Open", "callback_data": "ml:0"}]]}

    class Meanwhile(Server):
        async def call(self, method: str, **given: Any) -> Any:
            if (ADA, number) not in self.messages:
                self.messages[ADA, number] = {"chat_id": ADA, "message_id": number, "text": "m", "reply_markup": menu}
                await sql(POSTED, BOT.id, ADA, number)
            return await super().call(method, **given)

    tg = Meanwhile()
    await deliver(store, tg, await retaken(driver, store), parts("one"))
    assert tg.texts() == ["m", "one"]
    assert tg.messages[ADA, number]["reply_markup"] == menu


async def test_the_same_text_in_another_topic_is_not_taken_for_the_part(
    driver: TurnDriver, store: Store, tg: Server
) -> None:
    turn = await answered(driver)
    (row,) = await store.deliver(turn, BOT.id, parts("one", message_thread_id=7))
    tg._next_id = row.floor_message_id
    for topic in (8, 7):
        await tg.call("sendMessage", **row.request | {"message_thread_id": topic})
    await deliver(store, tg, await retaken(driver, store), parts("one", message_thread_id=7))
    assert tg.texts() == ["one", "one"], "the part was found and must not be sent again"
    asked = [given["message_id"] for given in tg.made("editMessageText")]
    assert asked == [row.floor_message_id + 2]


async def test_a_part_is_found_although_another_search_touches_the_same_message(
    driver: TurnDriver, store: Store, tg: Server
) -> None:
    tg.faults["sendMessage"] = [LOST]
    unchanged = MessengerRefused("Bad Request: message is not modified")
    tg.faults["editMessageReplyMarkup"] = [unchanged, unchanged]
    turn = await answered(driver)
    tg._next_id = 10_000 + int(turn.updates[0]["update_id"])
    await deliver(store, tg, turn, parts("one"))
    assert tg.texts() == ["one"]
    assert not any(sent.get("reply_markup") for sent in tg.messages.values())


async def test_a_lost_part_is_found_where_each_chat_has_its_own_message_ids(
    driver: TurnDriver, store: Store, sql: Sql, tg: Server
) -> None:
    turn = await answered(driver)
    own = 10_000 + int(turn.updates[0]["update_id"])
    await sql(POSTED, BOT.id, 1002, own + 50_000)
    tg._next_id = own
    tg.faults["sendMessage"] = [LOST]
    await deliver(store, tg, turn, parts("one"))
    assert tg.texts() == ["one"]
    assert own not in {given["message_id"] for given in tg.made("editMessageReplyMarkup")}, (
        "a recorded id must not be probed"
    )


async def test_a_message_refused_with_its_options_is_sent_without_them(
    driver: TurnDriver, store: Store, sql: Sql, tg: Server
) -> None:
    tg.strict = True
    turn = await answered(driver)
    await deliver(store, tg, turn, parts("one", message_thread_id=7, reply_markup={"inline_keyboard": []}))
    assert tg.made("sendMessage")[-1] == {"chat_id": ADA, "text": "one", "message_thread_id": 7}
    assert await states(sql) == [("sent", None)]


async def test_a_permanently_refused_part_ends_the_answer_there(
    driver: TurnDriver, store: Store, sql: Sql, tg: Server
) -> None:
    tg.faults["sendMessage"] = [None, *[MessengerRefused("Bad Request: no such luck")] * 3]
    done = await deliver(store, tg, await answered(driver), parts("one", "two", "three"))
    assert "no such luck" in done.refused
    assert tg.texts() == ["one"]
    assert [status for status, _ in await states(sql)] == ["sent", "failed", "failed"]
    assert await sql("select status from turn") == [("done",)]


async def test_a_chat_that_is_gone_is_tried_once_and_reported_to_nobody(
    driver: TurnDriver, store: Store, tg: Server
) -> None:
    tg.faults["sendMessage"] = [ChatGone("Forbidden: bot was blocked by the user")] * 9
    assert (await deliver(store, tg, await answered(driver), parts("one", "two", "three"))).refused == ""
    assert len(tg.made("sendMessage")) == 1


def test_a_message_in_a_deleted_group_topic_is_not_sent_elsewhere() -> None:
    for reason in ("Bad Request: message thread not found", "Bad Request: TOPIC_DELETED"):
        here = {"message_thread_id": 7, "text": "x", "entities": BOLD}
        assert plainer({"chat_id": GROUP, **here}, reason) is None
        assert plainer({"chat_id": ADA, **here}, reason) == {"chat_id": ADA, "text": "x", "entities": BOLD}
        assert plainer({"chat_id": ADA, "text": "x"}, reason) is None


async def previewed(driver: TurnDriver, store: Store, tg: Server) -> ClaimedTurn:
    """A turn in a group whose growing answer is already in the chat."""
    turn = await driver.turn(ADA, "hello", GROUP)
    incoming = incoming_of(turn, "hello", private(ADA))
    await store.begin(incoming, "m")
    request = {"chat_id": GROUP, "text": "H…"}
    await store.preview(turn, BOT.id, GROUP, request)
    posted = await tg.call("sendMessage", **request)
    shown = PartResult(1, "preview", posted["message_id"])
    await store.store_sent(turn, [shown], False)
    await store.finish(incoming, reply("Hi!"))
    return turn


@pytest.mark.parametrize(
    ("refusals", "shown"),
    [
        ([], ["Hi!", "more"]),
        ([MessengerRefused("Bad Request: can't parse entities")], ["Hi!", "more"]),
        ([MessengerRefused("Bad Request: odd")] * 3, ["Hi!", "more"]),
        ([TokenRefused(absent=True)], ["Hi!", "more"]),
        ([NO_MESSAGE], ["H…", "Hi!", "more"]),
    ],
)
async def test_a_preview_that_cannot_be_edited_is_replaced_by_a_new_message(
    driver: TurnDriver, store: Store, sql: Sql, tg: Server, refusals: list[Exception], shown: list[str]
) -> None:
    turn = await previewed(driver, store, tg)
    tg.faults["editMessageText"] = list(refusals)
    done = await deliver(store, tg, turn, parts("Hi!", "more", chat_id=GROUP))
    assert done.refused == ""
    assert tg.texts(GROUP) == shown
    kept = {number for (_, number), sent in tg.messages.items() if sent["text"] != "H…"}
    assert {row[0] for row in await sql("select telegram_message_id from outbox")} == kept


async def test_a_replacement_for_a_preview_is_found_when_its_response_is_lost(
    driver: TurnDriver, store: Store, tg: Server
) -> None:
    turn = await previewed(driver, store, tg)
    tg.faults["editMessageText"] = [MessengerRefused("Bad Request: odd")] * 3
    tg.faults["sendMessage"] = [LOST]
    await deliver(store, tg, turn, parts("Hi!", chat_id=GROUP))
    assert tg.texts(GROUP) == ["Hi!"]


async def test_a_preview_can_be_stored_repeatedly(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await driver.turn(ADA, "hello", GROUP)
    for text in ("H…", "H…"):
        await store.preview(turn, BOT.id, GROUP, {"chat_id": GROUP, "text": text})
    assert await sql("select status, sending_text, preview from outbox") == [("sending", "H…", True)]


async def test_a_turn_that_is_set_aside_leaves_no_part_in_sending(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await answered(driver)
    for _ in range(3):
        await store.deliver(turn, BOT.id, parts("one", "two"))
        await store.fail(turn, "the roof fell in", 0)
        await sql("update turn set not_before = null")
        turn = next(iter(await driver.claim()), turn)
    assert await states(sql) == [("failed", "the roof fell in")] * 2


# /stop


async def test_stop_ends_a_long_answer_between_its_parts(
    driver: TurnDriver, store: Store, sql: Sql, tg: Server
) -> None:
    stop = tg.stops["two"] = asyncio.Event()
    turn = await answered(driver)
    done = await deliver(store, tg, turn, parts("one", "two", "three", "four", message_thread_id=7), stop)
    assert done.refused == ""
    assert tg.texts() == ["one", "two", "Stopped."]
    assert tg.made("sendMessage")[-1]["disable_notification"] is True
    assert tg.made("sendMessage")[-1]["message_thread_id"] == 7
    failed = ("failed", "stopped")
    assert await states(sql) == [("sent", None), ("sent", None), failed, failed, ("sent", None)]
    assert await sql("select status from message where role = 'assistant'") == [("stopped",)]
    assert await sql("select status from turn") == [("done",)]


async def test_memories_from_a_stopped_answer_are_shown_under_the_stopped_line(
    driver: TurnDriver, store: Store, sql: Sql, tg: Server
) -> None:
    for text, told in (("likes tea", True), ("likes figs", False)):
        done = await driver.exchange(ADA, "hello", "Hi!", actions=[fact(ADA, text)], close=False)
        stop = asyncio.Event()
        if told:
            tg.stops["one"] = stop
        await deliver(store, tg, done.turn, parts("one", "two"), stop)
        tg.stops.clear()
        await send_queued(store, tg)  # type: ignore[arg-type]
    assert tg.texts() == ["one", "Stopped.\n\n🧠 Learned: likes tea", "one", "two"]
    (row,) = [sent["reply_markup"] for sent in tg.messages.values() if "Learned" in sent["text"]]
    assert "Undo" in row["inline_keyboard"][0][0]["text"]


async def test_stop_ends_a_wait_requested_by_telegram(driver: TurnDriver, store: Store, tg: Server) -> None:
    stop = tg.stops["two"] = asyncio.Event()
    tg.faults["sendMessage"] = [None, MessengerThrottled(600)]
    await deliver(store, tg, await answered(driver), parts("one", "two"), stop)
    assert tg.texts() == ["one", "Stopped."]


async def test_an_interrupted_stop_is_finished_by_the_next_process(
    driver: TurnDriver, store: Store, tg: Server
) -> None:
    turn = await answered(driver)
    await store.deliver(turn, BOT.id, parts("one", "two"))
    await store.stop_delivery(turn, [], {"chat_id": ADA, "text": "Stopped."})
    await store.stop_delivery(turn, [], {"chat_id": ADA, "text": "Stopped."})
    await deliver(store, tg, await retaken(driver, store), parts("one", "two"))
    assert tg.texts() == ["Stopped."]


# A group that becomes a supergroup


async def test_an_answer_and_the_groups_memory_follow_the_group_to_its_new_id(
    driver: TurnDriver, store: Store, sql: Sql, tg: Server
) -> None:
    await driver.teach(ADA, "likes tea", chat_id=SMALL)
    turn = await answered(driver, SMALL)
    tg.migrated[SMALL] = GROUP
    given = parts("one", "two", chat_id=SMALL, reply_parameters={"message_id": 3})
    assert (await deliver(store, tg, turn, given)).refused == ""
    assert tg.texts(GROUP) == ["one", "two"]
    assert "reply_parameters" not in tg.made("sendMessage")[-1]
    done = await driver.exchange(ADA, "and now?", chat_id=GROUP)
    assert [memory.content for memory in done.context.memories] == ["likes tea"]
    assert [said.text for said in done.context.recent][-2:] == ["hello", "Hi!"]
    assert await sql("select chat_id from lane") == [(GROUP,)]


async def test_a_part_in_flight_and_a_preview_follow_their_group(driver: TurnDriver, store: Store, tg: Server) -> None:
    turn = await answered(driver, SMALL)
    await store.deliver(turn, BOT.id, parts("one", "two", chat_id=SMALL))
    tg.migrated[SMALL] = GROUP
    await store.regroup(BOT.id, SMALL, GROUP)
    await deliver(store, tg, await retaken(driver, store), [])
    assert tg.texts(GROUP) == ["one", "two"]


@pytest.mark.parametrize("times", [1, 3])
async def test_both_chats_are_merged_when_the_new_one_spoke_first(
    driver: TurnDriver, store: Store, sql: Sql, times: int
) -> None:
    await driver.teach(ADA, "likes tea", chat_id=SMALL)
    await driver.teach(ADA, "likes cake", chat_id=GROUP)
    (waiting,) = await driver.say(message(ADA, "in the old one", SMALL))
    await driver.say(message(ADA, "and another", SMALL))
    for _ in range(times):
        await store.regroup(BOT.id, SMALL, GROUP)
    await driver.close(waiting)
    (turn,) = await driver.claim()
    assert turn.updates[0]["message"]["chat"] == {"id": GROUP, "type": "supergroup"}
    await driver.close(turn)
    done = await driver.exchange(ADA, "and now?", chat_id=GROUP)
    assert {memory.content for memory in done.context.memories} == {"likes tea", "likes cake"}
    assert [said.text for said in done.context.recent] == ["Listen.", "I see."] * 2
    assert await sql("select chat_id, exchange_count from thread") == [(GROUP, 3)]
    assert await sql("select count(*) from session where ended_at is null") == [(1,)]


async def test_an_erasure_in_progress_and_recorded_usage_are_merged_too(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.teach(ADA, "likes tea", chat_id=SMALL)
    await driver.teach(ADA, "owns a zanzibarix", chat_id=GROUP)
    newer = Space("group", chat_id=GROUP)
    found = await store.erase_preview(newer, {"words": "zanzibarix"}, ADA, True)
    assert found is not None
    assert await store.erase_begin(found.erasure_id, ADA, True)
    await sql(
        "insert into spend (id, what, done, space_id, model)"
        " select gen_random_uuid(), 'answer', true, id, 'counted' from space where chat_id = %s",
        GROUP,
    )
    await store.regroup(BOT.id, SMALL, GROUP)
    while not (await store.erase_step(found.erasure_id) or FINISHED).done:
        pass
    assert await sql("select content from memory order by id") == [("likes tea",)]
    used = await store.usage(newer, [datetime(2020, 1, 1, tzinfo=UTC)])
    assert [one.times for one in used if one.model == "counted"] == [1]


async def test_only_a_group_that_became_a_supergroup_is_moved(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.teach(ADA, "likes tea", chat_id=GROUP)
    for before, now in ((GROUP, GROUP - 1), (ADA, GROUP), (SMALL, -4343)):
        await store.regroup(BOT.id, before, now)
    assert await sql("select chat_id from thread") == [(GROUP,)]
