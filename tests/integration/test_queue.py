"""Tests the queue: updates are stored once and claimed in order, one turn at a time per lane, under a fence."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import replace

import pytest

from relay.core.errors import TurnLost
from relay.core.ports import Database
from relay.jobs.night import tidy
from relay.memory.calls.queue import LEASE_SECONDS
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Part
from relay.memory.rows.turns.inbox import InboxRow
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import (
    ADA,
    BEN,
    BOT,
    EVE,
    GROUP,
    TurnDriver,
    counter,
    dm,
    fact,
    incoming_of,
    message,
    private,
    reply,
    row,
)
from tests.telegram_objects import sorted_row


def texts(turn: ClaimedTurn) -> list[str]:
    return [update["message"]["text"] for update in turn.updates]


async def test_an_update_received_repeatedly_is_stored_once(driver: TurnDriver, sql: Sql) -> None:
    update = message(ADA, "hello")
    first = await driver.say(update)
    again = await driver.say(update, update)
    assert [texts(turn) for turn in first] == [["hello"]]
    assert again == []
    assert await sql("select count(*) from inbox") == [(1,)]
    assert await sql("select count(*) from event where kind = 'update'") == [(1,)]
    assert await sql("select count(*) from posted") == [(1,)]


async def test_an_update_that_is_done_is_recognised_when_it_comes_again(driver: TurnDriver) -> None:
    update = message(ADA, "hello")
    (turn,) = await driver.say(update)
    await driver.close(turn)
    assert await driver.say(update) == []


async def test_the_same_update_id_of_another_bot_is_another_update(driver: TurnDriver, store: Store) -> None:
    update = message(ADA, "hello")
    await driver.say(update)
    turns, _ = await store.intake(BOT.id + 1, [row(update)], 10)
    assert [texts(turn) for turn in turns] == [["hello"]]


IGNORED = InboxRow(5, "ignored", 9, True, "ignored")


async def test_an_ignored_update_leaves_only_its_number(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turns, _ = await store.intake(BOT.id, [IGNORED], 10)
    assert turns == []
    assert await sql("select status, payload, lane_id from inbox") == [("ignored", None, None)]
    assert await sql("select kind, payload from event") == [("ignored", None)]


async def test_no_event_or_name_of_a_stranger_is_stored(store: Store, sql: Sql) -> None:
    update = message(EVE, "let me in")
    await store.intake(BOT.id, [sorted_row(update, BOT, frozenset([ADA]), True)], 10)
    assert await sql("select status, user_id, payload from inbox") == [("ignored", None, None)]
    assert await sql("select count(*) from event") == [(0,)]


async def test_messages_that_wait_together_become_one_turn(driver: TurnDriver) -> None:
    (running,) = await driver.say(message(ADA, "first"))
    assert await driver.say(message(ADA, "second"), message(ADA, "third")) == []
    await driver.close(running)
    assert [texts(turn) for turn in await driver.claim()] == [["second", "third"]]


async def test_a_turn_has_only_one_user(driver: TurnDriver) -> None:
    (running,) = await driver.say(message(ADA, "first", GROUP))
    await driver.say(message(ADA, "a1", GROUP), message(BEN, "b1", GROUP), message(ADA, "a2", GROUP))
    seen = []
    for _ in range(3):
        await driver.close(running)
        (running,) = await driver.claim()
        seen.append((running.user_id, texts(running)))
    assert seen == [(ADA, ["a1"]), (BEN, ["b1"]), (ADA, ["a2"])]


async def test_a_command_keeps_its_place_in_the_queue(driver: TurnDriver) -> None:
    (running,) = await driver.say(message(ADA, "first"))
    await driver.say(message(ADA, "before"), message(ADA, "/new"), message(ADA, "after"), message(ADA, "more"))
    seen = []
    for _ in range(3):
        await driver.close(running)
        (running,) = await driver.claim()
        seen.append(texts(running))
    assert seen == [["before"], ["/new"], ["after", "more"]]


async def test_a_turn_takes_a_hundred_updates_and_leaves_the_rest_due(driver: TurnDriver) -> None:
    (running,) = await driver.say(message(ADA, "first"))
    await driver.say(*(message(ADA, f"m{i}") for i in range(105)))
    await driver.close(running)
    (turn,) = await driver.claim()
    assert len(turn.updates) == 100
    await driver.close(turn)
    (turn,) = await driver.claim()
    assert texts(turn) == [f"m{i}" for i in range(100, 105)]


async def test_an_album_waits_for_its_parts(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turns, wait = await store.intake(BOT.id, [row(message(ADA, "one", media_group_id="g"))], 10)
    assert turns == []
    assert wait is not None
    assert 0 < wait <= 0.5
    await driver.say(message(ADA, "two", media_group_id="g"))
    await sql("update lane set due_at = due_at - interval '1 second'")
    (turn,) = await driver.claim()
    assert texts(turn) == ["one", "two"]


async def test_albums_of_two_people_that_interleave_stay_whole(driver: TurnDriver, store: Store, sql: Sql) -> None:
    (running,) = await driver.say(message(EVE, "first", GROUP))
    for number in (1, 2):
        for user, name in ((ADA, "a"), (BEN, "b")):
            await driver.say(message(user, f"{name}{number}", GROUP, media_group_id=name))
    await sql("update inbox set ready_at = now()")
    await driver.close(running)
    (of_ada,) = await driver.claim()
    assert texts(of_ada) == ["a1", "a2"]
    await driver.say(message(ADA, "a3", GROUP, media_group_id="a"), message(ADA, "more", GROUP))
    assert texts(await store.absorb(of_ada)) == ["a1", "a2", "a3"]
    await sql("update inbox set ready_at = now()")
    await driver.close(of_ada)
    (of_ben,) = await driver.claim()
    assert texts(of_ben) == ["b1", "b2"]


async def test_a_late_part_of_an_album_that_is_off_the_record_stays_out_of_one_on_it(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.close(await driver.turn(ADA, "hi"))
    await driver.say(message(ADA, "a1", media_group_id="a"))
    await sql("update inbox set ready_at = now()"), await sql("update lane set due_at = now()")
    (turn,) = await driver.claim()
    await store.begin(incoming_of(turn, "a1", private(ADA)), "m")
    await store.private(dm(ADA), True, ADA)
    await driver.say(message(ADA, "a2", media_group_id="a"))
    assert texts(await store.absorb(turn)) == ["a1"]


async def test_only_forwards_right_behind_a_waiting_message_of_the_same_person_are_let_in(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.say(message(ADA, "@relay_bot " + "щ" * 2500, GROUP))

    async def overhear(user: int, text: str, **more: int) -> None:
        update = message(user, text, GROUP, **more)
        await store.intake(BOT.id, [sorted_row(update, BOT, frozenset([user]), False)], 0)

    await overhear(ADA, "said to the others")
    await overhear(ADA, "behind it", forward_date=1)
    await overhear(BEN, "somebody else's", forward_date=1)
    await overhear(ADA, "behind that", forward_date=1)
    await overhear(ADA, "elsewhere", topic_id=5, forward_date=1)
    next(counter), next(counter)
    await overhear(ADA, "later", forward_date=1)
    stored = "select payload #>> '{message,text}' from inbox where status <> 'ignored' order by update_id"
    assert [text for (text,) in await sql(stored)][1:] == ["behind it", "behind that"]


async def test_a_lane_waits_at_most_five_seconds_for_more_parts(driver: TurnDriver, sql: Sql) -> None:
    await driver.say(message(ADA, "x" * 4000))
    await sql("update inbox set received_at = received_at - interval '4.9 seconds'")
    await driver.say(message(ADA, "y" * 4000))
    ((left,),) = await sql("select extract(epoch from due_at - now())::float from lane")
    assert left < 0.2


async def test_a_control_does_not_wait_in_the_queue(driver: TurnDriver) -> None:
    (running,) = await driver.say(message(ADA, "first"))
    (control,) = await driver.say(message(ADA, "/status"))
    assert (running.kind, control.kind) == ("message", "control")
    await driver.close(control)
    assert await driver.say(message(ADA, "second")) == []


async def test_a_control_is_claimed_even_if_no_turns_are_requested(driver: TurnDriver) -> None:
    turns = await driver.say(message(ADA, "hello"), message(ADA, "/stop"), limit=0)
    assert [turn.kind for turn in turns] == ["control"]


async def test_a_lane_runs_one_turn_at_a_time_and_many_lanes_run_at_once(driver: TurnDriver) -> None:
    turns = await driver.say(
        message(ADA, "dm"), message(ADA, "topic", topic_id=5), message(BEN, "other"), message(EVE, "group", GROUP)
    )
    assert len(turns) == 4
    assert await driver.say(message(ADA, "more"), message(ADA, "more", topic_id=5)) == []
    await driver.close(turns[1])
    (turn,) = await driver.claim()
    assert turn.updates[0]["message"]["message_thread_id"] == 5


async def test_a_person_who_was_just_answered_waits_behind_the_others(driver: TurnDriver, sql: Sql) -> None:
    """This also holds if their next messages are older than those of others, and if they keep writing."""

    async def claimed() -> ClaimedTurn:
        (turn,) = await driver.claim(1)
        return turn

    await driver.say(*(message(one, text, GROUP) for text, one in (("a1", ADA), ("e1", EVE), ("a2", ADA))), limit=0)
    await sql(
        "update inbox set received_at = received_at - interval '1 minute', ready_at = now() - interval '1 minute'"
    )
    await sql("update lane set due_at = due_at - interval '1 minute'")
    first = await claimed()
    await driver.say(message(BEN, "b1"), limit=0)
    await driver.close(first)
    await driver.say(message(EVE, "e2", GROUP), limit=0)
    seen = [texts(first)]
    for _ in range(4):
        turn = await claimed()
        seen.append(texts(turn))
        await driver.close(turn)
    assert seen == [["a1"], ["b1"], ["e1"], ["a2"], ["e2"]]


async def test_no_more_turns_are_claimed_than_requested(driver: TurnDriver) -> None:
    turns = await driver.say(*(message(user, "hi") for user in range(1, 9)), limit=3)
    assert len(turns) == 3
    assert len(await driver.claim(2)) == 2
    assert len(await driver.claim(50)) == 3


async def test_ids_beyond_32_bits_are_supported(driver: TurnDriver) -> None:
    far = 2**52 + 3
    update = message(far, "hello", -(2**51))
    (turn,) = await driver.say({**update, "update_id": 2**40})
    assert turn.user_id == far
    assert turn.updates[0]["message"]["chat"]["id"] == -(2**51)


# Fences


async def writes(store: Store, turn: ClaimedTurn) -> list[Callable[[], object]]:
    incoming = incoming_of(turn, "hello", private(ADA))
    return [
        lambda: store.begin(incoming, "m"),
        lambda: store.finish(incoming, reply()),
        lambda: store.absorb(turn),
        lambda: store.fail(turn, "no", 1),
        lambda: store.deliver(turn, BOT.id, []),
        lambda: store.preview(turn, BOT.id, ADA, {}),
        lambda: store.store_sent(turn, [], True),
        lambda: store.start_sending(turn, [], 1),
        lambda: store.change_memory(turn, private(ADA), [fact(ADA, "likes tea")]),
    ]


async def test_every_write_of_a_lost_turn_is_refused(
    driver: TurnDriver, store: Store, another: Callable[[], Store], sql: Sql
) -> None:
    (turn,) = await driver.say(message(ADA, "hello"))
    await sql("update turn set lease_until = now() - interval '1 second'")
    (taken,), _ = await another().claim(BOT.id, 10)
    assert (taken.turn_id, taken.fence) == (turn.turn_id, turn.fence + 1)
    for write in await writes(store, turn):
        with pytest.raises(TurnLost):
            await write()  # type: ignore[misc]
    assert await sql("select count(*) from message") == [(0,)]
    assert await sql("select count(*) from memory") == [(0,)]


async def test_every_write_of_a_closed_turn_is_refused(driver: TurnDriver, store: Store) -> None:
    (turn,) = await driver.say(message(ADA, "hello"))
    await driver.close(turn)
    for write in await writes(store, turn):
        with pytest.raises(TurnLost):
            await write()  # type: ignore[misc]


async def test_writing_to_an_unknown_turn_is_refused(driver: TurnDriver, store: Store) -> None:
    (turn,) = await driver.say(message(ADA, "hello"))
    ghost = ClaimedTurn(10**9, 1, "message", "working", 0, ADA, turn.updates, ())
    with pytest.raises(TurnLost):
        await store.deliver(ghost, BOT.id, [])


# Take-over


async def test_a_restarted_process_takes_its_turns_over_at_once(driver: TurnDriver, store: Store) -> None:
    (turn,) = await driver.say(message(ADA, "hello"))
    await store.begin(incoming_of(turn, "hello", private(ADA)), "m")
    assert await store.release() == 1
    (taken,) = await driver.claim()
    assert taken.turn_id == turn.turn_id
    assert taken.fence > turn.fence
    assert taken.updates == turn.updates
    with pytest.raises(TurnLost):
        await store.store_sent(turn, [], True)


async def test_a_stored_answer_is_handed_to_the_next_process(driver: TurnDriver, store: Store) -> None:
    done = await driver.exchange(ADA, "hello", "Hi!", actions=[fact(ADA, "likes tea")], close=False)
    parts = [Part(1, ADA, {"text": "Hi!"})]
    await store.deliver(done.turn, BOT.id, parts)
    await store.release()
    (taken,) = await driver.claim()
    assert taken.status == "answered"
    assert taken.answer is not None
    assert (taken.answer.text, taken.answer.changes[0].content) == ("Hi!", "likes tea")
    assert [(part.seq, part.status) for part in taken.parts] == [(1, "sending")]


async def test_release_frees_only_a_processs_own_turns(
    driver: TurnDriver, store: Store, another: Callable[[], Store]
) -> None:
    other = another()
    await driver.say(message(ADA, "hello"))
    assert await other.release() == 0
    assert (await other.claim(BOT.id, 10))[0] == []


async def test_an_expired_lease_is_taken_over_and_a_renewed_one_is_not(
    driver: TurnDriver, store: Store, another: Callable[[], Store], sql: Sql
) -> None:
    (turn,) = await driver.say(message(ADA, "hello"))
    other = another()
    await sql("update turn set lease_until = now() - interval '1 second'")
    assert (await store.claim(BOT.id, 0, [turn.turn_id]))[1].lost == ()
    assert (await other.claim(BOT.id, 10))[0] == []
    await sql("update turn set lease_until = now() - interval '1 second'")
    assert len((await other.claim(BOT.id, 10))[0]) == 1
    assert (await store.claim(BOT.id, 0, [turn.turn_id]))[1].lost == (turn.turn_id,)


async def test_a_turn_is_claimed_again_after_the_response_was_lost(driver: TurnDriver, store: Store, sql: Sql) -> None:
    (turn,) = await driver.say(message(ADA, "hello"))
    assert await driver.claim() == []
    await sql("update turn set lease_until = now() + make_interval(secs => %s)", LEASE_SECONDS * 0.5)
    (again,) = await driver.claim()
    assert again.turn_id == turn.turn_id
    await sql("update turn set lease_until = now() + make_interval(secs => %s)", LEASE_SECONDS * 0.75)
    assert await driver.claim() == []


# The database's clock


async def test_nothing_waits_longer_after_the_clock_was_set_back_an_hour(
    driver: TurnDriver, store: Store, another: Callable[[], Store], sql: Sql
) -> None:
    """Everything stored seems to come from the future, but nothing waits for that hour."""
    other = another()
    await driver.say(message(ADA, "running"))
    await driver.say(message(BEN, "waiting"), limit=0)
    await sql("update turn set lease_until = lease_until + interval '1 hour'")
    await sql("update lane set due_at = due_at + interval '1 hour' where due_at is not null")
    await sql("update inbox set received_at = received_at + interval '1 hour', ready_at = ready_at + interval '1 hour'")
    turns, _ = await other.claim(BOT.id, 10)
    assert sorted(texts(turn)[0] for turn in turns) == ["running", "waiting"]


async def test_a_failed_turn_does_not_wait_longer_after_the_clock_was_set_back(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    (turn,) = await driver.say(message(ADA, "hello"))
    await store.fail(turn, "no", 2)
    await sql("update turn set not_before = not_before + interval '1 hour'")
    assert [t.turn_id for t in await driver.claim()] == [turn.turn_id]


async def test_messages_are_kept_after_the_clock_was_set_forward_an_hour(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    (turn,) = await driver.say(message(ADA, "one"))
    await driver.say(message(ADA, "x" * 4000))
    await sql("update turn set lease_until = lease_until - interval '1 hour'")
    await sql("update lane set due_at = due_at - interval '1 hour'")
    await sql("update inbox set received_at = received_at - interval '1 hour', ready_at = ready_at - interval '1 hour'")
    (again,) = await driver.claim()
    assert again.turn_id == turn.turn_id
    await driver.close(again)
    (following,) = await driver.claim()
    assert len(texts(following)[0]) == 4000


async def test_new_messages_wait_at_most_five_seconds_after_the_clock_was_set_back(
    driver: TurnDriver, sql: Sql
) -> None:
    await driver.say(message(ADA, "one"), limit=0)
    await sql("update lane set due_at = due_at + interval '1 hour'")
    await sql("update inbox set received_at = received_at + interval '1 hour', ready_at = ready_at + interval '1 hour'")
    assert await driver.say(message(ADA, "two")) == []
    ((left,),) = await sql("select extract(epoch from due_at - now())::float from lane")
    assert left <= 5
    await sql("update lane set due_at = now()")
    (turn,) = await driver.claim()
    assert texts(turn) == ["one", "two"]


# Failure


async def test_the_third_failure_sets_a_turn_aside_and_its_lane_continues(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    (turn,) = await driver.say(message(ADA, "poison"))
    await driver.say(message(ADA, "next"))
    outcomes = []
    for _ in range(3):
        outcomes.append(await store.fail(turn, "cannot", 0))
        if not outcomes[-1]:
            (turn,) = await driver.claim()
    assert outcomes == [False, False, True]
    (following,) = await driver.claim()
    assert texts(following) == ["next"]
    assert await sql("select status, error, failures from turn where id = %s", turn.turn_id) == [
        ("failed", "cannot", 3)
    ]
    ((payload,),) = await sql("select payload -> 'message' ->> 'text' from inbox where status = 'failed'")
    assert payload == "poison"
    assert await sql("select count(*) from event where kind = 'error'") == [(3,)]


async def test_messages_that_joined_a_failing_turn_are_answered_on_their_own(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    (turn,) = await driver.say(*(message(ADA, text) for text in ("one", "poison", "three")))
    await driver.say(message(ADA, "four"))
    said: list[list[str]] = []
    for _ in range(20):
        said.append(texts(turn))
        if "poison" not in said[-1]:
            await driver.close(turn)
        else:
            await store.fail(turn, "cannot", 0)
        found = await driver.claim()
        if not found:
            break
        (turn,) = found
    together, alone = [["one", "poison", "three"]] * 3, [["poison"]] * 3
    assert said == [*together, ["one"], *alone, ["three"], ["four"]]
    failed = "select payload #>> '{message,text}' from inbox where status = 'failed'"
    assert await sql(failed) == [("poison",)]


async def test_an_album_stays_whole_when_its_failing_turn_is_taken_apart(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    (turn,) = await driver.say(message(ADA, "wait"))
    await driver.say(
        message(ADA, "one"),
        *(message(ADA, text, media_group_id="first") for text in ("a", "b")),
        *(message(ADA, text, media_group_id="second") for text in ("c", "d")),
    )
    await sql("update inbox set ready_at = now()")
    await driver.close(turn)
    said: list[list[str]] = []
    while found := await driver.claim():
        (turn,) = found
        said.append(texts(turn))
        if "b" not in said[-1]:
            await driver.close(turn)
        else:
            await store.fail(turn, "cannot", 0)
    assert said == [["one", "a", "b", "c", "d"]] * 3 + [["one"]] + [["a", "b"]] * 3 + [["c", "d"]]


async def test_a_failing_album_that_others_joined_is_tried_whole(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.say(*(message(ADA, text, media_group_id="album") for text in ("a", "b")))
    await driver.say(message(ADA, "more"))
    await sql("update lane set due_at = now()")
    said = []
    while found := await driver.claim():
        said.append(texts(found[0]))
        await store.fail(found[0], "cannot", 0)
    assert said == [["a", "b", "more"]] * 3 + [["a", "b"]] + [["more"]] * 3


async def test_nothing_joins_the_last_try_of_a_turn(driver: TurnDriver, store: Store) -> None:
    (turn,) = await driver.say(message(ADA, "one"), message(ADA, "two"))
    for _ in range(3):
        await store.fail(turn, "cannot", 0)
        (turn,) = await driver.claim()
    assert texts(turn) == texts(await store.absorb(turn)) == ["one"]
    assert await store.fail(turn, "cannot", 0)


async def test_an_answered_turn_that_cannot_be_delivered_is_not_answered_again(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    (turn,) = await driver.say(message(ADA, "one"), message(ADA, "two"))
    await store.deliver(turn, BOT.id, [])
    for expected in (False, False, True):
        assert await store.fail(turn, "cannot", 0) is expected
        turn = next(iter(await driver.claim()), turn)
    assert await sql("select distinct status from inbox") == [("failed",)]


async def test_a_failed_turn_waits_and_blocks_only_its_own_lane(driver: TurnDriver, store: Store) -> None:
    (turn,) = await driver.say(message(ADA, "hello"))
    assert await store.fail(turn, "no", 3) is False
    turns, news = await store.claim(BOT.id, 10)
    assert turns == []
    assert news.wait is not None
    assert 2 < news.wait <= 3
    assert await driver.say(message(ADA, "more")) == []
    assert len(await driver.say(message(BEN, "hi"))) == 1


# Killed processes


async def restarted(driver: TurnDriver, sql: Sql) -> list[ClaimedTurn]:
    """Lets the process die, start again and wait. Returns the turns that it claims."""
    await driver.store.start()
    await sql("update turn set not_before = now() where not_before is not null")
    return await driver.claim()


async def test_a_message_that_ends_its_process_each_time_is_set_aside_and_no_other(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    users = range(1, 10)
    turns = await driver.say(*(message(user, "poison" if user == 5 else "hello") for user in users))
    ended: dict[int, str] = {}
    deaths = 0
    while turns:
        for turn in turns:
            if turn.killed:
                assert await store.fail(turn, "died", 0)
                ended[turn.user_id] = "set aside"
        alive = [turn for turn in turns if not turn.killed]
        if any(texts(turn) == ["poison"] for turn in alive):  # it dies before anybody else is answered
            deaths += 1
            turns = await restarted(driver, sql)
            continue
        for turn in alive:
            await driver.close(turn)
            ended[turn.user_id] = "answered"
        turns = await driver.claim()
    assert ended == {user: "set aside" if user == 5 else "answered" for user in users}
    assert deaths <= 10


async def test_the_last_try_waits_and_runs_with_no_other_suspect(driver: TurnDriver, store: Store, sql: Sql) -> None:
    first, second = await driver.say(message(ADA, "one"), message(BEN, "two"))
    await store.start()
    assert len(await driver.claim()) == 2, "one death delays nothing"
    await store.start()
    turns, news = await store.claim(BOT.id, 10)
    assert turns == []
    assert news.wait is not None
    assert 25 < news.wait <= 30
    assert [texts(turn) for turn in await driver.say(message(EVE, "hello"))] == [["hello"]]
    await sql("update turn set not_before = now() where not_before is not null")
    (turn,) = await driver.claim()
    assert turn.turn_id == first.turn_id
    turns, news = await store.claim(BOT.id, 10, [turn.turn_id])
    assert turns == []
    assert news.wait is None or news.wait > 0, "the process does not ask again and again"
    await driver.close(turn)
    assert [turn.turn_id for turn in await driver.claim()] == [second.turn_id]


async def test_a_message_is_answered_however_often_somebody_kills_its_process(driver: TurnDriver, sql: Sql) -> None:
    """It is running at two of three deaths."""
    turns = await driver.say(message(ADA, "hello"))
    for _ in range(30):
        for _ in range(2):
            turns = turns or await driver.claim()
            await driver.store.start()
            turns = []
        await driver.store.start()  # dies while the message waits
        turns = await restarted(driver, sql)
        assert not any(turn.killed for turn in turns)
    assert [texts(turn) for turn in turns] == [["hello"]]


async def test_kills_under_load_set_nothing_aside(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.say(*(message(user, "hello") for user in range(1, 9)))
    await store.start()
    for number in range(30):
        turns = await restarted(driver, sql) + await driver.say(message(1000 + number, "another"))
        assert len(turns) > 1
        assert not any(turn.killed for turn in turns)


async def test_two_messages_that_end_the_process_by_turns_are_both_set_aside(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.say(message(ADA, "one"), message(BEN, "two"))
    await store.release()
    set_aside: list[int] = []
    for number in range(120):
        waits = (ADA, BEN)[number % 2]
        await sql("update turn set not_before = case user_id when %s then now() + interval '50 seconds' end", waits)
        for turn in await driver.claim():
            if turn.killed:
                set_aside.append(turn.user_id)
                await store.fail(turn, "died", 0)
        await store.start()
    assert sorted(set_aside) == [ADA, BEN]


async def test_an_orderly_stop_is_no_death(driver: TurnDriver, store: Store) -> None:
    await driver.say(message(ADA, "hello"))
    for _ in range(10):
        await store.release()
        await store.start()
        ((turn),) = await driver.claim()
        assert not turn.killed


async def test_messages_of_a_turn_that_ends_its_process_are_tried_on_their_own(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turns = await driver.say(*(message(ADA, text) for text in ("one", "poison", "three")))
    said = []
    while turns:
        (turn,) = turns
        said.append(("aside" if turn.killed else "run", *texts(turn)))
        if turn.killed:
            await store.fail(turn, "died", 0)
            turns = await driver.claim()
        elif "poison" in texts(turn):
            turns = await restarted(driver, sql)
        else:
            await driver.close(turn)
            turns = await driver.claim()
    together = [("run", "one", "poison", "three")] * 5 + [("aside", "one", "poison", "three")]
    alone = [("run", "poison")] * 5 + [("aside", "poison")]
    assert said == [*together, ("run", "one"), *alone, ("run", "three")]


# Joining a running turn


async def test_a_late_part_joins_an_unanswered_turn(driver: TurnDriver, store: Store) -> None:
    (turn,) = await driver.say(message(ADA, "look at this"))
    await driver.say(message(ADA, "forwarded"))
    joined = await store.absorb(turn)
    assert texts(joined) == ["look at this", "forwarded"]
    await driver.close(joined)
    assert await driver.claim() == []


async def test_an_answered_turn_takes_no_more_messages(driver: TurnDriver, store: Store) -> None:
    done = await driver.exchange(ADA, "one", close=False)
    await driver.say(message(ADA, "two"))
    assert texts(await store.absorb(done.turn)) == ["one"]
    await driver.close(done.turn)
    assert [texts(turn) for turn in await driver.claim()] == [["two"]]


async def test_a_late_part_never_skips_a_command_or_another_person(driver: TurnDriver, store: Store) -> None:
    (turn,) = await driver.say(message(ADA, "one"))
    await driver.say(message(ADA, "two"), message(ADA, "/new"), message(ADA, "three"))
    assert texts(await store.absorb(turn)) == ["one", "two"]
    (in_group,) = await driver.say(message(ADA, "a1", GROUP))
    await driver.say(message(BEN, "b1", GROUP), message(ADA, "a2", GROUP))
    assert texts(await store.absorb(in_group)) == ["a1"]


async def test_no_message_joins_a_command(driver: TurnDriver, store: Store) -> None:
    (turn,) = await driver.say(message(ADA, "/retry"))
    await driver.say(message(ADA, "and this"))
    assert texts(await store.absorb(turn)) == ["/retry"]


# Many at once


async def test_twenty_claimers_never_get_the_same_turn(
    driver: TurnDriver, another: Callable[[], Store], sql: Sql
) -> None:
    await driver.say(*(message(user, f"m{n}") for user in range(1, 41) for n in range(2)), limit=0)
    results = await asyncio.gather(*(another().claim(BOT.id, 5) for _ in range(20)))
    claimed = [turn.turn_id for turns, _ in results for turn in turns]
    assert len(claimed) == len(set(claimed)) == 40
    assert await sql("select count(*) from inbox where status = 'pending'") == [(0,)]


async def test_twenty_claimers_never_share_an_abandoned_turn(
    driver: TurnDriver, another: Callable[[], Store], sql: Sql
) -> None:
    await driver.say(*(message(user, "hi") for user in range(1, 31)))
    await sql("update turn set lease_until = now() - interval '1 second'")
    results = await asyncio.gather(*(another().claim(BOT.id, 4) for _ in range(20)))
    claimed = [turn.turn_id for turns, _ in results for turn in turns]
    assert len(claimed) == len(set(claimed)) == 30


async def test_the_same_updates_received_in_parallel_are_stored_once(
    driver: TurnDriver, another: Callable[[], Store], sql: Sql
) -> None:
    rows = [row(message(user, "hi")) for user in range(1, 6)]
    results = await asyncio.gather(*(another().intake(BOT.id, rows, 10) for _ in range(8)), return_exceptions=True)
    assert not [r for r in results if isinstance(r, BaseException)]
    assert sum(len(r[0]) for r in results if not isinstance(r, BaseException)) == 5
    assert await sql("select count(*) from inbox") == [(5,)]


async def test_messages_arriving_while_a_turn_closes_are_never_stranded(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    """A lane with pending updates and no open turn is due, in whatever order intake and close run."""
    said = 0
    for _ in range(40):
        update = message(ADA, "first")
        (turn,) = [t for t in await driver.say(update) if t.kind == "message"] or await driver.claim()
        said += len(turn.updates)
        late = [message(ADA, f"late {i}") for i in range(3)]
        results = await asyncio.gather(driver.close(turn), *(driver.say(update) for update in late))
        claimed = [t for result in results if result for t in result]
        stranded = await sql(
            "select 1 from lane l where open_turn_id is null and due_at is null"
            " and exists (select from inbox where lane_id = l.id and status = 'pending')"
        )
        assert stranded == []
        while claimed := [*claimed, *await driver.claim()]:
            assert len(claimed) == 1
            said += len(claimed[0].updates)
            await driver.close(claimed.pop())
    assert said == 160
    assert await sql("select count(*) from inbox where status <> 'done'") == [(0,)]


async def test_only_one_of_several_closers_closes_a_turn(driver: TurnDriver, store: Store) -> None:
    (turn,) = await driver.say(message(ADA, "one"))
    results = await asyncio.gather(*(store.store_sent(turn, [], True) for _ in range(5)), return_exceptions=True)
    assert sum(isinstance(result, TurnLost) for result in results) == 4


# Tidying


async def test_tidying_deletes_only_old_finished_updates(driver: TurnDriver, store: Store, sql: Sql) -> None:
    (turn,) = await driver.say(message(ADA, "done"))
    await driver.close(turn)
    (failed,) = await driver.say(message(BEN, "failed"))
    for _ in range(3):
        if not await store.fail(failed, "no", 0):
            (failed,) = await driver.claim()
    await driver.say(message(EVE, "waiting"), limit=0)
    assert await store.tidy(14, 100) == 0
    await sql("update inbox set received_at = received_at - interval '15 days'")
    assert await store.tidy(14, 100) == 1
    assert await sql("select status from inbox order by status") == [("failed",), ("pending",)]


async def test_tidying_deletes_the_remains_of_ignored_updates(driver: TurnDriver, store: Store, sql: Sql) -> None:
    ignored = [replace(IGNORED, update_id=number) for number in (-3, -2, -1)]
    await store.intake(BOT.id, [*ignored, row(message(ADA, "hello"))], 10)
    await sql("update event set at = at - interval '15 days'")
    await sql("update inbox set received_at = received_at - interval '15 days' where update_id < -1")
    assert await tidy(store, 14, 1) == 5
    assert await sql("select kind from event") == [("update",)]
    assert await sql("select count(*) from inbox") == [(2,)]


async def test_a_payload_is_deleted_when_its_turn_closes(driver: TurnDriver, sql: Sql) -> None:
    (turn,) = await driver.say(message(ADA, "my secret"))
    assert await sql("select payload is null from inbox") == [(False,)]
    await driver.close(turn)
    assert await sql("select payload is null from inbox") == [(True,)]


async def test_a_secret_is_redacted_in_the_event_log(driver: TurnDriver, sql: Sql) -> None:
    key = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA"
    (turn,) = await driver.say(message(ADA, f"my key is {key}"))
    assert key in texts(turn)[0]
    ((logged,),) = await sql("select payload::text from event where kind = 'update'")
    assert key not in logged
    assert "[redacted]" in logged


async def test_a_claim_by_an_unknown_worker_gets_no_turns(database: Database) -> None:
    result = await database.call("claim", bot_id=BOT.id, worker=str(uuid.uuid4()), limit=5, lease_seconds=60)
    assert result["turns"] == []
