"""Recall in talks with the assistant: people's words before answers, and what a person wants of all answers."""

from __future__ import annotations

from tests.integration.conftest import Sql
from tests.integration.house import ADA, BOT, House, private

LONG = (
    "The greenhouse heater is a good topic. A greenhouse heater needs power; compare heater sizes for the greenhouse. "
    "Place the heater low, check the heater weekly, and keep the greenhouse dry.\n"
) * 20


async def found(house: House, question: str, limit: int = 10) -> list[str]:
    query = {"text": question, "vector": None, "model": ""}
    rows = await house.store.look_up(private(ADA), {"bot_id": BOT.id}, query, limit)
    return [row.snippet for row in rows or []]


async def test_what_a_person_said_comes_before_long_answers_that_repeat_the_words(house: House) -> None:
    for number in range(4):
        await house.exchange(ADA, f"Tell me more, part {number}", LONG)
    await house.exchange(ADA, "My greenhouse heater broke on Sunday, it was the fuse", "Oh no.")
    first = (await found(house, "What happened to the greenhouse heater?"))[0]
    assert first.startswith("My greenhouse heater broke")


async def test_ten_results_are_many_places_and_the_answer_is_found_with_its_question(house: House) -> None:
    for number in range(8):
        await house.exchange(ADA, f"Plan {number} for the kayak trip", f"Here it is, step by step. {LONG}")
    rows = await found(house, "kayak trip plan", 10)
    assert sum(row.startswith("Plan") for row in rows) == 8
    assert len(rows) == 10


async def test_a_standing_instruction_is_found_without_a_shared_word(house: House) -> None:
    await house.exchange(ADA, "Please always use metric units and number the steps.", "I will.")
    await house.exchange(ADA, "I prefer aisle seats.", "Noted.")
    for number in range(12):
        await house.exchange(ADA, f"Aunt {number} came for coffee and we wrote a letter", "A pity.")
    for number in range(2):
        await house.exchange(ADA, f"The cake recipe of uncle {number} was dry", "A pity.")
    wanted = await found(house, "Can you write down a cake recipe?", 5)
    assert "Please always use metric units and number the steps." in wanted
    assert "Please always use metric units and number the steps." not in await found(house, "How was the cake?", 5)


async def test_what_was_said_when_a_question_says_comes_first(house: House, sql: Sql) -> None:
    await house.exchange(ADA, "We baked bread together", "Nice.")
    await sql("update message set created_at = '2023-05-04T12:00:00Z'")
    await house.exchange(ADA, "We baked bread again", "Nice.")
    assert (await found(house, "What did we do with bread in May 2023?"))[0] == "We baked bread together"
