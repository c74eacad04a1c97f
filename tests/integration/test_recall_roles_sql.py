"""Tests recall in conversations: people's words rank before answers, and standing instructions are recalled."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, GROUP, TurnDriver, group, incoming_of, private

LONG = (
    "The greenhouse heater is a good topic. A greenhouse heater needs power; compare heater sizes for the greenhouse. "
    "Place the heater low, check the heater weekly, and keep the greenhouse dry.\n"
) * 20


async def found(driver: TurnDriver, question: str, limit: int = 10) -> list[str]:
    query = {"text": question, "vector": None, "model": ""}
    rows = await driver.store.look_up(private(ADA), {"bot_id": BOT.id}, query, limit)
    return [row.snippet for row in rows or []]


async def test_a_persons_message_ranks_before_long_answers_repeating_the_words(driver: TurnDriver) -> None:
    for number in range(4):
        await driver.exchange(ADA, f"Tell me more, part {number}", LONG)
    await driver.exchange(ADA, "My greenhouse heater broke on Sunday, it was the fuse", "Oh no.")
    first = (await found(driver, "What happened to the greenhouse heater?"))[0]
    assert first.startswith("My greenhouse heater broke")


async def test_results_come_from_many_exchanges_and_include_answers(driver: TurnDriver) -> None:
    for number in range(8):
        await driver.exchange(ADA, f"Plan {number} for the kayak trip", f"Here it is, step by step. {LONG}")
    rows = await found(driver, "kayak trip plan", 10)
    assert sum(row.startswith("Plan") for row in rows) == 8
    assert len(rows) == 10


async def test_a_standing_instruction_is_found_without_a_shared_word(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Please always use metric units and number the steps.", "I will.")
    await driver.exchange(ADA, "I prefer aisle seats.", "Noted.")
    for number in range(12):
        await driver.exchange(ADA, f"Aunt {number} came for coffee and we wrote a letter", "A pity.")
    for number in range(2):
        await driver.exchange(ADA, f"The cake recipe of uncle {number} was dry", "A pity.")
    wanted = await found(driver, "Can you write down a cake recipe?", 5)
    assert "Please always use metric units and number the steps." in wanted
    assert "Please always use metric units and number the steps." not in await found(driver, "How was the cake?", 5)


async def test_messages_of_the_time_named_in_a_question_come_first(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "We baked bread together", "Nice.")
    await sql("update message set created_at = '2023-05-04T12:00:00Z'")
    await driver.exchange(ADA, "We baked bread again", "Nice.")
    assert (await found(driver, "What did we do with bread in May 2023?"))[0] == "We baked bread together"


async def test_the_week_after_a_named_date_may_be_in_the_next_year(sql: Sql) -> None:
    for at, month, day, expected in (
        ("2027-01-02", 12, 30, True), ("2026-12-30", 12, 30, True), ("2026-12-31", 1, 1, True),
        ("2026-11-30", 12, 1, True), ("2026-12-20", 12, 30, False), ("2027-01-20", 12, 30, False),
        ("2027-01-02", 12, None, True), ("2027-06-04", 5, 31, True),
    ):  # fmt: skip
        rows = await sql("select relay.said_about(%s::timestamptz, null, %s, %s)", f"{at}T12:00:00Z", month, day)
        assert rows == [(expected,)], at


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Was haben wir am 3. März 2024 besprochen?", (2024, 3, 3)),
        ("Que fait-on le 1er mars ?", (None, 3, 1)),
        ("¿Qué dijimos el 3 de mayo?", (None, 5, 3)),
        ("Что мы решили 3 мая 2024 года?", (2024, 5, 3)),
        ("Co ustaliliśmy 3 maja?", (None, 5, 3)),
        ("3 Mayıs'ta ne konuştuk?", (None, 5, 3)),
        ("ماذا قلنا في ٣ مايو ٢٠٢٤؟", (2024, 5, 3)),
        ("O que decidimos em março?", (None, 3, None)),
        ("2024年5月3日我们说了什么？", (2024, 5, 3)),
        ("５月３日に何を話した？", (None, 5, 3)),
        ("5월에 뭐라고 했지?", (None, 5, None)),
        ("过去3个月我们说了什么？", (None, None, None)),
    ],
)
async def test_a_date_is_named_in_many_languages(
    sql: Sql, question: str, expected: tuple[int | None, int | None, int | None]
) -> None:
    assert await sql("select year, month, day from relay.named_date(%s)", question) == [expected]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Seit wann habe ich die Katze?", True),
        ("À quelle date est le mariage ?", True),
        ("¿Qué día es la boda?", True),
        ("С каких пор я не курю?", True),
        ("Kiedy mam wizytę?", True),
        ("Düğün ne zaman?", True),
        ("متى الموعد؟", True),
        ("婚礼是什么时候？", True),
        ("結婚式はいつですか？", True),
        ("いつもの店はどこ？", False),
        ("Wen habe ich getroffen?", False),
        ("Где мы были?", False),
    ],
)
async def test_a_question_for_a_time_is_recognized_in_many_languages(sql: Sql, question: str, expected: bool) -> None:
    assert await sql("select relay.asks_when(%s)", question) == [(expected,)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("вчера купили диван", True),
        ("wczoraj kupiliśmy kanapę", True),
        ("dün koltuk aldık", True),
        ("أمس اشترينا أريكة", True),
        ("昨天买了沙发", True),
        ("昨日ソファを買った", True),
        ("купили диван", False),
    ],
)
async def test_a_text_that_names_a_time_is_recognized_in_many_languages(sql: Sql, text: str, expected: bool) -> None:
    assert await sql("select relay.names_time(%s)", text) == [(expected,)]


async def test_a_month_is_named_in_french_too(sql: Sql) -> None:
    assert await sql("select month from relay.named_date('Qu’avons-nous fait en mars ?')") == [(3,)]
    assert await sql("select month from relay.named_date('Is Mars larger than Venus?')") == [(None,)]


async def test_a_standing_instruction_keeps_its_place_among_many_full_matches(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Please always use metric units and number the steps.", "I will.")
    for number in range(12):
        await driver.exchange(ADA, f"I wrote down the cake recipe of uncle {number}", "A pity.")
    wanted = await found(driver, "Should I write down a cake recipe?", 5)
    assert "Please always use metric units and number the steps." in wanted
    assert sum("cake recipe" in text for text in wanted) == 4


async def test_a_standing_instruction_is_recalled_in_a_turn_without_a_question(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Please always use metric units and number the steps.", "I will.")
    query = {"vector": None, "model": "", "chat_id": 9_000_000, "topic_id": 0}
    for question, heard in (("How should I bake bread?", 1), ("Did we bake bread?", 0)):
        rows = await driver.store.recall_for(private(ADA), {**query, "text": question}, 5)
        assert len(rows) == heard


async def test_a_german_request_with_was_recalls_a_standing_instruction(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "Bitte antworte mir immer in kurzen Sätzen.", "Gern.")
    query = {"vector": None, "model": "", "chat_id": 9_000_000, "topic_id": 0}
    for question, heard in (
        ("Kannst du mir erklären, was ein Risotto ist?", 1),
        ("Was soll ich heute kochen?", 1),
        ("Was habe ich gestern gekocht?", 0),
        ("Can you say what was in the risotto?", 0),
    ):
        rows = await driver.store.recall_for(private(ADA), {**query, "text": question}, 5)
        assert len(rows) == heard, question


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("What is the name of my dog", True),
        ("wie heißt mein Hund", True),
        ("犬の名前は何ですか", True),
        ("My dog is called Rex?", True),
        ("My dog is called Rex.", False),
        ("whatever you say", False),
    ],
)
async def test_a_question_without_a_mark_recalls_by_meaning(
    driver: TurnDriver, sql: Sql, text: str, asks: bool
) -> None:
    await driver.exchange(ADA, "Bello is a good boy.", "Yes.")
    await sql("select relay.enter_due(100)")
    vector, model = "[1,0,0]", "e5"
    await sql(
        "insert into embedding (entry_id, space_id, model, vector) select id, space_id, %s, %s::vector from entry",
        model, vector,
    )  # fmt: skip
    query = {"vector": vector, "model": model, "chat_id": 9_000_000, "topic_id": 0}
    rows = await driver.store.recall_for(private(ADA), {**query, "text": text}, 5)
    assert bool(rows) == asks


async def test_in_a_group_only_the_askers_standing_instructions_count(driver: TurnDriver) -> None:
    for person, text in ((ADA, "Please always use metric units."), (BEN, "Please always answer in rhymes.")):
        await driver.exchange(person, text, "I will.", chat_id=GROUP, topic_id=3)
    for person, expected in ((ADA, "Please always use metric units."), (BEN, "Please always answer in rhymes.")):
        turn = await driver.turn(person, "How should I bake bread?", GROUP, topic_id=person)
        rows = await driver.store.recall(incoming_of(turn, "How should I bake bread?", group()))
        assert [row.snippet for row in rows] == [expected]


async def test_an_answer_is_found_through_its_question(driver: TurnDriver) -> None:
    for number in range(6):
        await driver.exchange(ADA, f"Aunt {number} wrote me about the garden of her school", "How nice of her.")
    await driver.exchange(ADA, "Which varnish suits a canoe made of cedar?", "Marine epoxy, then two coats of spar.")
    await driver.exchange(ADA, "Tell me about the garden", "Everybody asks about a garden, a garden, a garden.")
    assert "Marine epoxy, then two coats of spar." in await found(driver, "cedar canoe varnish", 2)


async def test_a_question_is_recalled_together_with_its_answer(driver: TurnDriver) -> None:
    for number in range(12):
        await driver.exchange(ADA, f"Aunt {number} wrote me about the garden of her school", "How nice of her.")
    answer = "Take the Grundfos SCALA2. It costs 389 €, and it is quiet enough for the cellar."
    await driver.exchange(ADA, "Which pump fits the cistern?", answer)
    for number in range(12):
        await driver.exchange(ADA, f"Uncle {number} sang in the choir of the village", "Lovely.")
    text = "Which pump did you suggest for the cistern?"
    turn = await driver.turn(ADA, text, topic_id=5)
    assert answer in [row.snippet for row in await driver.store.recall(incoming_of(turn, text, private(ADA)))]


async def test_a_relevance_floor_omits_only_what_is_below_it(driver: TurnDriver, sql: Sql) -> None:
    for number in range(4):
        await driver.exchange(ADA, f"The kayak trip number {number} went along the river", "Which river was it?")
    await driver.exchange(ADA, "My sister rents a kayak", "For the river trip?")
    await sql("select relay.enter_due(50)")
    for question in (
        "Where did the kayak trip of my sister go?",
        "sister",
        "the opera house",
        "river kayak opera tickets",
    ):
        signals = "from space, relay.entry_signals(space.id, jsonb_build_object('text', %s::text, 'floor', %s::real))"
        reached = await sql(f"select distinct relevance {signals}", question, None)
        for floor in {0.35, 0.99, *(relevance for (relevance,) in reached)}:
            above = await sql(f"select entry_id {signals} where relevance >= %s::real", question, None, floor)
            found = await sql(
                "select entry_id from space, relay.find_entries(space.id, jsonb_build_object('text', %s::text, "
                "'floor', %s::real), 100)", question, floor
            )  # fmt: skip
            assert sorted(found) == sorted(above)
            assert above or not await sql(f"select {signals}", question, floor), (
                "nothing may be ranked if all results are below the floor"
            )


async def test_memories_take_no_place_from_what_was_said(driver: TurnDriver) -> None:
    await driver.teach(ADA, *(f"The greenhouse heater has part {number} from Bosch" for number in range(8)))
    for number in range(7):
        await driver.exchange(ADA, f"Repair {number} of the greenhouse heater", "I see.")
    text = "What about the greenhouse heater?"
    turn = await driver.turn(ADA, text, topic_id=5)
    rows = await driver.store.recall(incoming_of(turn, text, private(ADA)))
    assert [row.kind for row in rows].count("memory") == 5
    assert sum(row.snippet.startswith("Repair") for row in rows) == 5
