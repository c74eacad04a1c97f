"""Tests why, usage and choices in the database: whose they are, which answer is meant, and the day of a call."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from relay.core.models import File, Space, Thread
from relay.core.spending.charge import Charge, Spending
from relay.memory.rows.choices import Choices
from relay.memory.rows.delivery import PartResult
from relay.memory.rows.turns.why import RecalledMemory, TokenUsage
from relay.memory.store import Store
from relay.surfaces.telegram.outgoing.delivery import Delivery
from relay.surfaces.telegram.outgoing.files import file_request
from relay.surfaces.telegram.outgoing.render import message_parts
from relay.surfaces.telegram.outgoing.sender import Sender
from relay.surfaces.telegram.parsing.place import Place
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, GROUP, TurnDriver, dm, fact, group, incoming_of, private, reply
from tests.standins.fakes import FakeMessenger

Json = dict[str, Any]


async def answered(driver: TurnDriver, user_id: int = ADA, *facts: str, prompt: Json | None = None, **more: Any) -> int:
    """Stores an exchange with a record of its prompt, and returns its turn's id."""
    turn = await driver.turn(user_id, "hello", more.get("chat_id"), more.get("topic_id", 0))
    incoming = incoming_of(turn, "hello", more.get("space") or private(user_id))
    await driver.store.begin(incoming, "m")
    said = reply("Hi!", [fact(user_id, one) for one in facts], more.get("tainted", False))
    said |= {"prompt": prompt or {}, "model": more.get("model", "model-1")}
    said["spent"] |= {"model": said["model"]}
    await driver.store.finish(incoming, said | more.get("reply", {}))
    await driver.close(turn)
    return turn.turn_id


async def last(driver: TurnDriver, chat_id: int, topic_id: int = 0, space: Space | None = None, under: int = 0) -> int:
    return await driver.store.find_answered_turn(BOT.id, Thread(space or private(ADA), chat_id, topic_id), under)


async def test_the_last_answer_is_found_by_thread_and_in_the_terminal_by_space(driver: TurnDriver) -> None:
    assert await last(driver, ADA) == 0
    first = await answered(driver)
    topic = await answered(driver, topic_id=5)
    await answered(driver, BEN)
    assert await last(driver, ADA) == first
    assert await last(driver, ADA, 5) == topic
    assert await last(driver, 0) == topic
    assert await last(driver, ADA, space=private(BEN)) == 0


async def test_an_answer_is_found_by_its_message_but_a_control_reply_is_not(driver: TurnDriver, store: Store) -> None:
    turn = await driver.turn(ADA, "hello")
    await store.begin(incoming_of(turn, "hello", private(ADA)), "m")
    await store.finish(incoming_of(turn, "hello", private(ADA)), reply("Hi!"))
    await store.deliver(turn, BOT.id, message_parts("Hi!", Place(ADA, 0, True)))
    await store.store_sent(turn, [PartResult(1, "sent", 77)], True)
    control = await driver.turn(ADA, "/memory")
    await store.deliver(control, BOT.id, message_parts("I know nothing.", Place(ADA, 0, True)))
    await store.store_sent(control, [PartResult(1, "sent", 78)], True)
    assert await last(driver, ADA, under=77) == turn.turn_id
    assert await last(driver, ADA, under=78) == 0
    assert await last(driver, ADA, under=79) == 0
    assert await last(driver, BEN, under=77) == 0
    assert await store.explain(control.turn_id, ADA) is None
    assert await store.explain(2**60, ADA) is None


async def test_why_shows_what_the_prompt_contained_and_what_became_of_it(driver: TurnDriver, store: Store) -> None:
    changes = await driver.teach(ADA, "likes tea", "has a boat")
    tea, boat = (change.memory_id for change in changes)
    earlier = await driver.exchange(ADA, "my boat is called ##keepit0.80##Wilma", topic_id=9)
    prompt = {
        "soul": 1, "memories": [tea, boat], "recalled": [earlier.context.message_id, 2**50], "summary": None,
        "recent": [earlier.context.message_id, earlier.context.message_id],
    }  # fmt: skip
    turn_id = await answered(driver, prompt=prompt)
    await store.decide_change(changes[0].id, ADA, False, "undo")
    found = await store.explain(turn_id, ADA)
    assert found is not None
    assert [(row.content, row.status, row.lent) for row in found.memories] == [
        ("likes tea", "discarded", False), ("has a boat", "active", False),
    ]  # fmt: skip
    assert [row.text for row in found.recalled] == ["my boat is called Wilma"]
    assert found.usage == TokenUsage(input_tokens=10, output_tokens=5)
    assert found.space == private(ADA)
    assert found.recent_from
    assert found.hidden == 0
    assert found.prompt.memories == (tea, boat)
    assert "reply_to" not in str(found)


async def test_recalled_memories_are_shown_only_to_people_who_may_see_them(driver: TurnDriver, store: Store) -> None:
    (mine,) = await driver.teach(ADA, "likes tea")
    (theirs,) = await driver.teach(BEN, "likes coffee")
    prompt = {"recalled_memories": [theirs.memory_id, mine.memory_id], "recalled_summaries": [2**50]}
    turn_id = await answered(driver, prompt=prompt)
    found = await store.explain(turn_id, ADA)
    assert found is not None
    assert found.recalled_memories == (RecalledMemory(1, "likes tea"),)
    assert (found.recalled_summaries, found.tool_calls) == ((), 0)
    assert await store.tool_call(turn_id, 1) is None


async def test_tool_inputs_and_results_are_shown_up_to_a_limit(driver: TurnDriver, store: Store) -> None:
    def used(name: str, number: int, **more: Any) -> Json:
        return {"type": "tool_use", "id": f"t{number}", "name": name, "input": {"query": "tea"}} | more

    def returned(number: int, content: Any, **more: Any) -> Json:
        return {"type": "tool_result", "tool_use_id": f"t{number}", "content": content} | more

    page = {"type": "web_search_result", "title": "Tea", "url": "https://tea.example", "encrypted_content": "x" * 9000}
    blocks = [
        {"role": "assistant", "content": [used("search_memory", 1), used("open_memory", 2, input={"id": "é" * 9000})]},
        {"role": "user", "content": [returned(1, "x" * 9000), returned(2, "no such id", is_error=True)]},
        {"role": "assistant", "content": [
            used("web_search", 3, type="server_tool_use"), returned(3, [page], type="web_search_tool_result"),
            {"type": "text", "text": "Hi!"}]},
    ]  # fmt: skip
    turn_id = await answered(driver, reply={"blocks": blocks})
    found = await store.explain(turn_id, ADA)
    assert found is not None
    assert found.tool_calls == 3
    first, second, third = [await store.tool_call(turn_id, number) for number in (-5, 2, 9)]
    assert first
    assert second
    assert third
    assert (first.nr, first.total, first.name, first.failed) == (1, 3, "search_memory", False)
    assert (first.input, first.length, len(first.result or "")) == ('{"query": "tea"}', 9000, 2000)
    assert (len(second.input or ""), second.result, second.failed) == (600, "no such id", True)
    assert (third.name, third.result) == ("web_search", "Tea https://tea.example")
    assert first.space == found.space


async def test_lent_memories_are_shown_only_to_the_lender(driver: TurnDriver, store: Store) -> None:
    (lent,) = await driver.teach(ADA, "fears spiders")
    (own,) = await driver.teach(BEN, "brings cake", chat_id=GROUP, space=group())
    secret = await driver.exchange(ADA, "a private word")
    prompt = {"memories": [lent.memory_id, own.memory_id], "recalled": [secret.context.message_id]}
    turn_id = await answered(driver, ADA, chat_id=GROUP, space=group(), prompt=prompt)
    for user_id, contents, hidden in ((ADA, ["fears spiders", "brings cake"], 0), (BEN, ["brings cake"], 1)):
        found = await store.explain(turn_id, user_id)
        assert found is not None
        assert [row.content for row in found.memories] == contents
        assert [row.lent for row in found.memories] == [content == "fears spiders" for content in contents]
        assert found.hidden == hidden
        assert found.recalled == ()
        assert "spiders" not in str(found) or user_id == ADA


async def test_usage_is_listed_by_day_and_model_for_the_persons_own_space(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC)
    starts = [noon.replace(hour=0) + timedelta(days=number) for number in range(3)]
    for at, model, user_id in (
        (noon, "a", ADA), (noon, "a", ADA), (noon, "b", ADA), (noon + timedelta(days=2), "a", ADA),
        (noon - timedelta(days=1), "a", ADA), (noon, "a", BEN),
    ):  # fmt: skip
        await answered(driver, user_id, model=model)
        await sql("update spend set at = %s where at between now() - interval '1 minute' and now()", at)
    ((thread_id, session_id),) = await sql(
        "select t.id, t.session_id from thread t join space s on s.id = t.space_id where s.owner_id = %s", ADA
    )
    used = {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 2, "web_search_requests": 1}
    summary = Spending(str(uuid.uuid4()), True, "small", used)
    for _ in range(2):
        await store.spend(Charge("summary", thread_id=thread_id), summary)
    await store.spend(Charge("title", session_id=session_id), replace(summary, id=str(uuid.uuid4()), done=False))
    await sql("update spend set at = %s where at between now() - interval '1 minute' and now()", noon)
    rows = await store.usage(private(ADA), starts)
    assert [(row.day, row.what, row.model, row.times, row.input, row.output) for row in rows] == [
        (1, "answer", "a", 2, 20, 10), (1, "answer", "b", 1, 10, 5), (1, "summary", "small", 1, 7, 2),
        (1, "title", "small", 0, 7, 2), (3, "answer", "a", 1, 10, 5),
    ]  # fmt: skip
    assert (rows[2].cached, rows[2].searches) == (3, 1)
    everywhere = await store.usage(private(ADA), starts, all=True)
    assert [(row.day, row.model, row.times) for row in everywhere] == [
        (0, "a", 4),
        (0, "b", 1),
        (0, "small", 1),
        (0, "small", 0),
    ]
    assert await store.usage(private(999), starts) == []


async def test_why_says_whether_memory_was_off_or_the_answer_off_the_record(driver: TurnDriver, store: Store) -> None:
    async def why(turn_id: int) -> tuple[bool, tuple[str, ...]]:
        found = await store.explain(turn_id, ADA)
        assert found is not None
        return found.resting, found.signs

    assert await why(await answered(driver)) == (False, ())
    await store.control(dm(ADA), ADA, {"memory": "off"})
    assert (await why(await answered(driver)))[0]
    await store.control(dm(ADA), ADA, {"memory": "on"})
    await store.private(dm(ADA), True, ADA)
    resting, signs = await why(await answered(driver))
    assert not resting
    assert "private" in signs


async def test_status_counts_messages_not_commands_as_turns(driver: TurnDriver, store: Store) -> None:
    await answered(driver)
    turn = await store.begin_command(BOT.id, ADA, 0, ADA)
    await store.change_memory(turn, private(ADA), [fact(ADA, "likes tea")])
    assert (await store.status(private(ADA))).today.turns == 1


async def test_status_counts_the_last_day_by_model(driver: TurnDriver, store: Store) -> None:
    await answered(driver)
    used = (await store.status(private(ADA))).used
    assert [(row.model, row.times, row.input) for row in used] == [("model-1", 1, 10)]
    assert (await store.status(private(BEN))).used == ()


async def test_choices_belong_to_one_person_and_apply_to_their_next_turn(driver: TurnDriver, store: Store) -> None:
    assert await store.choices(ADA) == Choices()
    await store.choose(ADA, {"learning": "ask", "sound": False})
    assert await store.choose(ADA, {"zone": "Asia/Tokyo"}) == Choices("ask", sound=False, zone="Asia/Tokyo")
    assert await store.choose(ADA, {}) == await store.choices(ADA)
    assert await store.choices(BEN) == Choices()
    turn = await driver.turn(ADA, "hello")
    assert turn.choices == await store.choices(ADA)
    context = await store.begin(incoming_of(turn, "hello", private(ADA)), "m")
    assert context.choices == turn.choices
    assert (await driver.turn(BEN, "hello")).choices == Choices()


@pytest.mark.parametrize("odd", [{"learning": "maybe", "sound": 1, "zone": 7, "other": []}, {"sound": None}])
async def test_choices_of_another_version_are_ignored(store: Store, odd: Json) -> None:
    assert await store.choose(ADA, odd) == Choices()


async def test_a_fact_awaiting_confirmation_is_pending_but_not_tainted(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await answered(driver, ADA, "likes tea", reply={"ask": True})
    assert await driver.known(private(ADA)) == []
    assert await sql("select status, tainted from memory") == [("pending", False)]
    await answered(driver, ADA, "likes coffee", tainted=True)
    assert (await sql("select status, tainted from memory where content like %s", "%coffee"))[0] == ("pending", True)


async def test_the_context_counts_all_memories(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "likes tea", "has a boat")
    learning = {"action": "learn", "kind": "learning", "category": "identity", "content": "Robin to friends"}
    await driver.exchange(ADA, "call me Robin", actions=[learning])
    done = await driver.exchange(ADA, "hello")
    assert done.context.memory_counts == {"fact": 2, "identity": 1}


async def test_a_file_is_stored_until_its_turn_ends_and_sent_from_there(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn = await driver.turn(ADA, "hello")
    file = File("notes.txt", "ünï".encode())
    parts = message_parts("Here.", Place(ADA, 0, True), file=file)
    await store.deliver(turn, BOT.id, parts)
    stored = await sql("select request -> 'file' ->> 'content' from outbox where seq = 2")
    assert stored == [(file_request(file, Place(ADA, 0, True))["file"]["content"],)]
    messenger = FakeMessenger()
    await store.release()
    (again,) = await driver.claim()
    await Delivery(Sender(store, messenger, BOT.id)).deliver(again, [])
    sent = [(method, given.get("document")) for method, given in messenger.calls if method.startswith("send")]
    assert ("sendDocument", file) in sent
    assert await sql("select request -> 'file' from outbox where seq = 2") == [({"name": "notes.txt"},)]
    assert await sql("select status, sending_text from outbox order by seq") == [("sent", None)] * 2
