"""Tests summaries: each is due once, made once, and a version of its own. The window moves up with them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import ANY

import pytest

from relay.core.errors import ContextTooLong, ModelUnavailable
from relay.core.limits import SUMMARY_TOKENS
from relay.core.models import ModelRequest, Step
from relay.core.prompt_markup import estimate_tokens
from relay.memory.contexts.markers import markers_in
from relay.memory.rows.turns.context import StoredMessage
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.memory.writing.summaries import Summariser
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, GROUP, TurnDriver, dm, incoming_of, private, reply
from tests.integration.work import Scripted, claim_summaries, summarise_due, written

OWED = "select parked_at is not null, failures from job where kind = 'summary'"


async def talk(driver: TurnDriver, count: int, first: int = 1, **more: Any) -> None:
    for number in range(first, first + count):
        await driver.exchange(ADA, f"q{number}", f"a{number}", **more)


def said(rows: tuple[StoredMessage, ...]) -> list[str]:
    return [row.text for row in rows]


class Narrow(Scripted):
    """A small model whose context window has this many tokens."""

    def __init__(self, window: int) -> None:
        super().__init__("In short.")
        self.window = window

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        step = await super().reply(request, on_text)
        if estimate_tokens(asked_of(request)) > self.window:
            raise ContextTooLong()
        return step


def asked_of(request: ModelRequest) -> str:
    return str(request.messages[0]["content"][0]["text"])


async def test_a_summary_covers_the_messages_since_the_last_one(driver: TurnDriver, store: Store) -> None:
    await talk(driver, 5)
    (work,) = await claim_summaries(store, 4)
    assert work.work.previous is None
    assert [row.text for row in work.work.messages] == [text for n in range(1, 6) for text in (f"q{n}", f"a{n}")]
    assert await claim_summaries(store, 4) == []


async def summarise(store: Store, *texts: str) -> None:
    """Stores these texts as the summaries that are due, oldest first."""
    due = await claim_summaries(store, 4)
    for work, text in zip(due, texts, strict=True):
        assert await store.store_summary(work.job, written(work, text)) is True


async def shown_now(driver: TurnDriver, words: str = "now") -> tuple[str | None, list[str]]:
    """Returns the summary and the first and last messages in the next prompt."""
    context = (await driver.exchange(ADA, words)).context
    recent = said(context.recent)
    return context.summary.text if context.summary else None, [recent[0], recent[-1]]


async def test_a_summary_is_shown_once_its_messages_leave_the_window(driver: TurnDriver, store: Store) -> None:
    await talk(driver, 10)
    await summarise(store, "Five.", "Ten.")
    context = (await driver.exchange(ADA, "q11", "a11")).context
    assert context.summary is None
    assert context.latest_summary is not None
    assert context.latest_summary.text == "Ten."
    assert said(context.recent) == [text for n in range(1, 11) for text in (f"q{n}", f"a{n}")]
    await talk(driver, 4, first=12)
    await summarise(store, "Fifteen.")
    # ten exchanges have left the window; the first summary that covers them is used until more have left
    for number in range(16, 26):
        if number == 21:
            await summarise(store, "Twenty.")
        assert await shown_now(driver, f"q{number}") == ("Ten.", ["q11", ANY])
    await summarise(store, "Twenty-five.")
    assert await shown_now(driver) == ("Twenty.", ["q21", ANY])


async def test_long_messages_move_the_window_earlier(driver: TurnDriver, store: Store) -> None:
    long = "w" * 6_000
    for number in range(1, 11):
        await driver.exchange(ADA, f"q{number}", long)
    await summarise(store, "Five.", "Ten.")
    assert await shown_now(driver) == (None, ["q1", long])
    for number in range(12, 16):
        await driver.exchange(ADA, f"q{number}", long * 2)
    await summarise(store, "Fifteen.")
    assert await shown_now(driver) == ("Ten.", ["now", long * 2])


async def test_no_message_falls_between_the_summary_and_the_window(driver: TurnDriver, store: Store, sql: Sql) -> None:
    """This holds whenever summaries come and in whatever order, late or never."""
    late: list[dict[str, Any]] = []
    for number in range(1, 61):
        context = (await driver.exchange(ADA, f"q{number}", f"a{number}")).context
        covered = 0
        if context.summary:
            ((covered,),) = await sql("select through_message_id from summary where id = %s", context.summary.id)
        first = context.recent[0].id if context.recent else 0
        assert await sql("select count(*) from message where id > %s and id < %s", covered, first) == [(0,)]
        late += await claim_summaries(store, 4)
        for work in late[-1:] if number % 7 == 0 else late[:1] if number % 11 == 0 else []:
            await store.store_summary(work.job, written(work, f"{number}."))
            late.remove(work)


async def test_the_next_summary_builds_on_the_one_before(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await talk(driver, 5)
    (first,) = await claim_summaries(store, 4)
    await store.store_summary(first.job, written(first, "Early.", tainted=True))
    await talk(driver, 5, first=6)
    (second,) = await claim_summaries(store, 4)
    assert (second.work.previous.text, second.work.previous.tainted) == ("Early.", True)
    assert second.work.messages[0].text == "q6"
    assert len(second.work.messages) == 10
    await store.store_summary(second.job, written(second, "Later."))
    rows = await sql(
        "select s.text, p.text, s.message_count, s.model, s.settings ->> 'max_tokens', s.usage ->> 'input_tokens',"
        " s.from_message_id <= s.through_message_id from summary s left join summary p on p.id = s.previous_id"
        " order by s.id"
    )
    assert rows == [
        ("Early.", None, 10, "small", "800", "3", True),
        ("Later.", "Early.", 10, "small", "800", "3", True),
    ]


async def test_a_late_older_summary_does_not_replace_a_newer_one(driver: TurnDriver, store: Store) -> None:
    await talk(driver, 10)
    first, second = await claim_summaries(store, 4)
    await store.store_summary(second.job, written(second, "Later."))
    await store.store_summary(first.job, written(first, "Early."))
    context = (await driver.exchange(ADA, "now")).context
    assert context.latest_summary is not None
    assert context.latest_summary.text == "Later."


async def test_a_summary_finished_after_new_is_stored_and_not_shown(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await talk(driver, 5)
    (work,) = await claim_summaries(store, 4)
    await store.new_session(dm(ADA), "")
    await store.store_summary(work.job, written(work, "Before."))
    context = (await driver.exchange(ADA, "a clean page")).context
    assert context.summary is None
    assert context.recent == ()
    assert await sql("select count(*) from summary") == [(1,)]


async def test_an_ended_session_is_summarised_separately(driver: TurnDriver, store: Store) -> None:
    await talk(driver, 5)
    (work,) = await claim_summaries(store, 4)
    await store.store_summary(work.job, written(work, "Early."))
    await talk(driver, 2, first=6)
    await store.new_session(dm(ADA), "")
    await talk(driver, 3, first=8)
    await driver.store.new_session(dm(ADA), "")
    first, second, *rest = sorted(await claim_summaries(store, 9), key=lambda due: due.job.id)
    assert [row.text for row in first.work.messages] == ["q6", "a6", "q7", "a7"]
    assert first.work.previous.text == "Early."
    assert second.work.previous is None
    assert second.work.messages[0].text == "q8"
    assert len(rest) <= 1


async def test_a_lost_lease_stores_nothing(
    driver: TurnDriver, store: Store, another: Callable[[], Store], sql: Sql
) -> None:
    await talk(driver, 5)
    (work,) = await claim_summaries(store, 4)
    await sql("update job set lease_until = now() - interval '1 second'")
    other = another()
    (taken,) = await claim_summaries(other, 4)
    assert await store.store_summary(work.job, written(work, "Mine.")) is False
    assert await other.store_summary(taken.job, written(taken, "Theirs.")) is True
    assert await other.store_summary(taken.job, written(taken, "Again.")) is False
    assert await sql("select text from summary") == [("Theirs.",)]


async def test_many_claimers_get_each_summary_once(driver: TurnDriver, another: Callable[[], Store]) -> None:
    for topic in range(2, 8):
        await talk(driver, 5, topic_id=topic)
    results = await asyncio.gather(*(claim_summaries(another(), 2) for _ in range(8)))
    ids = [work.job.id for works in results for work in works]
    assert len(ids) == len(set(ids)) == 6


async def test_a_clock_set_back_does_not_hold_a_summary_for_long(
    driver: TurnDriver, store: Store, another: Callable[[], Store], sql: Sql
) -> None:
    await talk(driver, 5)
    await claim_summaries(store, 4)
    await sql("update job set lease_until = lease_until + interval '1 hour'")
    assert len(await claim_summaries(another(), 4)) == 1


async def test_a_stopped_process_gives_its_summaries_back(
    driver: TurnDriver, store: Store, another: Callable[[], Store]
) -> None:
    await talk(driver, 5)
    assert len(await claim_summaries(store, 4)) == 1
    await store.release()
    assert len(await claim_summaries(another(), 4)) == 1


async def test_failed_summaries_are_delayed_and_finally_given_up(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await talk(driver, 5)
    for number in range(3):
        (work,) = await claim_summaries(store, 4)
        assert work.job.failures == number
        await store.fail_job(work.job, "away", 30, 3)
        assert await claim_summaries(store, 4) == []
        await sql("update job set due_at = now()")
    assert await claim_summaries(store, 4) == []
    owed = await sql("select parked_at is not null, last_error, failures from job where kind = 'summary'")
    assert owed == [(True, "away", 3)]


async def test_messages_of_a_given_up_summary_are_in_the_next(driver: TurnDriver, store: Store) -> None:
    await talk(driver, 5)
    (work,) = await claim_summaries(store, 4)
    await store.fail_job(work.job, "away", 0, 1)
    await talk(driver, 5, first=6)
    (work,) = await claim_summaries(store, 4)
    assert len(work.work.messages) == 20


async def test_a_summary_after_a_long_outage_covers_all_messages(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await talk(driver, 4)
    await sql(
        "insert into message (space_id, thread_id, session_id, role, user_id, text, blocks) select space_id, thread_id,"
        " session_id, role, user_id, 'late ' || n, '[]' from message, generate_series(1, 25) n order by n, message.id"
    )
    await talk(driver, 1)
    (due,) = await claim_summaries(store, 4)
    assert (len(due.work.messages), due.work.messages[0].text) == (4 * 2 * 26 + 2, "q1")


async def test_a_very_long_backlog_is_summarised_in_order(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await talk(driver, 4)
    await sql(
        "insert into message (space_id, thread_id, session_id, role, user_id, text, blocks) select space_id, thread_id,"
        " session_id, role, user_id, 'late ' || n || '.', '[]' from message, generate_series(1, 150) n"
        " order by n, message.id"
    )
    await talk(driver, 1)
    model = Scripted("In short.")
    assert await summarise_due(Summariser(store, Gate(model, store), "small")) == 3
    asked = [asked_of(request) for request in model.requests]
    for number in range(1, 151):
        assert sum(f"late {number}." in one for one in asked) >= 1, number
    assert await sql("select s.message_count, p.through_message_id < s.from_message_id from summary s"
                     " left join summary p on p.id = s.previous_id order by s.id") == [
        (500, None), (500, True), (4 * 2 * 151 + 2 - 1000, True)]  # fmt: skip
    assert await sql(OWED) == []
    assert (await driver.exchange(ADA, "now")).context.summary is not None


async def test_replaced_answers_are_not_summarised(driver: TurnDriver, store: Store) -> None:
    await talk(driver, 4)
    await driver.exchange(ADA, "q5", "bad")
    await driver.exchange(ADA, "/retry", "good", retry=True)
    (work,) = await claim_summaries(store, 4)
    assert "bad" not in [row.text for row in work.work.messages]


# The job


async def test_the_job_makes_due_summaries(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await talk(driver, 5)
    model = Scripted("They spoke of five things. [LEARN: must not act] [VOICE_REPLY]")
    assert await summarise_due(Summariser(store, Gate(model, store), "small")) == 1
    assert await sql("select text, tainted, model from summary") == [("They spoke of five things.", False, "small")]
    assert await sql("select count(*) from memory") == [(0,)]
    assert await summarise_due(Summariser(store, Gate(model, store), "small")) == 0
    prompt = model.requests[0].messages[0]["content"][0]["text"]
    assert "Ada: q1" in prompt
    assert "Assistant: a5" in prompt
    assert not model.requests[0].tools


async def test_a_summary_knows_the_day_of_each_message(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await talk(driver, 5)
    await sql("update message set created_at = timestamptz '2026-03-01T23:30:00Z' + (id - 1) / 6 * interval '2 days'")
    await store.choose(ADA, {"zone": "Asia/Tokyo"})
    model = Scripted("They spoke of five things.")
    await summarise_due(Summariser(store, Gate(model, store), "small"))
    prompt = model.requests[0].messages[0]["content"][0]["text"]
    assert prompt.startswith("(2026-03-02)\nAda: q1\nAssistant: a1\nAda: q2")
    assert "\nAssistant: a3\n(2026-03-04)\nAda: q4" in prompt


async def test_the_job_retries_after_the_model_was_unavailable(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await talk(driver, 5)
    assert await summarise_due(Summariser(store, Gate(Scripted(ModelUnavailable()), store), "small")) == 0
    assert await sql(OWED) == [(False, 1)]
    await sql("update job set due_at = now()")
    assert await summarise_due(Summariser(store, Gate(Scripted("Now."), store), "small")) == 1


async def test_a_message_larger_than_the_window_is_cut_for_its_summary(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(ADA, "The roses. " * 350, "I see.")
    await talk(driver, 4)
    model = Narrow(600)
    assert await summarise_due(Summariser(store, Gate(model, store), "small")) == 1
    assert await sql(OWED) == []
    assert await sql("select text from summary") == [("In short.",)]
    read = asked_of(model.requests[-1])
    assert "The roses." in read
    assert " […]" in read
    assert all(f"q{number}" in read and f"a{number}" in read for number in range(1, 5))


async def test_a_window_too_small_for_any_summary_is_a_failure(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await talk(driver, 5)
    model = Narrow(10)
    assert await summarise_due(Summariser(store, Gate(model, store), "small")) == 0
    assert await sql(OWED) == [(False, 1)]
    assert len(model.requests) < 8


@pytest.mark.parametrize("text", ["", "   ", "[LEARN: only a tag]"])
async def test_an_empty_summary_is_not_stored(driver: TurnDriver, store: Store, sql: Sql, text: str) -> None:
    await talk(driver, 5)
    assert await summarise_due(Summariser(store, Gate(Scripted(text), store), "small")) == 0
    assert await sql("select count(*) from summary") == [(0,)]


async def test_fewer_than_three_messages_get_no_summary(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await talk(driver, 1)
    await store.new_session(dm(ADA), "")
    model = Scripted("never")
    assert await summarise_due(Summariser(store, Gate(model, store), "small")) == 0
    assert model.requests == []
    assert await sql(OWED) == []


async def test_a_summary_inherits_taint(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await talk(driver, 4)
    await driver.exchange(ADA, "q5", "a5", tainted=True)
    await summarise_due(Summariser(store, Gate(Scripted("One."), store), "small"))
    await talk(driver, 5, first=6)
    await summarise_due(Summariser(store, Gate(Scripted("Two."), store), "small"))
    assert await sql("select text, tainted from summary order by id") == [("One.", True), ("Two.", True)]


async def test_words_of_several_people_taint_a_summary(driver: TurnDriver, store: Store, sql: Sql) -> None:
    for person in (ADA, BEN, ADA, BEN, ADA):
        await driver.exchange(person, "hello", chat_id=GROUP)
    await summarise_due(Summariser(store, Gate(Scripted("One."), store), "small"))
    assert await sql("select tainted from summary") == [(True,)]


async def test_the_length_of_a_summary_is_limited(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await talk(driver, 5)
    await summarise_due(Summariser(store, Gate(Scripted("word " * 20_000), store), "small"))
    ((length,),) = await sql("select octet_length(text) from summary")
    assert length < 7_000


# Markers


async def marked(driver: TurnDriver, *texts: str) -> None:
    """Says these texts with their markers."""
    for text in texts:
        turn = await driver.turn(ADA, text)
        incoming = incoming_of(turn, text, private(ADA))
        await driver.store.begin(replace(incoming, keepits=markers_in(incoming.blocks)), "m")
        await driver.store.finish(incoming, reply("Understood."))
        await driver.close(turn)


async def test_marked_passages_stand_word_for_word_under_the_summary(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await marked(
        driver, "##keepit0.80##The code is 4711.", "##keepit1.00##Never\ncall before nine.", "##keepit0.10##tea"
    )
    await talk(driver, 2)
    model = Scripted("In short.")
    summariser = Summariser(store, Gate(model, store), "small")
    assert await summarise_due(summariser) == 1
    text = "In short.\n\nWord for word:\n- Never\ncall before nine.\n- The code is 4711."
    assert await sql("select text, settings ->> 'kept', settings ->> 'left_out' from summary") == [(text, "2", "0")]
    assert "##" not in asked_of(model.requests[0])
    shown = await store.summary(dm(ADA))
    assert (shown.kept, shown.left_out) == (2, 0)
    await talk(driver, 5, 10)
    assert await summarise_due(summariser) == 1
    assert "Word for word" not in asked_of(model.requests[1]), "the next summary must be written without the passages"
    assert "<summary>\nIn short.\n</summary>" in asked_of(model.requests[1])
    assert await sql("select text from summary order by id desc limit 1") == [(text,)]
    await sql("update keepit set removed_at = now() where weight = 0.8")
    await talk(driver, 5, 20)
    await summarise_due(summariser)
    rest = "In short.\n\nWord for word:\n- Never\ncall before nine."
    assert await sql("select text from summary order by id desc limit 1") == [(rest,)]


async def test_a_summary_begins_at_its_first_marked_passage(driver: TurnDriver, store: Store, sql: Sql) -> None:
    """Erasing that message also deletes the summary."""
    await marked(driver, "##keepit1.00##The code is 4711.")
    await talk(driver, 60)
    await sql("delete from job where kind = 'summary' and id < (select max(id) from job)")
    assert await summarise_due(Summariser(store, Gate(Scripted("In short."), store), "small")) == 1
    [(text, begins, said)] = await sql("select text, from_message_id, (select min(id) from message) from summary")
    assert "4711" in text
    assert begins == said


async def test_a_corrected_summary_has_its_passages_once(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await marked(driver, "##keepit1.00##The code is 4711.", "b", "c", "d", "e")
    model = Scripted("In short.")
    summariser = Summariser(store, Gate(model, store), "small")
    await summarise_due(summariser)
    [(id, text)] = await sql("select id, text from summary")
    await store.correct_summary(dm(ADA), id, ADA, "Ada", text.replace("short", "brief"))
    await talk(driver, 5, 10)
    await summarise_due(summariser)
    assert "<summary>\nIn brief.\n</summary>" in asked_of(model.requests[1])


async def test_a_long_summary_keeps_only_passages_with_enough_weight(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await marked(driver, "##keepit0.31##low", "##keepit0.32##enough", "c", "d", "e")
    await sql("update message set text = rpad('a', 8000, 'word ') where role = 'assistant' or length(text) = 1")
    (due,) = await claim_summaries(store, 1)
    # A little more than 8 × 2,000 tokens is 21 × 800: aggressive, 0.5 + 0.21 / 10.
    assert due.work.markers == ()
    await sql("update message set text = 'short' where role = 'assistant'")
    # A little more than 3 × 2,000 tokens is 8 × 800: moderate, 0.3 + 0.08 / 10 = 0.308.
    work = await store.summary_work(due.job)
    assert work is not None
    assert [one.content for one in work.markers] == ["enough", "low"]
    await sql("update keepit set weight = 0.30 where content = 'low'")
    work = await store.summary_work(due.job)
    assert work is not None
    assert [one.content for one in work.markers] == ["enough"]


async def test_a_space_without_decay_keeps_all_marked_passages(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await marked(driver, "##keepit0.00##nothing much", "b", "c", "d", "e")
    (due,) = await claim_summaries(store, 1)
    assert due.work.markers == ()
    await sql(
        "insert into context_setting select id, %s::jsonb from space", '{"defaults": {"keepitDecayEnabled": false}}'
    )
    work = await store.summary_work(due.job)
    assert work is not None
    assert [one.content for one in work.markers] == ["nothing much"]


async def test_passages_that_do_not_fit_are_counted(driver: TurnDriver, store: Store, sql: Sql) -> None:
    long = "long " * 500
    await marked(driver, f"##keepit1.00##{long}", "##keepit0.90##short", "c", "d", "e")
    summariser = Summariser(store, Gate(Scripted("word " * 2000), store), "small")
    await summarise_due(summariser)
    [(text,)] = await sql("select text from summary")
    assert text.endswith("\n\nWord for word:\n- short")
    assert estimate_tokens(text) <= SUMMARY_TOKENS
    shown = await store.summary(dm(ADA))
    assert (shown.kept, shown.left_out) == (1, 1)
