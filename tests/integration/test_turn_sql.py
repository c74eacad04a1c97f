"""Tests begin and finish: messages and answers are saved once, counted once, and shown to nobody else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from relay.core.errors import TurnLost
from relay.core.models import Space
from relay.memory.calls.turn import RECENT_CHARACTERS
from relay.memory.rows.delivery import Part, PartResult
from relay.memory.rows.status import LastDay
from relay.memory.rows.turns.context import StoredMessage
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import (
    ADA,
    BEN,
    BOT,
    GROUP,
    TurnDriver,
    dm,
    fact,
    group,
    incoming_of,
    message,
    private,
    reply,
)


def said(recent: tuple[StoredMessage, ...]) -> list[str]:
    return [row.text for row in recent]


async def test_beginning_twice_saves_the_message_once(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await driver.turn(ADA, "hello")
    incoming = incoming_of(turn, "hello", private(ADA))
    first = await store.begin(incoming, "m")
    second = await store.begin(incoming, "m")
    assert first.message_id == second.message_id
    assert (first.recent, second.recent) == ((), ())
    assert await sql("select role, text, status from message") == [("user", "hello", "complete")]


async def test_beginning_again_with_more_text_keeps_one_message(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await driver.turn(ADA, "look")
    await store.begin(incoming_of(turn, "look", private(ADA)), "m")
    await driver.say(message(ADA, "at this"))
    joined = await store.absorb(turn)
    context = await store.begin(incoming_of(joined, "look\nat this", private(ADA)), "m")
    assert context.message is not None
    assert context.message.text == "look\nat this"
    assert await sql("select count(*) from message") == [(1,)]
    assert await sql("select count(distinct message_id) from posted where message_id is not null") == [(1,)]


async def test_finishing_twice_does_everything_once(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await driver.turn(ADA, "hello")
    incoming = incoming_of(turn, "hello", private(ADA))
    await store.begin(incoming, "m")
    written = reply("Hi!", [fact(ADA, "likes tea"), {"action": "forget", "content": "coffee machine"}])
    first = await store.finish(incoming, written)
    second = await store.finish(incoming, reply("Something else", [fact(ADA, "likes coffee")]))
    assert first == second
    assert first.text == "Hi!"
    assert [change.content for change in first.changes] == ["likes tea"]
    assert first.failed[0].failed == "nothing matches"
    assert await sql("select text from message where role = 'assistant'") == [("Hi!",)]
    assert await sql("select exchange_count from thread") == [(1,)]
    assert await sql("select count(*) from memory") == [(1,)]


async def test_beginning_after_finishing_changes_no_answer(driver: TurnDriver, store: Store) -> None:
    done = await driver.exchange(ADA, "hello", "Hi!", close=False)
    context = await store.begin(done.incoming, "m")
    assert context.recent == ()
    assert (await store.finish(done.incoming, reply("Other"))).text == "Hi!"


async def test_the_next_prompt_contains_the_earlier_exchanges(driver: TurnDriver, sql: Sql) -> None:
    for number in range(3):
        await driver.exchange(ADA, f"question {number}", f"answer {number}")
    done = await driver.exchange(ADA, "and now?")
    assert said(done.context.recent) == [
        "question 0", "answer 0", "question 1", "answer 1", "question 2", "answer 2",
    ]  # fmt: skip
    assert done.context.soul.version == 1
    assert done.context.summary is None
    assert await sql("select usage ->> 'input_tokens', model, status from turn limit 1") == [("10", "model-1", "done")]


async def test_threads_are_separate_and_memory_is_shared(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "in the dm", actions=[fact(ADA, "likes tea")])
    await driver.exchange(ADA, "in topic 5", topic_id=5)
    topic = await driver.exchange(ADA, "again in 5", topic_id=5)
    assert said(topic.context.recent) == ["in topic 5", "Yes."]
    assert [memory.content for memory in topic.context.memories] == ["likes tea"]


async def test_a_chat_has_a_thread_for_each_space(driver: TurnDriver) -> None:
    """A forum with one human gets a second one. What was said while it was private stays with its owner."""
    await driver.exchange(ADA, "my secret", chat_id=GROUP, space=private(ADA), actions=[fact(ADA, "has a secret")])
    later = await driver.exchange(ADA, "hello all", chat_id=GROUP)
    other = await driver.exchange(BEN, "hello", chat_id=GROUP)
    assert later.context.recent == ()
    assert said(other.context.recent) == ["hello all", "Yes."]
    assert other.context.memories == later.context.memories == ()


async def test_a_replied_to_message_is_found_only_in_its_own_space(driver: TurnDriver, store: Store) -> None:
    first = await driver.exchange(ADA, "the original", chat_id=GROUP, space=private(ADA))
    number = first.incoming.telegram_message_ids[0]
    turn = await driver.turn(ADA, "about that", GROUP)
    mine = await store.begin(incoming_of(turn, "about that", private(ADA), reply_to=number), "m")
    assert mine.reply_to is not None
    assert (mine.reply_to.text, mine.reply_to.role) == ("the original", "user")
    await driver.close(turn)
    turn = await driver.turn(BEN, "and that?", GROUP)
    theirs = await store.begin(incoming_of(turn, "and that?", group(), reply_to=number), "m")
    assert theirs.reply_to is None


async def test_a_sent_answer_can_be_replied_to(driver: TurnDriver, store: Store) -> None:
    done = await driver.exchange(ADA, "hello", "Hi there!", close=False)
    await store.deliver(done.turn, BOT.id, [Part(1, ADA, {"text": "Hi there!"})])
    await store.store_sent(done.turn, [PartResult(1, "sent", 20_001)], True)
    turn = await driver.turn(ADA, "why?")
    context = await store.begin(incoming_of(turn, "why?", private(ADA), reply_to=20_001), "m")
    assert context.reply_to is not None
    assert (context.reply_to.text, context.reply_to.role) == ("Hi there!", "assistant")


async def test_a_turn_without_an_answer_saves_no_message_and_counts_nothing(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn = await driver.turn(ADA, "hello")
    incoming = incoming_of(turn, "hello", private(ADA))
    await store.begin(incoming, "m")
    told = reply("") | {"error": "The model is away.", "actions": [], "usage": None}
    result = await store.finish(incoming, told)
    assert result.changes == []
    assert await sql("select role from message") == [("user",)]
    assert await sql("select exchange_count from thread") == [(0,)]
    assert await sql("select error from turn") == [("The model is away.",)]


async def test_a_long_window_without_a_summary_begins_at_the_same_message_for_a_while(
    driver: TurnDriver, sql: Sql
) -> None:
    await driver.exchange(ADA, "hello")
    await sql(
        "insert into message (space_id, thread_id, session_id, role, user_id, text, blocks) "
        "select space_id, thread_id, session_id, (array['assistant', 'user'])[n % 2 + 1], user_id, n::text, '[]' "
        "from (select * from message limit 1) m, generate_series(1, 238) n"
    )
    windows = [(await driver.exchange(ADA, "and more")).context.recent for _ in range(6)]
    assert [len(recent) for recent in windows] == [190, 192, 194, 196, 198, 150], "240 messages, then two more each"
    assert len({recent[0].id for recent in windows}) == 2, "it moved once, by 50"


async def test_the_recent_window_has_a_budget(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "old", "x" * RECENT_CHARACTERS)
    await driver.exchange(ADA, "newer", "y")
    done = await driver.exchange(ADA, "now")
    assert said(done.context.recent)[1:] == ["newer", "y"]
    assert "old" not in said(done.context.recent)


async def test_a_long_silence_begins_a_new_session(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "yesterday")
    await sql("update thread set last_at = last_at - interval '13 hours'")
    await driver.exchange(ADA, "today")
    assert await sql("select count(*), count(ended_at) from session") == [(2, 1)]


# The count of exchanges


async def test_every_fifth_exchange_makes_one_summary_due(driver: TurnDriver, sql: Sql) -> None:
    for number in range(11):
        await driver.exchange(ADA, f"q{number}")
    assert await sql("select exchange_count from thread") == [(11,)]
    assert await sql("select count(*) from job where kind = 'summary'") == [(2,)]


async def test_the_fifth_exchange_is_counted_once_with_many_concurrent_finishes(
    driver: TurnDriver, another: Callable[[], Store], sql: Sql
) -> None:
    """Five lanes of two bots share a thread and end at the same moment. Several processes finish each."""
    incomings = []
    for number in range(5):
        turn = await driver.turn(ADA, f"q{number}", topic_id=number + 2)
        incomings.append(incoming_of(turn, f"q{number}", private(ADA)))
    one_thread = [replace(incoming, topic_id=0) for incoming in incomings]
    await asyncio.gather(*(another().begin(incoming, "m") for incoming in one_thread))
    finishes = [another().finish(incoming, reply()) for incoming in one_thread for _ in range(4)]
    results = await asyncio.gather(*finishes, return_exceptions=True)
    assert not [result for result in results if isinstance(result, BaseException)]
    assert await sql("select exchange_count from thread") == [(5,)]
    assert await sql("select count(*) from job where kind = 'summary'") == [(1,)]
    assert await sql("select count(*) from message") == [(10,)]


async def test_many_concurrent_first_messages_make_one_space_and_thread(
    driver: TurnDriver, another: Callable[[], Store], sql: Sql
) -> None:
    turns = [await driver.turn(ADA, "hi", topic_id=number + 2) for number in range(8)]
    incomings = [incoming_of(turn, "hi", private(ADA)) for turn in turns]
    same = [replace(incoming, topic_id=0) for incoming in incomings]
    contexts = await asyncio.gather(*(another().begin(incoming, "m") for incoming in same))
    assert len({(context.space_id, context.thread_id) for context in contexts}) == 1
    assert await sql("select count(*) from space") == [(1,)]
    assert await sql("select count(*) from session") == [(1,)]


async def test_either_a_finish_or_a_takeover_wins(driver: TurnDriver, another: Callable[[], Store], sql: Sql) -> None:
    turn = await driver.turn(ADA, "hello")
    incoming = incoming_of(turn, "hello", private(ADA))
    await driver.store.begin(incoming, "m")
    await sql("update turn set lease_until = now() - interval '1 second'")
    results = await asyncio.gather(
        another().claim(BOT.id, 5), driver.store.finish(incoming, reply("mine")), return_exceptions=True
    )
    answers = await sql("select text from message where role = 'assistant'")
    assert answers in ([], [("mine",)])
    assert (answers == []) == isinstance(results[1], TurnLost)


# Retry


async def test_retry_answers_the_last_message_again(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "first", "One.")
    await driver.exchange(ADA, "second", "Two.")
    done = await driver.exchange(ADA, "/retry", "Better two.", retry=True)
    assert done.context.message is not None
    assert done.context.message.text == "second"
    assert said(done.context.recent) == ["first", "One."]
    following = await driver.exchange(ADA, "third")
    assert said(following.context.recent) == ["first", "One.", "second", "Better two."]
    assert await sql("select exchange_count from thread") == [(3,)]
    assert await sql("select count(*) from message where status = 'replaced'") == [(1,)]


async def test_a_retry_of_an_unanswered_turn_is_counted(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await driver.turn(ADA, "hello")
    incoming = incoming_of(turn, "hello", private(ADA))
    await store.begin(incoming, "m")
    await store.finish(incoming, reply("") | {"error": "away"})
    await driver.close(turn)
    done = await driver.exchange(ADA, "↻", "Hi!", retry=True, retry_turn=turn.turn_id)
    assert done.context.message is not None
    assert done.context.message.text == "hello"
    assert await sql("select exchange_count from thread") == [(1,)]


async def test_an_earlier_turn_can_be_retried(driver: TurnDriver) -> None:
    first = await driver.exchange(ADA, "first", "One.")
    await driver.exchange(ADA, "second", "Two.")
    done = await driver.exchange(ADA, "↻", "One again.", retry=True, retry_turn=first.turn.turn_id)
    assert done.context.message is not None
    assert done.context.message.text == "first"


async def test_a_retry_can_be_repeated_also_after_a_takeover(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "first", "One.")
    turn = await driver.turn(ADA, "/retry")
    incoming = incoming_of(turn, "/retry", private(ADA), retry=True)
    a = await store.begin(incoming, "m")
    b = await store.begin(incoming, "m")
    assert a.message_id == b.message_id
    assert a.message == b.message
    await store.finish(incoming, reply("Two."))
    await driver.close(turn)
    await driver.exchange(ADA, "/retry", "Three.", retry=True)
    assert await sql("select text from message where role = 'assistant' and status = 'complete'") == [("Three.",)]
    assert await sql("select exchange_count from thread") == [(1,)]


async def test_nobody_can_retry_another_persons_message(driver: TurnDriver, store: Store, sql: Sql) -> None:
    theirs = await driver.exchange(BEN, "ben says", "Hello Ben.", chat_id=GROUP)
    for of_turn in (None, theirs.turn.turn_id):
        turn = await driver.turn(ADA, "/retry", GROUP)
        incoming = incoming_of(turn, "/retry", group(), retry=True, retry_turn=of_turn)
        context = await store.begin(incoming, "m")
        assert context.message_id is None
        assert context.message is None
        assert context.recent == ()
        await driver.close(turn)
    assert await sql("select count(*) from message where status = 'replaced'") == [(0,)]


async def test_in_a_group_people_retry_their_own_last_message(driver: TurnDriver) -> None:
    first = await driver.exchange(ADA, "ada asks", "To Ada.", chat_id=GROUP)
    await driver.exchange(BEN, "ben asks", "To Ben.", chat_id=GROUP)
    again = await driver.exchange(ADA, "/retry", "To Ada, better.", chat_id=GROUP, retry=True)
    assert again.context.message_id == first.context.message_id
    following = await driver.exchange(BEN, "and now?", chat_id=GROUP)
    assert said(following.context.recent) == ["ada asks", "ben asks", "To Ben.", "To Ada, better."]


async def test_retry_without_a_message_finds_nothing(driver: TurnDriver, store: Store) -> None:
    turn = await driver.turn(ADA, "/retry")
    context = await store.begin(incoming_of(turn, "/retry", private(ADA), retry=True), "m")
    assert context.message_id is None


async def test_retry_does_not_reach_into_an_earlier_session(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "before")
    await store.new_session(dm(ADA), "")
    turn = await driver.turn(ADA, "/retry")
    context = await store.begin(incoming_of(turn, "/retry", private(ADA), retry=True), "m")
    assert context.message_id is None


# Sessions


async def test_a_new_session_starts_without_earlier_messages(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "before", actions=[fact(ADA, "likes tea")])
    done = await store.new_session(dm(ADA), "Plans")
    assert done.messages == 2
    after = await driver.exchange(ADA, "after")
    assert after.context.recent == ()
    assert after.context.summary is None
    assert [memory.content for memory in after.context.memories] == ["likes tea"]
    assert await sql("select title, ended_at is null from session order by id") == [(None, False), ("Plans", True)]
    assert await sql("select count(*) from job where kind = 'summary'") == [(1,)]


async def test_a_new_session_without_messages_in_between_changes_nothing(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    assert (await store.new_session(dm(ADA), "")).messages == 0
    await driver.exchange(ADA, "hello")
    await store.new_session(dm(ADA), "")
    assert (await store.new_session(dm(ADA), "")).messages == 0
    assert await sql("select count(*) from job where kind = 'summary'") == [(1,)]


async def test_a_new_session_in_one_thread_leaves_the_others(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "in the dm")
    await driver.exchange(ADA, "in topic 5", topic_id=5)
    await store.new_session(dm(ADA), "")
    assert said((await driver.exchange(ADA, "again", topic_id=5)).context.recent) == ["in topic 5", "Yes."]


# Status


async def test_status_counts_only_the_persons_own_data(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "hello", actions=[fact(ADA, "likes tea")])
    await driver.exchange(BEN, "hello")
    await driver.say(message(BEN, "waiting"), limit=0)
    await driver.say(message(ADA, "/status"), limit=0)  # not counted
    status = await store.status(private(ADA))
    keys = ("memories", "threads", "exchanges", "waiting", "running", "soul")
    assert {key: getattr(status, key) for key in keys} == {
        "memories": 1, "threads": 1, "exchanges": 1, "waiting": 1, "running": 0, "soul": 1,
    }  # fmt: skip
    assert status.today == LastDay(turns=1, input=10, cached=0, written=0, output=5)
    assert (await store.status(Space("private", owner_id=5))).memories == 0
