"""Tests erasing derived data (announced, judged, summarised, cached, planned), before, while and after it is made."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from relay.clients.kept_files import KeptFiles
from relay.core.models import Attachment
from relay.media.files import Files
from relay.memory.derivations.derivation import Input, make_derivation
from relay.memory.erasure import remove_files
from relay.memory.night.digest import notice_of
from relay.memory.rows.delivery import Part, PartResult
from relay.memory.rows.upkeep.digest import DigestPlace
from relay.memory.rows.upkeep.judging import FoundMemory, JudgingWork
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.dump import holding
from tests.integration.test_erase_sql import WORDS, erase
from tests.integration.turn_driver import (
    ADA,
    BEN,
    BOT,
    FINISHED,
    GROUP,
    TurnDriver,
    dm,
    due_announcements,
    fact,
    group,
    private,
)
from tests.integration.work import claim_judging, claim_summaries, written
from tests.judging import learned, result_of
from tests.standins.fakes import FakeMessenger

Json = dict[str, Any]
BIRD = "My parrot is called Zanzibarix, a quetzalcoatlus"


def found(evidence: int, content: str) -> FoundMemory:
    return learned(content, evidence, subject_id=ADA, subject="Ada")


async def sent(driver: TurnDriver, turn: Any, text: str, number: int = 900) -> None:
    """Delivers the answer of a turn."""
    request = {"chat_id": ADA, "text": text}
    await driver.store.deliver(turn, BOT.id, [Part(1, ADA, request)])
    row = PartResult(1, "sent", number)
    await driver.store.store_sent(turn, [row], True)


async def announced(driver: TurnDriver, text: str, answer: str) -> JudgingWork:
    """Sends a message, judges it, and announces the result under its answer. Returns the judging work."""
    said = await driver.exchange(ADA, text, answer, close=False)
    await sent(driver, said.turn, answer)
    (judging,) = await claim_judging(driver.store)
    work = judging.work
    assert await driver.store.store_judged(judging.job, result_of(work, found(work.through - 1, f"said: {text}")))
    (due,) = await due_announcements(driver.store)
    request = {**(due.before or {}), "text": f"{answer}\n\n🧠 said: {text}"}
    await driver.store.record_announced(due.turn_id, 1, request)
    return work


async def test_the_answer_text_before_an_announcement_line_is_erased(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await announced(driver, BIRD, "Zanzibarix the quetzalcoatlus, what a name!")
    assert "announcement" in await holding(sql, *WORDS)
    await erase(store, private(ADA), {"words": "zanzibarix"})
    assert await holding(sql, *WORDS) == {}


async def test_the_answer_text_before_an_announcement_line_is_kept_two_days(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await announced(driver, BIRD, "Zanzibarix!")
    await store.tidy(14, 100)
    assert await sql("select before is not null from announcement") == [(True,)]
    await sql("update turn set done_at = now() - interval '3 days'")
    await store.tidy(14, 100)
    assert await sql("select count(*) from announcement") == [(0,)]


async def test_a_memory_learned_after_the_preview_is_erased_too(driver: TurnDriver, store: Store, sql: Sql) -> None:
    said = await driver.exchange(ADA, BIRD, "Nice.")
    shown = await store.erase_preview(private(ADA), {"words": "zanzibarix"}, ADA, False)
    assert shown is not None
    (judging,) = await claim_judging(store)
    finding = found(said.context.message_id or 0, "owns a quetzalcoatlus of a parrot")
    assert await store.store_judged(judging.job, result_of(judging.work, finding))
    assert await store.erase_begin(shown.erasure_id, ADA, False)
    while not (await store.erase_step(shown.erasure_id) or FINISHED).done:
        pass
    await erase_all_left(store)
    assert "zanzibarix" not in str(await holding(sql, *WORDS))


async def test_what_is_built_on_an_erased_summary_goes_too_but_for_corrections_by_others(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    """The erasure used to fail again and again, as these referred to what it deletes."""
    await driver.exchange(ADA, BIRD, "Nice.", chat_id=GROUP)
    insert = (
        "insert into summary (thread_id, session_id, previous_id, text, from_message_id, through_message_id,"
        " message_count, model, settings, tainted, author_id)"
        " select thread_id, session_id, (select min(id) from summary), %s,"
        " id, id + (select count(*) from summary), 1, 'small', '{}', false, %s from message where role = 'user'"
    )
    await sql(insert, "Ada has a pet.", None)
    shown = await store.erase_preview(group(), {"words": "zanzibarix"}, ADA, False)
    assert shown is not None
    assert await store.erase_begin(shown.erasure_id, ADA, False)
    await sql(insert, "Ada wanted a pet.", BEN)
    await sql(insert, "Ada has two pets.", None)
    while not (await store.erase_step(shown.erasure_id) or FINISHED).done:
        pass
    assert await sql("select text, previous_id from summary") == [("Ada wanted a pet.", None)]


async def erase_all_left(store: Store) -> None:
    while await store.erase_step() is not None:
        pass


async def test_results_made_from_erased_texts_meanwhile_are_not_stored(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    for text in (BIRD, "one", "two", "three", "four"):
        await driver.exchange(ADA, text, "Yes.")
    (due,) = await claim_summaries(store, 1)
    (judging,) = await claim_judging(store)
    work = judging.work
    result = make_derivation("judge", 1, [Input("message", row.id, row.text) for row in work.messages])
    await erase(store, private(ADA), {"words": "zanzibarix"})
    summary = written(due, "Ada has a quetzalcoatlus, Zanzibarix.")
    assert not await store.store_summary(due.job, summary)
    finding = found(work.messages[0].id, "owns Zanzibarix")
    assert not await store.store_judged(judging.job, result_of(work, finding))
    await store.keep_result(work.space_id, result.as_json(), {"text": "quetzalcoatlus"}, 10)
    assert await holding(sql, *WORDS) == {}


@pytest.mark.parametrize("said", [False, True])
async def test_cached_results_and_plans_of_erased_texts_are_erased(
    driver: TurnDriver, store: Store, sql: Sql, said: bool
) -> None:
    told = await driver.exchange(ADA, BIRD, "Nice.", actions=[fact(ADA, "owns the parrot Zanzibarix quetzalcoatlus")])
    memory = told.told.changes[0].memory_id
    ((space,),) = await sql("select id from space")
    message = [Input("message", told.context.message_id or 0, BIRD)]
    await store.keep_result(space, make_derivation("summary", 1, message).as_json(), {"text": "a big bird"}, 10)
    await store.keep_result(
        space, make_derivation("digest", 1, [Input("memory", memory, "x")]).as_json(), {"text": "bird"}, 10
    )
    await sql(
        "insert into consolidation (space_id, plan, lost, active) values (%s, jsonb_build_array(jsonb_build_object("
        "'action', 'archive', 'older', jsonb_build_object('id', %s::bigint, 'content', 'bird'))), 1, 1)",
        space,
        memory,
    )
    notice = notice_of("You spoke of a big bird", [f"message:{told.context.message_id}"])
    await sql("insert into night (through_message, through_memory) values (9, 9)")
    await sql("insert into sleep_due select %s, id, 0, 9, 0, 9 from night", space)
    await store.want_digest(private(ADA), DigestPlace(ADA, ADA, 0))
    assert await store.post_digest(space, BOT.id, notice)
    if said:
        (turn,) = (await store.claim(BOT.id, 5))[0]
        assert turn.message
        assert turn.message.text == notice["text"]
        await store.deliver(turn, BOT.id, [Part(1, ADA, {"chat_id": ADA, "text": notice["text"]})])
        await store.store_sent(turn, [PartResult(1, "sent", 901)], True)
    await erase(store, private(ADA), {"memory_id": memory})
    assert await holding(sql, *WORDS, "big bird") == {}
    assert await sql("select count(*) from result") == [(0,)]
    assert await sql("select plan from consolidation") in ([], [([],)])


async def test_erasing_a_memory_erases_all_versions_of_the_same_statement(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    said = await driver.exchange(ADA, f"{BIRD}, and I like tea", "Nice.")
    first, second, tea = [
        await sql(
            "insert into memory (space_id, content, subject_id, subject, evidence, status) values (%s, %s, %s, 'Ada',"
            " array[%s::bigint], %s) returning id",
            said.context.space_id,
            content,
            ADA,
            said.context.message_id,
            status,
        )
        for content, status in (
            ("My parrot is called Zanzibarix", "discarded"),
            ("has a parrot called Zanzibarix (a quetzalcoatlus)", "active"),
            ("likes tea", "active"),
        )
    ]
    (successor,) = await sql(
        "insert into memory (space_id, content, subject_id, subject) values (%s, 'keeps a bird Zanzibarix', %s, 'Ada')"
        " returning id",
        said.context.space_id,
        ADA,
    )
    (older,) = await sql(
        "insert into memory (space_id, content, subject_id, status, replaced_by) values (%s, 'wants a quetzalcoatlus',"
        " %s, 'superseded', %s) returning id",
        said.context.space_id,
        ADA,
        second[0][0],
    )
    await sql("update memory set replaced_by = %s, status = 'superseded' where id = %s", successor[0], second[0][0])
    await erase(store, private(ADA), {"memory_id": second[0][0]})
    assert await holding(sql, *WORDS) == {}
    assert await sql("select id from memory") == tea, "another fact from the same message must stay"
    assert first != older


async def test_erasing_also_clears_words_shown_in_other_previews(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, BIRD, "Nice.")
    for words in ("zanzibarix", "quetzalcoatlus"):
        assert await store.erase_preview(private(ADA), {"words": words}, ADA, False)
    await erase(store, private(ADA), {"words": "parrot"})
    assert await holding(sql, *WORDS, "parrot") == {}


async def test_a_preview_is_deleted_when_it_is_cancelled_or_old(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, BIRD, "Nice.")
    one, other = [await store.erase_preview(private(ADA), {"words": "zanzibarix"}, ADA, False) for _ in "ab"]
    assert one is not None
    assert other is not None
    assert not await store.erase_keep(one.erasure_id, BEN), "only the person who asked may cancel it"
    assert await store.erase_keep(one.erasure_id, ADA)
    assert await sql("select id from erasure") == [(other.erasure_id,)]
    await sql("update erasure set created_at = now() - interval '16 minutes'")
    assert await store.erase_step() is None
    assert await sql("select count(*) from erasure") == [(0,)]


async def test_erasing_in_a_group_takes_nothing_of_another_person(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(
        ADA, "I hid the zanzibarix", "Did you.", chat_id=GROUP, actions=[fact(ADA, "hid a zanzibarix")]
    )
    told = await driver.exchange(
        BEN, "A zanzibarix is mine", "A zanzibarix!", chat_id=GROUP, actions=[fact(BEN, "owns a zanzibarix")]
    )
    await sql(
        "insert into summary (thread_id, session_id, text, from_message_id, through_message_id, message_count, model,"
        " settings, tainted, author_id) select thread_id, session_id, 'Ben: a zanzibarix', 1, 99, 4, '', '{}', false,"
        " %s from turn where id = %s",
        BEN,
        told.turn.turn_id,
    )
    await sql('update memory_change set before = \'{"content": "a zanzibarix"}\' where user_id = %s', BEN)
    await sql(
        "insert into event (kind, space_id, user_id, payload)"
        " select 'tool', id, %s, '{\"input\": \"zanzibarix\"}' from space",
        BEN,
    )
    before = await sql("select kind, payload from event where user_id = %s order by id", BEN)
    assert "zanzibarix" in str(before)
    entries = await sql("select source_id from entry where user_id = %s order by id", BEN)
    await erase(store, group(), {"words": "zanzibarix"}, ADA)
    assert await sql("select kind, payload from event where user_id = %s order by id", BEN) == before
    assert await sql("select text from summary") == [("Ben: a zanzibarix",)]
    assert await sql("select before ->> 'content' from memory_change") == [("a zanzibarix",)]
    assert await driver.known(group()) == ["owns a zanzibarix"]
    assert await sql("select source_id from entry where user_id = %s order by id", BEN) == entries
    assert "hid" not in str(await sql("select text from message")) + str(await sql("select payload from event"))
    assert await driver.look_up(group(), "zanzibarix")


async def test_stored_copies_of_erased_files_are_removed(
    driver: TurnDriver, store: Store, sql: Sql, tmp_path: Path
) -> None:
    media_store = KeptFiles(tmp_path / "media")
    for unique_id in ("AgADone", "AgADone-still", "AgADother"):
        await media_store.put(unique_id, b"content")
    for text, unique_id in (("the zanzibarix", "AgADone"), ("tea", "AgADother")):
        said = await driver.exchange(ADA, text, "I see.")
        block = [{"type": "image", "file": {"unique_id": unique_id}}]
        await sql(f"update message set blocks = '{json.dumps(block)}' where id = %s", said.context.message_id)  # noqa: S608
    await erase(store, private(ADA), {"words": "zanzibarix"})
    await remove_files(store, media_store)
    assert [await media_store.get(one) for one in ("AgADone", "AgADone-still", "AgADother")] == [None, None, b"content"]
    assert await store.files_gone() == []
    assert not said.turn.off_record
    await store.private(dm(ADA), True, ADA)
    assert (await driver.turn(ADA, "a picture")).off_record


async def test_no_copy_is_stored_of_an_off_the_record_file(tmp_path: Path) -> None:
    media_store, messenger = KeptFiles(tmp_path / "media"), FakeMessenger()
    messenger.fetch = lambda file_id, most: asyncio.sleep(0, b"content")  # type: ignore[assignment,method-assign]
    files = Files(messenger, 1000, media_store)
    for unique_id, kept in (("AgADone", True), ("AgADtwo", False)):
        async with files.open(Attachment("photo", "f", unique_id, kept=kept)) as content:
            assert content == b"content"
        assert (await media_store.get(unique_id) is not None) == kept
