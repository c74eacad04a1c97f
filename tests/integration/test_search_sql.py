"""Search and recall: they find what was said, in one's own space only, whatever is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.core.models import Space
from relay.memory.preferences.patterns import Pattern
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.house import ADA, BEN, GROUP, House, fact, forget, group, incoming_of, private
from tests.strategies import examples

SPECIAL = [
    "", " ", "'", "''",
    '"', "\\", "\\\\'", "a\\b c\\d", "& | ! ( ) : * <->", "a & b", "tea | !coffee", "tea:*", "tea:A",
    "<->", "a <2> b", "%", "_%_", "$1 $$", "'; drop table message; --", "(((", "http://example.com/it's?a=b&c=d'e",
    "/usr/lib/it's", "c:\\windows\\it's", "foo@bar.com'", "-1.5e10", "🙂🙂 🙃🙃", "\u200b\u202e\u200f", "x" * 5000,
    "tea " * 3000, "<b>tea</b> &amp; coffee", "NULL", "E'\\x41'", "--", "/* */", "{}[]", "ﬁ ß İ ı", "a:b:c:*:D",
]  # fmt: skip


async def search(house: House, query: str, space: Space | None = None, **more: Any) -> list[str]:
    return [row.snippet for row in await house.look_up(space or private(ADA), query, **more)]


async def recall(house: House, text: str, user_id: int = ADA, space: Space | None = None, topic: int = 0) -> list[str]:
    turn = await house.turn(user_id, text, topic_id=topic)
    found = await house.store.recall(incoming_of(turn, text, space or private(user_id)))
    await house.close(turn)
    return [row.snippet for row in found]


async def test_search_finds_words_in_any_thread(house: House) -> None:
    await house.exchange(ADA, "The boiler is a Vaillant ecoTEC", "Noted.")
    await house.exchange(ADA, "Something else", topic_id=5)
    assert await search(house, "vaillant") == ["The boiler is a Vaillant ecoTEC"]
    assert await search(house, "Vaill") == ["The boiler is a Vaillant ecoTEC"]
    assert await search(house, "trumpet") == []


async def test_the_best_match_comes_first(house: House) -> None:
    await house.exchange(ADA, "I bought a red bicycle", "A bicycle!")
    await house.exchange(ADA, "The red bicycle has a flat tyre", "Oh.")
    found = await search(house, "red bicycle flat tyre")
    assert found[0] == "The red bicycle has a flat tyre"
    assert len(found) == 3


async def test_search_within_dates(house: House, sql: Sql) -> None:
    await house.exchange(ADA, "apples in spring")
    await sql("update message set created_at = '2025-03-01T12:00:00Z'")
    await house.exchange(ADA, "apples in autumn")
    assert await search(house, "apples", until="2025-03-02") == ["apples in spring"]
    assert await search(house, "apples", since="2025-03-02T00:00:00+01:00") == ["apples in autumn"]
    assert await search(house, "apples", since="2025-03-02", until="2025-03-03") == []
    assert len(await search(house, "apples", limit=1)) == 1


async def test_search_says_who_and_whether_it_can_be_trusted(house: House, store: Store) -> None:
    turn = await house.turn(ADA, "the forwarded recipe")
    await store.begin(incoming_of(turn, "the forwarded recipe", private(ADA), untrusted=True), "m")
    await house.close(turn)
    await house.exchange(ADA, "my own recipe", "A recipe?", tainted=True)
    rows = await house.look_up(private(ADA), "recipe")
    assert {(row.snippet, row.role, row.untrusted) for row in rows} == {
        ("the forwarded recipe", "user", True), ("my own recipe", "user", False), ("A recipe?", "assistant", True),
    }  # fmt: skip
    assert {row.name for row in rows} == {"Ada", None}


async def test_replaced_answers_are_not_found(house: House) -> None:
    await house.exchange(ADA, "question", "wrong pineapple")
    await house.exchange(ADA, "/retry", "right banana", retry=True)
    assert await search(house, "pineapple") == []
    assert await search(house, "banana") == ["right banana"]


@pytest.mark.parametrize("word", ["Käse", "чай", "شاي", "naïve", "Straße", "zażółć"])
async def test_search_in_other_scripts(house: House, word: str) -> None:
    await house.exchange(ADA, f"mm {word} mm", "ok")
    assert await search(house, word.upper() if word != "Straße" else word) == [f"mm {word} mm"]


async def test_special_characters_are_only_characters(house: House, sql: Sql) -> None:
    done = await house.exchange(ADA, "tea and coffee, http://example.com/it's?a=b&c=d'e", "ok")
    for query in SPECIAL:
        await search(house, query)
        turn = incoming_of(done.turn, query, private(ADA))
        await house.store.recall(turn)
    assert await sql("select count(*) from message") == [(2,)]
    assert await search(house, "tea & !coffee") != []


@pytest.fixture
async def spoken_in(house: House) -> House:
    """Where Ada has said a word."""
    await house.exchange(ADA, "hello")
    return house


@examples(150)
@given(query=st.text(st.sampled_from("tea'\"\\&|!():*<->.@/ %_$é🙂\n\t-1x"), max_size=60))
async def test_any_query_is_answered(spoken_in: House, query: str) -> None:
    """What matters is that Postgres can read what we make of it."""
    await spoken_in.look_up(private(ADA), query)
    await spoken_in.look_up(private(ADA), f"tea {query}")


@examples(60)
@given(text=st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=80))
async def test_any_text_can_be_said_and_asked(house: House, text: str) -> None:
    turn = await house.turn(ADA, "x")
    incoming = replace(incoming_of(turn, text, private(ADA)), name=text[:20])
    context = await house.store.begin(incoming, "m")
    assert context.message is not None
    assert context.message.text == text
    await house.store.recall(incoming)
    await house.look_up(private(ADA), text)
    await house.close(turn)


@pytest.mark.parametrize("text", ["a\x00b", "\x00", "half \ud83d of a pair", "\udc00"])
async def test_text_that_postgres_cannot_hold_is_mended(house: House, store: Store, text: str) -> None:
    turn = await house.turn(ADA, "x")
    incoming = replace(incoming_of(turn, text, private(ADA)), name=text)
    context = await store.begin(incoming, "m")
    assert context.message is not None
    assert "\x00" not in context.message.text
    await store.recall(incoming)
    await house.look_up(private(ADA), text)
    await house.say({**turn.updates[0], "update_id": 10**6, "message": {**turn.updates[0]["message"], "text": text}})


# Recall


async def test_recall_finds_what_was_said_elsewhere(house: House) -> None:
    await house.exchange(ADA, "The plumber Mueller repaired the boiler", topic_id=5)
    assert await recall(house, "What was the plumber called who repaired it?") == [
        "The plumber Mueller repaired the boiler"
    ]


async def test_one_shared_word_is_not_enough(house: House) -> None:
    await house.exchange(ADA, "The plumber came", topic_id=5)
    assert await recall(house, "I need a plumber tomorrow afternoon") == []
    assert await recall(house, "plumber") == []
    assert await recall(house, "?") == []


async def test_a_long_message_needs_more_shared_words(house: House) -> None:
    await house.exchange(ADA, "bicycle garage", topic_id=5)
    long = "bicycle garage mountain river forest meadow valley canyon desert glacier volcano island"
    assert await recall(house, long) == []
    await house.exchange(ADA, "bicycle garage mountain river forest meadow", topic_id=5)
    assert await recall(house, long) == ["bicycle garage mountain river forest meadow"]


async def test_filler_words_do_not_count(house: House) -> None:
    await house.exchange(ADA, "what is the most that you can do about this", topic_id=5)
    assert await recall(house, "what can you do about the most of this") == []


async def test_what_the_prompt_shows_anyway_is_not_recalled(house: House, store: Store, sql: Sql) -> None:
    await house.exchange(ADA, "The plumber Mueller repaired the boiler")
    assert await recall(house, "Which plumber repaired the boiler?") == []
    await store.new_session(private(ADA), ADA, 0, "")
    assert len(await recall(house, "Which plumber repaired the boiler?")) == 1


async def test_recall_is_limited(house: House) -> None:
    for number in range(9):
        await house.exchange(ADA, f"The plumber repaired boiler {number}", topic_id=5)
    assert len(await recall(house, "Which plumber repaired it?")) == 5


# Nobody sees another's


async def test_recall_and_search_stay_in_their_space(house: House) -> None:
    await house.exchange(ADA, "The plumber repaired the boiler secretly", topic_id=5)
    await house.exchange(BEN, "unrelated")
    assert await recall(house, "Which plumber repaired the boiler secretly?", BEN) == []
    assert await recall(house, "Which plumber repaired the boiler secretly?", ADA, group()) == []
    assert await search(house, "plumber", private(BEN)) == []
    assert await search(house, "plumber") != []


WORDS = st.sampled_from(["apple", "boiler", "canyon", "desert", "engine", "forest", "garden", "harbor"])
PLACES = st.sampled_from(
    [(11, 0, 11), (12, 0, 12), (13, 0, 13), (11, 4, 11), (0, 0, GROUP), (0, 9, GROUP), (0, 0, GROUP - 1)]
)
"""(owner of a private space, or 0 for the group's; topic; chat)."""


@examples(25)
@given(
    steps=st.lists(
        st.tuples(PLACES, st.sampled_from([11, 12, 13]), st.lists(WORDS, min_size=1, max_size=4)),
        min_size=2,
        max_size=6,
    ),
    private_group=st.booleans(),
)
async def test_no_space_ever_shows_anothers_rows(
    house: House, steps: list[tuple[tuple[int, int, int], int, list[str]]], private_group: bool
) -> None:
    """Every text names its space; whatever is loaded, recalled, listed or searched there must name the same."""
    for (owner, topic, chat), speaker, words in steps:
        user = owner or speaker
        space = private(user) if owner or (private_group and user == 11) else group(chat)
        mark = f"mark{space.kind}{abs(space.owner_id or space.chat_id or 0)}"
        text = f"{mark} {' '.join(words)}"
        actions = [fact(user, f"{text} fact"), forget(f"{words[0]} fact"), forget("markprivate11 fact")]
        done = await house.exchange(
            user, text, f"{text} answer", chat_id=chat, topic_id=topic, space=space, actions=actions
        )
        incoming = replace(done.incoming, text="apple boiler canyon desert engine forest garden harbor")
        shown = [
            *(row.text for row in done.context.recent),
            *(row.content for row in done.context.memories),
            *(change.content for change in done.told.changes),
            *(row.snippet for row in await house.store.recall(incoming)),
            *await search(house, incoming.text, space, limit=20),
            *await house.known(space),
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
            "observations": [liked.observed("said")],
        }
        assert (await house.store.feedback(space, chat, topic, user, act)).acts
        known = await house.store.preferences(space, chat, topic, user)
        assert {row.pattern for row in known.rows} == {liked.pattern}
