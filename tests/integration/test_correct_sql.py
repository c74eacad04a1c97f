"""Tests corrections of summaries, summaries on demand, and session counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from relay.core.models import ModelRequest, Space, Step, Thread
from relay.memory.rows.jobs import OwedJob
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.memory.writing.summaries import LEAST_MESSAGES, Summariser, summarise
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, GROUP, TurnDriver, dm, group, private
from tests.integration.work import claim_summaries, summarise_due, written

Json = dict[str, Any]


class Small:
    """A small model with one answer. It calls `before` first, once."""

    def __init__(self, text: str, before: Callable[[], Any] | None = None) -> None:
        self.text = text
        self.before = before
        self.prompts: list[str] = []

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        self.prompts.append(request.messages[0]["content"][0]["text"])
        if self.before is not None:
            before, self.before = self.before, None
            await before()
        return Step([{"type": "text", "text": self.text}], "end_turn", {}, "small")


async def talk(driver: TurnDriver, count: int, first: int = 1, **more: Any) -> None:
    for number in range(first, first + count):
        await driver.exchange(ADA, f"q{number}", f"a{number}", **more)


async def summarised(driver: TurnDriver, text: str) -> None:
    assert await summarise_due(Summariser(driver.store, Gate(Small(text), driver.store), "small")) == 1


async def shown(driver: TurnDriver, space: Space | None = None) -> Json:
    space = space or private(ADA)
    return await driver.store.summary(Thread(space, space.owner_id or GROUP, 0))


async def correct(driver: TurnDriver, text: str, of: int = 0, **more: Any) -> bool:
    of = of or (await shown(driver)).present
    return await driver.store.correct_summary(dm(ADA), of, ADA, "Ada", text=text, **more)


async def test_a_correction_becomes_a_version_that_the_prompt_uses(driver: TurnDriver, sql: Sql) -> None:
    await talk(driver, 5)
    await summarised(driver, "Ada lives in Basel.")
    before = await shown(driver)
    assert before.summary.number == before.versions == 1
    assert (before.messages, before.fresh) == (10, 0)
    assert await correct(driver, "Ada lives in Bern.")
    after = await shown(driver)
    one = after.summary
    assert (one.number, after.versions, one.author_id, one.by) == (2, 2, ADA, "Ada")
    assert (one.text, one.tainted, after.messages) == ("Ada lives in Bern.", False, 10)
    context = (await driver.exchange(ADA, "where?")).context
    assert context.summary is not None
    assert context.summary.text == "Ada lives in Bern."
    # the same correction again changes nothing
    assert await correct(driver, "Ada lives in Bern.", before.present)
    assert await sql("select count(*) from summary") == [(2,)]


async def test_the_next_summary_builds_on_the_correction(driver: TurnDriver) -> None:
    await talk(driver, 5)
    await summarised(driver, "Ada lives in Basel.")
    await correct(driver, "Ada lives in Bern.")
    await talk(driver, 5, first=6)
    model = Small("Bern it is.")
    await summarise_due(Summariser(driver.store, Gate(model, driver.store), "small"))
    (prompt,) = model.prompts
    assert "<summary>\nAda lives in Bern.\n</summary>" in prompt
    assert "q5" not in prompt
    assert "q6" in prompt
    assert (await shown(driver)).summary.text == "Bern it is."


async def test_a_correction_during_a_summary_is_not_lost(driver: TurnDriver) -> None:
    await talk(driver, 5)
    await summarised(driver, "Ada lives in Basel.")
    await talk(driver, 5, first=6)

    async def corrected() -> None:
        assert await correct(driver, "Ada lives in Bern.")

    model = Small("The next.", corrected)
    assert await summarise_due(Summariser(driver.store, Gate(model, driver.store), "small")) == 1
    first, second = model.prompts
    assert "Basel" in first
    assert "<summary>\nAda lives in Bern.\n</summary>" in second
    assert "Basel" not in second
    after = await shown(driver)
    assert (after.summary.text, after.versions) == ("The next.", 3)


async def test_simultaneous_corrections_and_summaries_lose_nothing(
    driver: TurnDriver, store: Store, another: Callable[[], Store]
) -> None:
    await talk(driver, 5)
    await summarised(driver, "One.")
    await talk(driver, 5, first=6)
    of = (await shown(driver)).present
    (work,) = await claim_summaries(store, 4)
    summary = written(work, "Two.")
    corrections = [another().correct_summary(dm(ADA), of, ADA, "Ada", text=f"Mine {n}.") for n in range(5)]
    stored, *corrected = await asyncio.gather(store.store_summary(work.job, summary), *corrections)
    assert sum(corrected) + stored <= 2
    assert stored != any(corrected), "either the summary came first, or it has to be made again"


async def test_an_outdated_version_cannot_be_corrected(driver: TurnDriver) -> None:
    await talk(driver, 5)
    await summarised(driver, "One.")
    of = (await shown(driver)).present
    await talk(driver, 5, first=6)
    await summarised(driver, "Two.")
    assert not await correct(driver, "About one.", of)
    assert (await shown(driver)).summary.text == "Two."


async def test_an_older_version_is_restored_for_the_same_range(driver: TurnDriver) -> None:
    await talk(driver, 5)
    await summarised(driver, "One.")
    one = (await shown(driver)).present
    await talk(driver, 5, first=6)
    await summarised(driver, "Two.")
    two = (await shown(driver)).present
    again = await driver.store.correct_summary(dm(ADA), two, ADA, "Ada", version=one)
    now = await shown(driver)
    assert again
    assert (now.summary.text, now.versions, now.messages) == ("One.", 3, 20)
    page = await driver.store.summaries(dm(ADA), 0, 2)
    assert (page.total, [row.number for row in page.versions]) == (3, [3, 2])
    old = await driver.store.summary(dm(ADA), one)
    assert (old.summary.number, old.present, old.messages) == (1, now.present, 10)


async def test_a_tainted_summary_stays_tainted_when_it_is_corrected(driver: TurnDriver) -> None:
    await talk(driver, 5, tainted=True)
    await summarised(driver, "One.")
    one = (await shown(driver)).present
    await correct(driver, "My word.")
    now = await shown(driver)
    assert now.summary.tainted is True, "the correction may have changed only a comma"
    await driver.store.correct_summary(dm(ADA), now.present, ADA, "Ada", version=one)
    assert (await shown(driver)).summary.tainted is True


async def test_a_correction_in_a_group_is_tainted(driver: TurnDriver, store: Store) -> None:
    await talk(driver, 5, chat_id=GROUP)
    await summarised(driver, "One.")
    of = (await shown(driver, group())).present
    assert await store.correct_summary(Thread(group(), GROUP, 0), of, BEN, "Ben", text="Ben's word.")
    assert (await shown(driver, group())).summary.tainted is True


async def test_other_conversations_and_spaces_have_their_own_summaries(driver: TurnDriver, store: Store) -> None:
    await talk(driver, 5)
    await summarised(driver, "One.")
    of = (await shown(driver)).present
    for space, chat, topic in (
        (private(BEN), BEN, 0),
        (private(BEN), ADA, 0),
        (private(ADA), ADA, 7),
        (group(), ADA, 0),
    ):
        found = await store.summary(Thread(space, chat, topic), of)
        assert (found.summary, found.present, found.versions) == (None, None, 0)
        assert not await store.correct_summary(Thread(space, chat, topic), of, BEN, "Ben", text="Mine.")
        assert not await store.correct_summary(Thread(space, chat, topic), of, BEN, "Ben", version=of)
    await store.new_session(dm(ADA), "")
    assert (await shown(driver)).present is None
    assert not await store.correct_summary(dm(ADA), of, ADA, "Ada", text="Of the last one.")


# Summaries on demand


async def owe(driver: TurnDriver) -> str | None:
    return await driver.store.want_summary(dm(ADA), LEAST_MESSAGES, ADA)


async def test_a_summary_is_made_on_demand(driver: TurnDriver, store: Store) -> None:
    assert await owe(driver) is None
    await talk(driver, 1)
    assert await owe(driver) is None
    await talk(driver, 1, first=2)
    due = await owe(driver)
    assert due is not None
    assert await owe(driver) == due
    (work,) = await claim_summaries(store, 1, due)
    assert [row.text for row in work.work.messages] == ["q1", "a1", "q2", "a2"]
    assert await summarise(Summariser(store, Gate(Small("So far."), store), "small"), work.job)
    assert await store.job("summary", due) is None
    assert (await shown(driver)).summary.text == "So far."
    assert await owe(driver) is None
    assert await claim_summaries(store, 1, due) == []
    await talk(driver, 2, first=3)
    again = await owe(driver)
    assert again not in (None, due)


async def test_only_one_process_makes_a_summary(driver: TurnDriver, store: Store, another: Callable[[], Store]) -> None:
    await talk(driver, 2)
    due = await owe(driver)
    assert due is not None
    assert await claim_summaries(another(), 1, due)
    assert await claim_summaries(store, 1, due) == []
    assert await claim_summaries(store, 4) == []


async def test_a_summary_that_was_given_up_is_tried_again_on_demand(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await talk(driver, 2)
    due = await owe(driver)
    assert due is not None
    (work,) = await claim_summaries(store, 1, due)
    assert await store.fail_job(work.job, "away", 3000, 1)
    assert await store.job("summary", due) == OwedJob(1, "away", parked=True)
    assert await owe(driver) == due
    assert await store.job("summary", due) == OwedJob(0, None, parked=False)
    assert await claim_summaries(store, 1, due)


# Session counts


async def test_sessions_are_listed_with_their_counts(driver: TurnDriver, store: Store) -> None:
    await talk(driver, 3)
    await store.new_session(dm(ADA), "About tea")
    await talk(driver, 1, first=4)
    await driver.exchange(ADA, "/retry", "better", retry=True)
    await store.new_session(dm(ADA), "Nothing yet")
    await talk(driver, 2, topic_id=5)
    page = await store.sessions(dm(ADA), 0, 10)
    assert page.total == 2
    second, first = page.sessions
    assert (second.title, second.titled_by, first.title) == ("About tea", "person", None)
    assert (first.messages, first.input, first.output) == (6, 30, 15)
    assert (second.messages, second.input, second.output) == (2, 20, 10), (
        "the tokens of a replaced answer must be counted"
    )
    assert (first.first.text, first.present, second.present) == ("q1", False, False)
    assert [row.id for row in (await store.sessions(dm(ADA), 1, 10)).sessions] == [first.id]
    one = await store.session(dm(ADA), first.id)
    assert one is not None
    assert (one.summary, one.last.text) == (None, "a3")
    await summarise_due(Summariser(store, Gate(Small("They spoke."), store), "small"))
    one = await store.session(dm(ADA), first.id)
    assert one is not None
    assert one.summary == "They spoke."
    for space, chat, topic in (
        (private(BEN), BEN, 0),
        (private(BEN), ADA, 0),
        (private(ADA), ADA, 5),
        (group(), ADA, 0),
    ):
        assert await store.session(Thread(space, chat, topic), first.id) is None
    assert (await store.sessions(Thread(private(BEN), ADA, 0), 0, 10)).total == 0
