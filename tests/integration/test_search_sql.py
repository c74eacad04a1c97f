"""Tests search and recall: they find what was said, in the own space only, for any query."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.core.models import Space, Thread
from relay.memory.preferences.patterns import Pattern
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, GROUP, TurnDriver, dm, fact, forget, group, incoming_of, private
from tests.strategies import examples

SPECIAL = [
    "", " ", "'", "''",
    '"', "\\", "\\\\'", "a\\b c\\d", "& | ! ( ) : * <->", "a & b", "tea | !coffee", "tea:*", "tea:A",
    "<->", "a <2> b", "%", "_%_", "$1 $$", "'; drop table message; --", "(((", "http://example.com/it's?a=b&c=d'e",
    "/usr/lib/it's", "c:\\windows\\it's", "foo@bar.com'", "-1.5e10", "🙂🙂 🙃🙃", "\u200b\u202e\u200f", "x" * 5000,
    "tea " * 3000, "<b>tea</b> &amp; coffee", "NULL", "E'\\x41'", "--", "/* */", "{}[]", "ﬁ ß İ ı", "a:b:c:*:D",
]  # fmt: skip


async def search(driver: TurnDriver, query: str, space: Space | None = None, **more: Any) -> list[str]:
    return [row.snippet for row in await driver.look_up(space or private(ADA), query, **more)]


async def recall(
    driver: TurnDriver, text: str, user_id: int = ADA, space: Space | None = None, topic: int = 0
) -> list[str]:
    turn = await driver.turn(user_id, text, topic_id=topic)
    found = await driver.store.recall(incoming_of(turn, text, space or private(user_id)))
    await driver.close(turn)
    return [row.snippet for row in found]


async def test_search_finds_words_in_any_thread(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "The boiler is a Vaillant ecoTEC", "Noted.")
    await driver.exchange(ADA, "Something else", topic_id=5)
    assert await search(driver, "vaillant") == ["The boiler is a Vaillant ecoTEC"]
    assert await search(driver, "Vaill") == ["The boiler is a Vaillant ecoTEC"]
    assert await search(driver, "trumpet") == []


async def test_the_best_match_comes_first(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "I bought a red bicycle", "A bicycle!")
    await driver.exchange(ADA, "The red bicycle has a flat tyre", "Oh.")
    found = await search(driver, "red bicycle flat tyre")
    assert found[0] == "The red bicycle has a flat tyre"
    assert len(found) == 3


async def test_search_is_limited_to_dates_and_a_number(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "apples in spring")
    await sql("update message set created_at = '2025-03-01T12:00:00Z'")
    await driver.exchange(ADA, "apples in autumn")
    assert await search(driver, "apples", until="2025-03-02") == ["apples in spring"]
    assert await search(driver, "apples", since="2025-03-02T00:00:00+01:00") == ["apples in autumn"]
    assert await search(driver, "apples", since="2025-03-02", until="2025-03-03") == []
    assert len(await search(driver, "apples", limit=1)) == 1


async def test_search_shows_the_author_and_whether_a_text_is_untrusted(driver: TurnDriver, store: Store) -> None:
    turn = await driver.turn(ADA, "the forwarded recipe")
    await store.begin(incoming_of(turn, "the forwarded recipe", private(ADA), untrusted=True), "m")
    await driver.close(turn)
    await driver.exchange(ADA, "my own recipe", "A recipe?", tainted=True)
    rows = await driver.look_up(private(ADA), "recipe")
    assert {(row.snippet, row.role, row.untrusted) for row in rows} == {
        ("the forwarded recipe", "user", True), ("my own recipe", "user", False), ("A recipe?", "assistant", True),
    }  # fmt: skip
    assert {row.name for row in rows} == {"Ada", None}


async def test_replaced_answers_are_not_found(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "question", "wrong pineapple")
    await driver.exchange(ADA, "/retry", "right banana", retry=True)
    assert await search(driver, "pineapple") == []
    assert await search(driver, "banana") == ["right banana"]


@pytest.mark.parametrize("word", ["Käse", "чай", "شاي", "naïve", "Straße", "zażółć"])
async def test_search_finds_words_in_other_scripts(driver: TurnDriver, word: str) -> None:
    await driver.exchange(ADA, f"mm {word} mm", "ok")
    assert await search(driver, word.upper() if word != "Straße" else word) == [f"mm {word} mm"]


async def test_special_characters_have_no_special_meaning(driver: TurnDriver, sql: Sql) -> None:
    done = await driver.exchange(ADA, "tea and coffee, http://example.com/it's?a=b&c=d'e", "ok")
    for query in SPECIAL:
        await search(driver, query)
        turn = incoming_of(done.turn, query, private(ADA))
        await driver.store.recall(turn)
    assert await sql("select count(*) from message") == [(2,)]
    assert await search(driver, "tea & !coffee") != []


@pytest.fixture
async def spoken_in(driver: TurnDriver) -> TurnDriver:
    """A database in which Ada has written a message."""
    await driver.exchange(ADA, "hello")
    return driver


@examples(150)
@given(query=st.text(st.sampled_from("tea'\"\\&|!():*<->.@/ %_$é🙂\n\t-1x"), max_size=60))
async def test_any_query_is_answered(spoken_in: TurnDriver, query: str) -> None:
    """The query that we build must be valid for Postgres."""
    await spoken_in.look_up(private(ADA), query)
    await spoken_in.look_up(private(ADA), f"tea {query}")


@examples(60)
@given(text=st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=80))
async def test_any_text_can_be_stored_and_searched(driver: TurnDriver, text: str) -> None:
    turn = await driver.turn(ADA, "x")
    incoming = replace(incoming_of(turn, text, private(ADA)), name=text[:20])
    context = await driver.store.begin(incoming, "m")
    assert context.message is not None
    assert context.message.text == text
    await driver.store.recall(incoming)
    await driver.look_up(private(ADA), text)
    await driver.close(turn)


@pytest.mark.parametrize("text", ["a\x00b", "\x00", "half \ud83d of a pair", "\udc00"])
async def test_text_that_postgres_cannot_store_is_repaired(driver: TurnDriver, store: Store, text: str) -> None:
    turn = await driver.turn(ADA, "x")
    incoming = replace(incoming_of(turn, text, private(ADA)), name=text)
    context = await store.begin(incoming, "m")
    assert context.message is not None
    assert "\x00" not in context.message.text
    await store.recall(incoming)
    await driver.look_up(private(ADA), text)
    await driver.say({**turn.updates[0], "update_id": 10**6, "message": {**turn.updates[0]["message"], "text": text}})


# Recall


async def test_recall_finds_messages_from_other_topics(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "The plumber Mueller repaired the boiler", topic_id=5)
    assert await recall(driver, "What was the plumber called who repaired it?") == [
        "The plumber Mueller repaired the boiler"
    ]


async def test_one_shared_word_is_not_enough_for_recall(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "The plumber came", topic_id=5)
    assert await recall(driver, "I need a plumber tomorrow afternoon") == []
    assert await recall(driver, "plumber") == []
    assert await recall(driver, "?") == []


async def test_a_long_message_needs_more_shared_words_for_recall(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "bicycle garage", topic_id=5)
    long = "bicycle garage mountain river forest meadow valley canyon desert glacier volcano island"
    assert await recall(driver, long) == []
    await driver.exchange(ADA, "bicycle garage mountain river forest meadow", topic_id=5)
    assert await recall(driver, long) == ["bicycle garage mountain river forest meadow"]


async def test_filler_words_do_not_count_for_recall(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "what is the most that you can do about this", topic_id=5)
    assert await recall(driver, "what can you do about the most of this") == []


async def test_messages_already_in_the_prompt_are_not_recalled(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "The plumber Mueller repaired the boiler")
    assert await recall(driver, "Which plumber repaired the boiler?") == []
    await store.new_session(dm(ADA), "")
    assert len(await recall(driver, "Which plumber repaired the boiler?")) == 1


async def test_recall_returns_at_most_five_results(driver: TurnDriver) -> None:
    for number in range(9):
        await driver.exchange(ADA, f"The plumber repaired boiler {number}", topic_id=5)
    assert len(await recall(driver, "Which plumber repaired it?")) == 5


# Spaces are separate


async def test_recall_and_search_stay_in_their_space(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "The plumber repaired the boiler secretly", topic_id=5)
    await driver.exchange(BEN, "unrelated")
    assert await recall(driver, "Which plumber repaired the boiler secretly?", BEN) == []
    assert await recall(driver, "Which plumber repaired the boiler secretly?", ADA, group()) == []
    assert await search(driver, "plumber", private(BEN)) == []
    assert await search(driver, "plumber") != []


WORDS = st.sampled_from(["apple", "boiler", "canyon", "desert", "engine", "forest", "garden", "harbor"])
PLACES = st.sampled_from(
    [(11, 0, 11), (12, 0, 12), (13, 0, 13), (11, 4, 11), (0, 0, GROUP), (0, 9, GROUP), (0, 0, GROUP - 1)]
)
"""(owner of a private space, or 0 for the group; topic; chat)."""


@examples(12)
@given(
    steps=st.lists(
        st.tuples(PLACES, st.sampled_from([11, 12, 13]), st.lists(WORDS, min_size=1, max_size=4)),
        min_size=2,
        max_size=6,
    ),
    private_group=st.booleans(),
)
async def test_no_space_ever_shows_rows_of_another_space(
    driver: TurnDriver, steps: list[tuple[tuple[int, int, int], int, list[str]]], private_group: bool
) -> None:
    """Every text names its space. Every text that is loaded, recalled, listed or found in a space must name that
    space."""
    for (owner, topic, chat), speaker, words in steps:
        user = owner or speaker
        space = private(user) if owner or (private_group and user == 11) else group(chat)
        mark = f"mark{space.kind}{abs(space.owner_id or space.chat_id or 0)}"
        text = f"{mark} {' '.join(words)}"
        actions = [fact(user, f"{text} fact"), forget(f"{words[0]} fact"), forget("markprivate11 fact")]
        done = await driver.exchange(
            user, text, f"{text} answer", chat_id=chat, topic_id=topic, space=space, actions=actions
        )
        incoming = replace(done.incoming, text="apple boiler canyon desert engine forest garden harbor")
        shown = [
            *(row.text for row in done.context.recent),
            *(row.content for row in done.context.memories),
            *(change.content for change in done.told.changes),
            *(row.snippet for row in await driver.store.recall(incoming)),
            *await search(driver, incoming.text, space, limit=20),
            *await driver.known(space),
        ]
        assert all(mark in shown_text.split() for shown_text in shown), (mark, shown)
        assert (done.context.summary, done.context.reply_to) == (None, None)
        letters = "".join("abcdefghij"[int(digit)] for digit in f"{abs(space.owner_id or space.chat_id or 0)}{user}")
        liked = Pattern("other", f"{space.kind} {letters}", 1)
        assert {row.pattern for row in done.context.preferences} <= {liked.pattern}
        act = {
            "kind": "said",
            "about": None,
            "value": {},
            "source": "command",
            "observations": [liked.as_observed("said")],
        }
        assert (await driver.store.feedback(Thread(space, chat, topic), user, act)).acts
        known = await driver.store.preferences(Thread(space, chat, topic), user)
        assert {row.pattern for row in known.rows} == {liked.pattern}
