"""An erasure takes what Relay said in a group from memory that was lent to it."""

from __future__ import annotations

from relay.memory.rows.delivery import Part, PartResult
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.dump import holding
from tests.integration.test_erase_sql import erase
from tests.integration.turn_driver import (
    ADA,
    BEN,
    BOT,
    FINISHED,
    GROUP,
    Exchange,
    TurnDriver,
    group,
    incoming_of,
    private,
    reply,
)
from tests.integration.work import claim_summaries, written

AUNT = "Her aunt is Floribunda."


async def told_in_group(driver: TurnDriver, close: bool = True) -> Exchange:
    """Answers Ada in a group from her own memory."""
    turn = await driver.turn(ADA, "Who is my aunt?", chat_id=GROUP)
    incoming = incoming_of(turn, "Who is my aunt?", group())
    context = await driver.store.begin(incoming, "model-1")
    told = await driver.store.finish(incoming, reply(AUNT) | {"prompt": {"lent": True}})
    if close:
        await driver.close(turn)
    return Exchange(turn, incoming, context, told)


async def test_an_answer_that_is_being_sent_is_erased_once_it_was_sent(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.teach(ADA, "has an aunt Floribunda")
    turn = (await told_in_group(driver, close=False)).turn
    await store.deliver(turn, BOT.id, [Part(1, GROUP, {"chat_id": GROUP, "text": AUNT})])
    shown = await store.erase_preview(private(ADA), {"words": "Floribunda"}, ADA, False)
    assert shown is not None
    assert await store.erase_begin(shown.erasure_id, ADA, False)
    assert None in [await store.erase_step(shown.erasure_id) for _ in range(9)], "it waits for the answer"
    await store.store_sent(turn, [PartResult(1, "sent", 101)], True)
    while not (await store.erase_step(shown.erasure_id) or FINISHED).done:
        pass
    assert await holding(sql, "floribunda") == {}
    assert [one.message_id for one in await store.retractions(BOT.id, shown.erasure_id, 50)] == [101]


async def test_an_answer_whose_record_was_dropped_is_erased(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.teach(ADA, "has an aunt Floribunda")
    await told_in_group(driver)
    await sql("update turn set done_at = now() - interval '200 days'")
    await store.drop_records(180, 100)
    await erase(store, private(ADA), {"words": "Floribunda"})
    assert await holding(sql, "floribunda") == {}


async def test_an_answer_is_erased_although_its_question_was_erased_before(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.teach(ADA, "has an aunt Floribunda")
    asked = (await told_in_group(driver)).context
    await sql("select relay.erase_messages(%s, array[%s]::bigint[])", asked.space_id, asked.message_id)
    await erase(store, private(ADA), {"words": "Floribunda"})
    assert await holding(sql, "floribunda") == {}


async def test_the_group_gets_a_new_summary_without_the_answer(driver: TurnDriver, store: Store, sql: Sql) -> None:
    """Others may have said the same word there: what they said stays, with the summaries of it."""
    for number in range(5):
        await driver.exchange(BEN, f"Plant a Floribunda {number}", chat_id=GROUP)
    (due,) = await claim_summaries(store, 4)
    assert await store.store_summary(due.job, written(due, "Ben plants a Floribunda."))
    await driver.teach(ADA, "has an aunt Floribunda")
    await told_in_group(driver)
    for number in range(4):
        await driver.exchange(BEN, f"and {number}", chat_id=GROUP)
    [due] = [one for one in await claim_summaries(store, 4) if "Who is my aunt?" in str(one.work.messages)]
    assert await store.store_summary(due.job, written(due, "Ada has an aunt."))
    await erase(store, private(ADA), {"words": "Floribunda"})
    assert await sql("select text from summary") == [("Ben plants a Floribunda.",)]
    (due,) = await claim_summaries(store, 4)
    texts = [message.text for message in due.work.messages]
    assert "Who is my aunt?" in texts
    assert AUNT not in texts


async def test_both_of_two_answers_are_erased(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.teach(ADA, "has an aunt Floribunda")
    await told_in_group(driver)
    await sql(
        "insert into message (space_id, thread_id, session_id, turn_id, role, text, blocks, status)"
        " select space_id, thread_id, session_id, turn_id, role, text, blocks, 'cut' from message"
        " where text = %s",
        AUNT,
    )
    await erase(store, private(ADA), {"words": "Floribunda"})
    assert await holding(sql, "floribunda") == {}
