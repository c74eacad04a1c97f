"""Tests memory: facts are stored once, announced, traced and undone, and only their people see and decide them."""

from __future__ import annotations

from typing import Any

import pytest

from relay.memory.rows.changes import Failure
from relay.memory.rows.turns.answer import Answer
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, EVE, GROUP, TurnDriver, fact, forget, group, incoming_of, private


async def test_a_fact_stores_its_source(driver: TurnDriver, sql: Sql) -> None:
    done = await driver.exchange(ADA, "I like tea", actions=[fact(ADA, "likes tea")])
    (change,) = done.told.changes
    assert (change.action, change.status, change.subject) == ("learn", "applied", "Ada")
    rows = await sql(
        "select m.subject_id, m.status, m.turn_id, source.text, m.thread_id = source.thread_id,"
        " m.session_id = source.session_id, m.derivation ->> 'name'"
        " from memory m join message source on source.id = m.source_message_id"
    )
    assert rows == [(ADA, "active", done.turn.turn_id, "I like tea", True, True, "tag")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("likes tea", "Likes tea."),
        ("lives in Berlin with two cats", "lives in Berlin with two cats!"),
        ("Любит крепкий чай", "любит крепкий чай"),
        ("住在柏林，喜欢喝茶", "住在柏林,喜欢喝茶。"),
        ("mag Äpfel und Öl", "mag äpfel und öl"),
        ("يحب الشاي", "يحب الشاي."),
        ("likes tea", "Ｌikes ｔea"),
        ("born in Poznan\u0301", "born in Poznań"),
        ("has a well-known aunt “in Rome”", 'has a well known aunt "in Rome"'),
        ("liest gerade ‚Momo‘", "liest gerade 'Momo'"),
        ("最近《三体》を読んでいる", "最近「三体」を読んでいる。"),
        ("رقم الباب ٤٧١١", "رقم الباب 4711"),
        ("İstanbul'da yaşıyor", "istanbul’da yaşıyor"),
        ("يحب الشـــاي", "يحب الشاي"),
    ],
)
async def test_a_fact_that_differs_only_in_form_refreshes_the_old_one(driver: TurnDriver, old: str, new: str) -> None:
    await driver.teach(ADA, old)
    (change,) = await driver.teach(ADA, new)
    assert change.action == "refresh"
    assert change.before == old
    assert await driver.known(private(ADA)) == [new]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("likes tea", "likes coffee"),
        ("born in 1984", "born in 1985"),
        ("Любит чай", "Любит кофе"),
        ("住在柏林", "住在巴黎"),
        ("🙂", "🙃"),
        ("has a son called Tom", "has a son called Tim"),
        ("plays the 🎻 violin", "plays the violin"),
        (
            "Our son Tom goes to the dentist on the first Monday of every month",
            "Our son Tim goes to the dentist on the first Monday of every month",
        ),
        (
            "The code of the front door is 4711, and nobody else may know it",
            "The code of the front door is 4712, and nobody else may know it",
        ),
        ("takes 1.5 mg of it every morning", "takes 15 mg of it every morning"),
        ("leaves the house at 10:30 every day", "leaves the house at 1030 every day"),
        ("Mia is allowed to eat nuts at school", "Mia is not allowed to eat nuts at school"),
        ("keeps the fridge at -5 degrees", "keeps the fridge at 5 degrees"),
        ("keeps the freezer at – 18 degrees", "keeps the freezer at 18 degrees"),
        ("has the blood type A-", "has the blood type A"),
        ("learns C++ in the evening", "learns C in the evening"),
        ("room 10²", "room 102"),
        ("a laser of 5 mW", "a laser of 5 MW"),
        ("лазер на 5 мВт", "лазер на 5 МВт"),
        ("moves to Lisbon?", "moves to Lisbon"),
        ("feels fine :)", "feels fine :("),
        ("We're at home on Sundays", "Were at home on Sundays"),
        ("Lena ist im Rennen 3. geworden", "Lena ist im Rennen 3 geworden"),
        ("writes to anna-berg@web.de", "writes to anna.berg@web.de"),
        ("orders at my-shop.de", "orders at my.shop.de"),
        ("a resistor of 5 mΩ", "a resistor of 5 MΩ"),
        ("a line with 100 Mbps", "a line with 100 MBps"),
        ("a shelf 6′ wide", "a shelf 6″ wide"),
        ("درجة الثلاجة - ٥", "درجة الثلاجة ٥"),
        ("يستيقظ الساعة ٦:٣٠", "يستيقظ الساعة ٦ ٣٠"),
    ],
)
async def test_different_facts_are_stored_separately(driver: TurnDriver, old: str, new: str) -> None:
    await driver.teach(ADA, old)
    (change,) = await driver.teach(ADA, new)
    assert change.action == "learn"
    assert await driver.known(private(ADA)) == [old, new]


async def test_a_duplicate_within_one_answer_refreshes_the_first(driver: TurnDriver) -> None:
    changes = await driver.teach(ADA, "likes tea", "Likes tea!")
    assert [change.action for change in changes] == ["learn", "refresh"]
    assert await driver.known(private(ADA)) == ["Likes tea!"]


async def test_facts_about_different_people_are_never_merged(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "I like tea", chat_id=GROUP, actions=[fact(ADA, "likes tea")])
    done = await driver.exchange(BEN, "me too", chat_id=GROUP, actions=[fact(BEN, "likes tea")])
    assert [change.action for change in done.told.changes] == ["learn"]
    page = await driver.store.memories(group(), 0, 10)
    assert {(memory.subject, memory.content) for memory in page.memories} == {
        ("Ada", "likes tea"),
        ("Ben", "likes tea"),
    }


async def test_a_learning_is_not_merged_with_a_fact(driver: TurnDriver) -> None:
    await driver.teach(ADA, "prefers short answers")
    learning = {
        "action": "learn",
        "kind": "learning",
        "content": "prefers short answers",
        "category": "operational",
        "tags": ["style", "länge"],
    }
    done = await driver.exchange(ADA, "keep it short", actions=[learning])
    assert [change.kind for change in done.told.changes] == ["learning"]
    page = await driver.store.memories(private(ADA), 0, 10)
    assert page.total == 2
    assert (page.memories[0].category, page.memories[0].tags) == ("operational", ("style", "länge"))


@pytest.mark.parametrize(
    "text",
    [
        "'; drop table relay.memory; --",
        '<b>bold</b> & "quoted" \\ back',
        "%_%",
        "a\u200bb\u202ec",
        "🙂" * 50,
        "[FORGET: x]",
    ],
)
async def test_any_text_is_stored_unchanged(driver: TurnDriver, text: str) -> None:
    await driver.teach(ADA, text)
    assert await driver.known(private(ADA)) == [text]


async def test_memories_are_paged_newest_first(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, *[f"fact about topic {'abcdefg'[n] * 9}" for n in range(7)])
    first, last = await store.memories(private(ADA), 0, 3), await store.memories(private(ADA), 6, 3)
    assert first.total == last.total == 7
    assert [memory.content[-1] for memory in first.memories] == ["g", "f", "e"]
    assert [memory.content[-1] for memory in last.memories] == ["a"]
    beyond = await store.memories(private(ADA), 90, 3)
    assert (beyond.offset, [memory.content[-1] for memory in beyond.memories]) == (6, ["a"])


# Forgetting


async def forgetting(driver: TurnDriver, words: str, **more: Any) -> Answer:
    done = await driver.exchange(ADA, "forget it", "Done.", actions=[forget(words)], **more)
    return done.told


async def test_forget_finds_a_memory_by_words(driver: TurnDriver) -> None:
    await driver.teach(ADA, "likes tea", "lives in Berlin")
    told = await forgetting(driver, "Berlin")
    assert [(c.action, c.status, c.content) for c in told.changes] == [("forget", "applied", "lives in Berlin")]
    assert await driver.known(private(ADA)) == ["likes tea"]


async def test_forget_finds_a_memory_by_nearly_matching_words(driver: TurnDriver) -> None:
    await driver.teach(ADA, "works as a carpenter in Hamburg", "likes tea")
    await forgetting(driver, "works as carpenter at Hamburg")
    assert await driver.known(private(ADA)) == ["likes tea"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("любит чай", "ЛЮБИТ"),
        ("喜欢，喝茶和咖啡", "喝茶和咖啡"),
        ("mag ÄPFEL", "äpfel"),
        ("besitzt ein Cafe\u0301 in Lyon", "café"),
    ],
)
async def test_forget_finds_a_memory_by_words_of_any_script(driver: TurnDriver, content: str, words: str) -> None:
    await driver.teach(ADA, content, "likes something else")
    await forgetting(driver, words)
    assert await driver.known(private(ADA)) == ["likes something else"]


@pytest.mark.parametrize("form", ["{}", "#{}"])
async def test_forget_finds_a_memory_by_number(driver: TurnDriver, form: str) -> None:
    (change,) = await driver.teach(ADA, "likes tea")
    await driver.teach(ADA, "lives in Berlin")
    await forgetting(driver, form.format(change.memory_id))
    assert await driver.known(private(ADA)) == ["lives in Berlin"]


async def test_forget_asks_before_forgetting_a_memory_that_contains_the_number(driver: TurnDriver) -> None:
    await driver.teach(ADA, "the door code is 4711")
    (change,) = (await forgetting(driver, "4711")).changes
    assert (change.status, change.content) == ("pending", "the door code is 4711")
    assert (await forgetting(driver, "#4711")).failed[0].failed == "nothing matches"
    assert await driver.known(private(ADA)) == ["the door code is 4711"]


@pytest.mark.parametrize("number", ["999999", "#0", "9" * 40, "#" + "9" * 19, "٣", "１２", "#１"])
async def test_forget_by_an_unknown_number_finds_nothing(driver: TurnDriver, number: str) -> None:
    await driver.teach(ADA, "likes tea")
    told = await forgetting(driver, number)
    assert told.changes == []
    assert told.failed[0].failed == "nothing matches"
    assert told.failed[0].text == number
    assert await driver.known(private(ADA)) == ["likes tea"]


async def test_forget_asks_when_several_match(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "has a cat called Mia", "has a cat called Leo", "has a boat")
    told = await forgetting(driver, "has a cat")
    assert [(c.action, c.status) for c in told.changes] == [("forget", "pending")] * 2
    assert len(await driver.known(private(ADA))) == 3
    leo = next(c for c in told.changes if "Leo" in c.content)
    await store.decide_change(leo.id, ADA, False, "keep")
    assert await driver.known(private(ADA)) == ["has a cat called Mia", "has a boat"]


async def test_forget_says_that_nothing_matches(driver: TurnDriver) -> None:
    await driver.teach(ADA, "likes tea")
    told = await forgetting(driver, "plays the trumpet")
    assert told.changes == []
    assert list(told.failed) == [Failure("forget", "plays the trumpet", "nothing matches")]


async def test_forget_asks_if_the_words_may_mean_another_memory(driver: TurnDriver) -> None:
    await driver.teach(ADA, "Our son Tim goes to the dentist on Mondays", "likes tea")
    (change,) = (await forgetting(driver, "Our son Tom goes to the dentist on Mondays")).changes
    assert (change.action, change.status) == ("forget", "pending")
    assert len(await driver.known(private(ADA))) == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("Andrea has the key", "Andreas"),
        ("Han is a colleague", "Hans"),
        ("Ben's birthday is 3 May", "Will's birthday"),
        ("His birthday is 3 May", "her birthday"),
        ("The universe is big", "university"),
        ("Alarm on at night", "alarm off at night"),
        ("takes aspirin before meals", "takes aspirin after meals"),
        ("Anna likes Bob", "Bob likes Anna"),
        ("Dogs are not allowed in Rome", "allowed in Rome"),
        ("Hunde sind im Haus nicht erlaubt", "Haus erlaubt"),
        ("لا أحب القهوة", "أحب القهوة"),
        ("Nigdy nie pije kawy", "pije kawy"),
        ("Evde kahve yok", "Evde kahve"),
        ("يشرب الشاي كل صباح", "شاي"),
        ("Мы ездили к Анне", "Анна"),
        ("Алёна живёт в Казани", "алена"),
        ("wohnt in Köln am Rhein", "koln"),
        ("habite ici depuis l’été", "depuis l'ete"),
        ("أحمد هو الأخ الأكبر", "احمد"),
        ("El perro de Andrea no come pan", "perro de Andreas"),
        ("他不住在东京", "住在东京"),
        ("我每天吃十三片药", "三片药"),
        ("我每天吃15片药", "5片"),
        ("我去过东京都", "京都"),
        ("喜欢喝茶和咖啡", "茶"),
    ],
)
async def test_forget_asks_if_the_words_may_mean_something_else(driver: TurnDriver, content: str, words: str) -> None:
    await driver.teach(ADA, content, "likes tea")
    told = await forgetting(driver, words)
    assert [c for c in told.changes if c.status != "pending"] == []
    assert len(await driver.known(private(ADA))) == 2


async def test_forget_does_not_match_a_part_of_a_word(driver: TurnDriver) -> None:
    await driver.teach(ADA, "Hanna likes tea", "Anna likes coffee")
    await forgetting(driver, "anna")
    assert await driver.known(private(ADA)) == ["Hanna likes tea"]


@pytest.mark.parametrize(
    ("words", "left"), [("tea", "has a teapot"), ("Rex", "has a Trexler coat"), ("茶", "cooks rice")]
)
async def test_forget_matches_a_short_word_if_it_is_a_whole_one(driver: TurnDriver, words: str, left: str) -> None:
    await driver.teach(ADA, f"drinks {words} at night", left)
    await forgetting(driver, words)
    assert await driver.known(private(ADA)) == [left]


async def test_forget_does_not_match_a_short_part_of_a_word(driver: TurnDriver) -> None:
    await driver.teach(ADA, "has a teapot")
    assert (await forgetting(driver, "tea")).failed[0].failed == "nothing matches"


@pytest.mark.parametrize("words", ["%%%%", "____", "a.*b(", "\\\\\\\\", "' or 1=1 --", "🙂🙂🙂🙂"])
async def test_forget_takes_words_literally(driver: TurnDriver, words: str) -> None:
    await driver.teach(ADA, "likes tea", f"wrote {words} once")
    await forgetting(driver, words)
    assert await driver.known(private(ADA)) == ["likes tea"]


async def test_a_forget_tag_never_forgets_more_than_one_memory(driver: TurnDriver) -> None:
    await driver.teach(ADA, "likes green tea", "likes black tea", "likes white tea")
    await forgetting(driver, "likes")
    assert len(await driver.known(private(ADA))) == 3


async def test_nobody_can_forget_another_persons_memory(driver: TurnDriver) -> None:
    (change,) = await driver.teach(BEN, "likes secret tea")
    for words in ("secret tea", str(change.memory_id), f"#{change.memory_id}"):
        told = await forgetting(driver, words)
        assert told.changes == []
    assert await driver.known(private(BEN)) == ["likes secret tea"]


async def test_a_learn_and_a_forget_in_one_answer_become_a_replacement(driver: TurnDriver) -> None:
    await driver.teach(ADA, "lives in Berlin")
    done = await driver.exchange(ADA, "I moved", actions=[forget("lives in Berlin"), fact(ADA, "lives in Paris")])
    (change,) = done.told.changes
    assert (change.action, change.content, change.before) == ("supersede", "lives in Paris", "lives in Berlin")
    assert await driver.known(private(ADA)) == ["lives in Paris"]


# Undo


async def test_a_learned_fact_can_be_undone(driver: TurnDriver, store: Store, sql: Sql) -> None:
    (change,) = await driver.teach(ADA, "likes tea")
    after = await store.decide_change(change.id, ADA, False, "undo")
    assert after is not None
    assert [c.status for c in after] == ["undone"]
    assert await driver.known(private(ADA)) == []
    assert await store.decide_change(change.id, ADA, False, "undo") == after
    assert await sql("select count(*) from memory_change") == [(1,)]
    assert (await driver.teach(ADA, "likes tea"))[0].action == "learn"


async def test_undoing_a_refresh_restores_the_old_words(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "likes tea")
    (change,) = await driver.teach(ADA, "Likes tea!")
    await store.decide_change(change.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == ["likes tea"]


async def test_a_forgotten_fact_can_be_restored_with_undo(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "likes tea")
    (change,) = (await forgetting(driver, "likes tea")).changes
    await store.decide_change(change.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == ["likes tea"]


async def test_an_edit_can_be_undone(driver: TurnDriver, store: Store) -> None:
    (learned,) = await driver.teach(ADA, "likes tea")
    turn = await driver.turn(ADA, "drinks coffee")
    edit = {"action": "edit", "memory_id": learned.memory_id, "content": "drinks coffee"}
    done = await store.change_memory(turn, private(ADA), [edit])
    await driver.close(turn)
    assert await driver.known(private(ADA)) == ["drinks coffee"]
    assert (done.changes[0].before, done.changes[0].content) == ("likes tea", "drinks coffee")
    await store.decide_change(done.changes[0].id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == ["likes tea"]


async def test_a_change_can_be_undone_only_while_it_is_the_last(driver: TurnDriver, store: Store) -> None:
    (learned,) = await driver.teach(ADA, "likes tea")
    edits = []
    for words in ("likes green tea", "likes black tea"):
        turn = await driver.turn(ADA, words)
        edit = {"action": "edit", "memory_id": learned.memory_id, "content": words}
        edits.append((await store.change_memory(turn, private(ADA), [edit])).changes[0].id)
        await driver.close(turn)
    for early in (learned.id, edits[0]):
        after = await store.decide_change(early, ADA, False, "undo")
        assert after is not None
        assert after[0].status == "applied"
    assert await driver.known(private(ADA)) == ["likes black tea"]
    for change, left in ((edits[1], ["likes green tea"]), (edits[0], ["likes tea"]), (learned.id, [])):
        await store.decide_change(change, ADA, False, "undo")
        assert await driver.known(private(ADA)) == left


async def test_a_fact_that_was_only_repeated_can_be_undone(driver: TurnDriver, store: Store) -> None:
    (learned,) = await driver.teach(ADA, "likes tea")
    await driver.teach(ADA, "likes tea")
    await store.decide_change(learned.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == []


async def test_a_list_of_names_is_not_a_name_with_a_hyphen(driver: TurnDriver) -> None:
    told = ["The kids are Anna, Lena and Tom", "The kids are Anna-Lena and Tom"]
    await driver.teach(ADA, *told)
    assert await driver.known(private(ADA)) == told
    await driver.teach(ADA, told[0].lower())
    assert await driver.known(private(ADA)) == [told[0].lower(), told[1]]


async def test_a_fact_with_a_list_and_a_hyphen_is_the_same_as_itself(driver: TurnDriver) -> None:
    for _ in range(2):
        await driver.teach(ADA, "Her colours are red, green and red-green")
    assert len(await driver.known(private(ADA))) == 1


async def test_a_list_of_names_waits_beside_a_name_with_a_hyphen(driver: TurnDriver) -> None:
    for text in ("The kids are Anna, Lena and Tom", "The kids are Anna-Lena and Tom"):
        done = await driver.exchange(ADA, "x", actions=[fact(ADA, text) | {"ask": True}])
        assert [change.content for change in done.told.changes] == [text]


async def test_undoing_never_leaves_two_memories_that_say_the_same(driver: TurnDriver, store: Store) -> None:
    (first,) = await driver.teach(ADA, "likes tea")
    forgot = (await forgetting(driver, "likes tea")).changes[0]
    (again,) = await driver.teach(ADA, "Likes tea!")
    assert again.memory_id != first.memory_id
    await store.decide_change(forgot.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == ["Likes tea!"]
    await store.decide_change(again.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == ["likes tea"], "what was known before it was forgotten is known again"


async def test_undoing_a_replacement_joins_what_was_said_again_meanwhile(driver: TurnDriver, store: Store) -> None:
    (berlin,) = await driver.teach(ADA, "lives in Berlin")
    said = {"action": "supersede", "memory_id": berlin.memory_id, "content": "lives in Lisbon"}
    (moved,) = (await driver.exchange(ADA, "x", actions=[said])).told.changes
    await driver.teach(ADA, "lives in Berlin")
    await store.decide_change(moved.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == ["lives in Berlin"]


async def test_undoing_a_merge_joins_what_was_said_again_meanwhile(driver: TurnDriver, store: Store) -> None:
    parts = await driver.teach(ADA, "likes black tea", "likes green tea")
    merge = {"action": "merge", "memory_ids": [one.memory_id for one in parts], "content": "likes all tea"}
    merged = (await store.change_directly(private(ADA), ADA, [merge])).changes
    await driver.teach(ADA, "likes black tea")
    await store.decide_change(merged[0].id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == ["likes green tea", "likes black tea"]


async def test_an_edit_to_what_is_known_already_can_be_undone(driver: TurnDriver, store: Store) -> None:
    (milk,) = await driver.teach(ADA, "likes milk")
    await driver.teach(ADA, "likes tea")
    edit = {"action": "edit", "memory_id": milk.memory_id, "content": "Likes tea"}
    (edited,) = (await store.change_directly(private(ADA), ADA, [edit])).changes
    assert await driver.known(private(ADA)) == ["likes tea"]
    await store.decide_change(edited.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == ["likes milk", "likes tea"]


async def test_a_proposal_kept_after_it_was_said_otherwise_is_known_once(driver: TurnDriver, store: Store) -> None:
    (asked,) = await driver.teach(ADA, "likes tea", tainted=True)
    await driver.teach(ADA, "Likes tea")
    await store.decide_change(asked.id, ADA, False, "keep")
    assert await driver.known(private(ADA)) == ["Likes tea"]
    (known,) = (await store.memories(private(ADA), 0, 9)).memories
    assert not known.tainted, "the person said it in their own words"
    await store.decide_change(asked.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == ["Likes tea"]


async def test_an_archived_memory_that_was_said_again_is_restored_once(driver: TurnDriver, store: Store) -> None:
    (tea,) = await driver.teach(ADA, "likes tea")
    await store.change_directly(private(ADA), ADA, [{"action": "archive", "memory_id": tea.memory_id}])
    await driver.teach(ADA, "likes tea")
    restore = [{"action": "restore", "memory_id": tea.memory_id}]
    (restored,) = (await store.change_directly(private(ADA), ADA, restore)).changes
    assert await driver.known(private(ADA)) == ["likes tea"]
    await store.decide_change(restored.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == ["likes tea"], "it was said again, which nobody took back"


@pytest.mark.parametrize("wording", ["likes coffee", "likes rooibos"])
async def test_undoing_the_rewording_of_a_proposal_leaves_what_was_known(
    driver: TurnDriver, store: Store, wording: str
) -> None:
    (asked,) = await driver.teach(ADA, "likes tea", tainted=True)
    await driver.teach(ADA, "Likes tea", "likes coffee")
    edit = {"action": "edit", "memory_id": asked.memory_id, "content": wording}
    (edited,) = (await store.change_directly(private(ADA), ADA, [edit])).changes
    assert set(await driver.known(private(ADA))) == {"Likes tea", "likes coffee", wording}
    await store.decide_change(edited.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == ["Likes tea", "likes coffee"]


async def test_undoing_a_kept_rewording_in_other_form_restores_the_memory(driver: TurnDriver, store: Store) -> None:
    (tea,) = await driver.teach(ADA, "likes tea")
    refine = {"action": "refine", "memory_id": tea.memory_id, "content": "Likes tea.", "ask": True}
    (asked,) = (await driver.exchange(ADA, "x", actions=[refine])).told.changes
    await store.decide_change(asked.id, ADA, False, "keep")
    assert await driver.known(private(ADA)) == ["Likes tea."]
    await store.decide_change(asked.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == ["likes tea"]


async def test_an_edit_to_what_is_known_already_keeps_the_pin_and_is_trusted(driver: TurnDriver, store: Store) -> None:
    (milk,) = await driver.teach(ADA, "likes milk")
    (tea,) = await driver.teach(ADA, "likes tea", tainted=True)
    await store.decide_change(tea.id, ADA, False, "keep")
    pin = {"action": "pin", "memory_id": milk.memory_id}
    edit = {"action": "edit", "memory_id": milk.memory_id, "content": "Likes tea"}
    await store.change_directly(private(ADA), ADA, [pin, edit])
    (known,) = (await store.memories(private(ADA), 0, 9)).memories
    assert (known.content, known.pinned, known.tainted) == ("likes tea", True, False)


async def test_asking_again_what_to_forget_ends_the_earlier_question(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "eats no nuts")
    for _ in range(2):
        await driver.exchange(ADA, "x", actions=[{"action": "forget", "content": "eats no nut", "ask": True}])
    waiting = await store.history(private(ADA), True, 0, 8, ADA, False)
    assert len(waiting.changes) == 1
    await forgetting(driver, "eats no nuts")
    assert (await store.history(private(ADA), True, 0, 8, ADA, False)).changes == ()


async def test_undoing_a_confirmed_forget_keeps_an_edit_made_before_it(driver: TurnDriver, store: Store) -> None:
    (learned,) = await driver.teach(ADA, "likes tea")
    (asked,) = (await forgetting(driver, "likes tea", tainted=True)).changes
    turn = await driver.turn(ADA, "coffee")
    edit = {"action": "edit", "memory_id": learned.memory_id, "content": "likes coffee"}
    await store.change_memory(turn, private(ADA), [edit])
    await driver.close(turn)
    for decision, left in (("keep", []), ("undo", ["likes coffee"])):
        await store.decide_change(asked.id, ADA, False, decision)
        assert await driver.known(private(ADA)) == left


@pytest.mark.parametrize("later", ["edit", "forget"])
async def test_undoing_a_kept_replacement_restores_the_memory_as_it_was_at_the_tap(
    driver: TurnDriver, store: Store, later: str
) -> None:
    (learned,) = await driver.teach(ADA, "lives in Berlin")
    said = {"action": "supersede", "memory_id": learned.memory_id, "content": "lives in Munich"}
    (asked,) = (await driver.exchange(ADA, "x", actions=[said], tainted=True)).told.changes
    action = {"action": later, "memory_id": learned.memory_id, "content": "lives in Hamburg"}
    await store.change_directly(private(ADA), ADA, [action])
    for decision, left in (("keep", ["lives in Munich"]), ("undo", ["lives in Hamburg"] if later == "edit" else [])):
        await store.decide_change(asked.id, ADA, False, decision)
        assert await driver.known(private(ADA)) == left


async def test_undoing_the_rewording_of_a_proposal_makes_it_wait_again(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "owes Eve 5 euros")
    (owed,) = (await store.memories(private(ADA), 0, 8)).memories
    said = {"action": "supersede", "memory_id": owed.id, "content": "owes Eve 100 euros"}
    (asked,) = (await driver.exchange(ADA, "x", actions=[said], tainted=True)).told.changes
    edit = {"action": "edit", "memory_id": asked.memory_id, "content": "owes Eve 10 euros"}
    (edited,) = (await store.change_directly(private(ADA), ADA, [edit])).changes
    assert await driver.known(private(ADA)) == ["owes Eve 10 euros"]
    await store.decide_change(edited.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == ["owes Eve 5 euros"], "nobody approved the proposal as it was"
    waiting = await store.history(private(ADA), True, 0, 8, ADA, False)
    assert [(one.action, one.content) for one in waiting.changes] == [("supersede", "owes Eve 100 euros")]
    await store.decide_change(asked.id, ADA, False, "keep")
    assert await driver.known(private(ADA)) == ["owes Eve 100 euros"]


async def test_a_merge_by_hand_keeps_taint_pin_and_sources(driver: TurnDriver, store: Store, sql: Sql) -> None:
    (first,) = await driver.teach(ADA, "likes tea")
    (second,) = await driver.teach(ADA, "likes oolong", tainted=True)
    await store.decide_change(second.id, ADA, False, "keep")
    await store.change_directly(private(ADA), ADA, [{"action": "pin", "memory_id": second.memory_id}])
    numbers = [first.memory_id, second.memory_id]
    merge = {"action": "merge", "memory_ids": numbers, "content": "likes oolong tea"}
    await store.change_directly(private(ADA), ADA, [merge])
    (merged,) = (await store.memories(private(ADA), 0, 8)).memories
    assert (merged.content, merged.tainted, merged.pinned) == ("likes oolong tea", True, True)
    [(sources,)] = await sql("select array_agg(source_message_id order by id) from memory where id = any (%s)", numbers)
    assert await sql("select evidence from memory where id = %s", merged.id) == [(sources,)]


async def test_a_refined_memory_keeps_the_message_that_taught_the_first_one(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    (learned,) = await driver.teach(ADA, "has a dog")
    [(source,)] = await sql("select source_message_id from memory")
    said = {"action": "refine", "memory_id": learned.memory_id, "content": "has a dog called Rex"}
    await driver.exchange(ADA, "He's called Rex.", actions=[said])
    assert await sql("select evidence from memory where status = 'active'") == [([source],)]


async def test_undoing_a_refresh_does_not_restore_a_forgotten_fact(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "likes tea")
    (change,) = await driver.teach(ADA, "Likes tea!")
    await forgetting(driver, "Likes tea!")
    await store.decide_change(change.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == []


async def test_a_change_can_be_undone_after_a_week(driver: TurnDriver, store: Store, sql: Sql) -> None:
    (change,) = await driver.teach(ADA, "likes tea")
    for number in range(3):
        await driver.exchange(ADA, f"message {number}")
    await sql("update memory_change set created_at = created_at - interval '7 days'")
    await store.tidy(0, 100)
    await store.decide_change(change.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == []


# Pending changes


async def test_a_fact_learned_in_a_tainted_turn_is_pending(driver: TurnDriver, store: Store) -> None:
    (change,) = await driver.teach(ADA, "likes tea", tainted=True)
    assert change.status == "pending"
    assert await driver.known(private(ADA)) == []
    assert (await store.memories(private(ADA), 0, 5)).pending == 1
    assert (await driver.exchange(ADA, "hello")).context.memories == ()
    kept = await store.decide_change(change.id, ADA, False, "keep")
    assert kept is not None
    assert kept[0].status == "applied"
    assert await driver.known(private(ADA)) == ["likes tea"]
    await store.decide_change(change.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == []


async def test_a_discarded_fact_cannot_be_restored(driver: TurnDriver, store: Store) -> None:
    (change,) = await driver.teach(ADA, "likes tea", tainted=True)
    gone = await store.decide_change(change.id, ADA, False, "discard")
    assert gone is not None
    assert gone[0].status == "discarded"
    for decision in ("keep", "undo", "discard"):
        await store.decide_change(change.id, ADA, False, decision)
    assert await driver.known(private(ADA)) == []
    assert (await store.memories(private(ADA), 0, 5)).pending == 0


async def test_a_forget_in_a_tainted_turn_is_pending(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "likes tea")
    (change,) = (await forgetting(driver, "likes tea", tainted=True)).changes
    assert change.status == "pending"
    assert await driver.known(private(ADA)) == ["likes tea"]
    await store.decide_change(change.id, ADA, False, "discard")
    assert await driver.known(private(ADA)) == ["likes tea"]
    (change,) = (await forgetting(driver, "likes tea", tainted=True)).changes
    await store.decide_change(change.id, ADA, False, "keep")
    assert await driver.known(private(ADA)) == []


async def test_a_fact_kept_from_a_tainted_turn_stays_tainted(driver: TurnDriver, store: Store, sql: Sql) -> None:
    (change,) = await driver.teach(ADA, "likes tea", tainted=True)
    await store.decide_change(change.id, ADA, False, "keep")
    assert await sql("select status, tainted from memory") == [("active", True)]


async def test_an_invalid_decision_changes_nothing(driver: TurnDriver, store: Store) -> None:
    (change,) = await driver.teach(ADA, "likes tea")
    for decision in ("keep", "discard", "", "drop table"):
        after = await store.decide_change(change.id, ADA, False, decision)
        assert after is not None
        assert after[0].status == "applied"
    assert await store.decide_change(10**15, ADA, True, "undo") is None


# Permissions


async def test_only_its_owner_decides_changes_of_a_private_space(driver: TurnDriver, store: Store) -> None:
    done = await driver.exchange(ADA, "hi", actions=[fact(ADA, "likes tea")])
    change = done.told.changes[0].id
    for person, admin in ((BEN, False), (BEN, True), (0, True)):
        assert await store.decide_change(change, person, admin, "undo") is None
        assert await store.changes(done.turn.turn_id, person, admin) is None
    assert await driver.known(private(ADA)) == ["likes tea"]
    assert await store.changes(done.turn.turn_id, ADA, False) is not None


async def test_in_a_group_the_person_who_taught_a_fact_and_admins_decide_it(driver: TurnDriver, store: Store) -> None:
    changes = []
    for word in ("tea", "coffee", "water"):
        done = await driver.exchange(BEN, f"I like {word}", chat_id=GROUP, actions=[fact(BEN, f"likes {word}")])
        changes.append(done.told.changes[0].id)
        assert await store.changes(done.turn.turn_id, EVE, False) is None
        assert await store.changes(done.turn.turn_id, BEN, False) is not None
    assert await store.decide_change(changes[0], EVE, False, "undo") is None
    assert await store.decide_change(changes[0], BEN, False, "undo") is not None
    assert await store.decide_change(changes[1], ADA, True, "undo") is not None
    assert await driver.known(group()) == ["likes water"]


async def test_in_a_group_the_subject_of_a_fact_can_undo_its_forgetting(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(BEN, "I like tea", chat_id=GROUP, actions=[fact(BEN, "likes tea")])
    turn = await driver.turn(ADA, "/forget tea", GROUP)
    (change,) = (await store.change_memory(turn, group(), [forget("likes tea") | {"admin": True}])).changes
    await driver.close(turn)
    assert await driver.known(group()) == []
    assert await store.changes(turn.turn_id, EVE, False) is None
    assert await store.decide_change(change.id, EVE, False, "undo") is None
    assert await store.changes(turn.turn_id, BEN, False) is not None
    assert await store.decide_change(change.id, BEN, False, "undo") is not None
    assert await driver.known(group()) == ["likes tea"]


async def test_in_a_group_only_an_admin_can_forget_a_fact_about_another_person(
    driver: TurnDriver, store: Store
) -> None:
    await driver.exchange(BEN, "I like tea", chat_id=GROUP, actions=[fact(BEN, "likes tea")])
    by_tag = await driver.exchange(ADA, "forget it", chat_id=GROUP, actions=[forget("likes tea")])
    assert by_tag.told.failed[0].failed == "nothing matches"
    for admin, left in ((False, ["likes tea"]), (True, [])):
        turn = await driver.turn(ADA, "/forget tea", GROUP)
        await store.change_memory(turn, group(), [forget("likes tea") | {"admin": admin}])
        await driver.close(turn)
        assert await driver.known(group()) == left


async def test_a_memory_can_be_edited_only_in_its_space(driver: TurnDriver, store: Store) -> None:
    (change,) = await driver.teach(ADA, "likes tea")
    turn = await driver.turn(BEN, "x")
    edit = {"action": "edit", "memory_id": change.memory_id, "content": "stolen"}
    done = await store.change_memory(turn, private(BEN), [edit])
    assert done.changes == ()
    assert done.failed[0].failed == "there is no such memory"
    assert await driver.known(private(ADA)) == ["likes tea"]


# Commands


async def test_a_repeated_remember_command_is_applied_once(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await driver.turn(ADA, "/remember")
    first = await store.change_memory(turn, private(ADA), [fact(ADA, "likes tea") | {"by": "user"}])
    second = await store.change_memory(turn, private(ADA), [fact(ADA, "likes tea") | {"by": "user"}])
    assert first == second
    assert [change.action for change in first.changes] == ["learn"]
    assert await sql("select derivation ->> 'name' from memory") == [("user",)]


async def test_a_repeated_forget_command_is_applied_once(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "likes tea")
    turn = await driver.turn(ADA, "/forget tea")
    first = await store.change_memory(turn, private(ADA), [forget("likes tea")])
    assert first == await store.change_memory(turn, private(ADA), [forget("likes tea")])
    assert [(c.action, c.status) for c in first.changes] == [("forget", "applied")]


# Memories in the prompt


async def test_the_prompt_contains_pinned_important_and_new_memories_within_budget(
    driver: TurnDriver, sql: Sql
) -> None:
    facts = [f"{chr(97 + n) * 150} number {n}" for n in range(20)]
    for start in range(0, 20, 5):
        await driver.teach(ADA, *facts[start : start + 5])
    await sql("update memory set content = content || repeat(' x', 1400)")
    await sql("update memory set pinned = true where content like %s", "%number 3 %")
    await sql("update memory set importance = 9 where content like %s", "%number 5 %")
    chosen = (await driver.exchange(ADA, "hi")).context.memories
    numbers = [int(memory.content.split("number ")[1].split()[0]) for memory in chosen]
    assert numbers[:2] == [3, 5]
    assert numbers == sorted(numbers)
    assert numbers[-1] == 19
    assert 4 < len(numbers) < 20


async def test_a_memory_longer_than_the_budget_takes_no_others_place(driver: TurnDriver, sql: Sql) -> None:
    await driver.teach(ADA, "likes tea", "lives in Berlin", "the house rules")
    await sql("update memory set pinned = true, content = content || repeat(' x', 2000) where content like 'the %'")
    await sql("update memory set content = content || repeat(' y', 400) where content like 'lives%'")
    [(space_id,)] = await sql("select distinct space_id from memory")
    for budget, fits in ((2000, ["lives", "likes"]), (100, ["likes"]), (5, [])):
        rows = await sql(
            "select split_part(one ->> 'content', ' ', 1) "
            "from jsonb_array_elements(relay.memories_for_prompt(%s, %s)) as one",
            space_id, budget,
        )  # fmt: skip
        assert sorted(word for (word,) in rows) == sorted(fits)


async def test_the_prompt_lists_memories_in_a_stable_order(driver: TurnDriver) -> None:
    await driver.teach(ADA, "likes tea", "lives in Berlin", "has a boat")
    first = (await driver.exchange(ADA, "one")).context.memories
    assert (await driver.exchange(ADA, "two")).context.memories == first


async def test_a_forgotten_fact_is_absent_from_the_next_prompt(driver: TurnDriver) -> None:
    await driver.teach(ADA, "likes tea", "lives in Berlin")
    await forgetting(driver, "Berlin")
    context = (await driver.exchange(ADA, "hi")).context
    assert [memory.content for memory in context.memories] == ["likes tea"]


async def test_a_turn_taken_over_before_it_was_answered_has_no_answer(driver: TurnDriver, store: Store) -> None:
    turn = await driver.turn(ADA, "I like tea")
    incoming = incoming_of(turn, "I like tea", private(ADA))
    await store.begin(incoming, "m")
    await store.release()
    (taken,) = await driver.claim()
    assert taken.answer is None
    assert taken.status == "working"
