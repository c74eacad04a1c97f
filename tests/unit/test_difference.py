"""The difference between two texts is complete, readable, and shown literally."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.surfaces.chat.difference import (
    ADDED,
    HIDDEN,
    KEPT,
    MOST_MARKS,
    REMOVED,
    difference,
    exact,
    limit_changes,
    pieces,
)
from relay.surfaces.telegram.formatting.format import format_reply

WORDS = st.sampled_from(
    ["you", "are", "kind", "kind.", "Never", "flatter", "# x", "- y", "1. z", "\n", "\n\n", " ", "🐝"]
)
PROSE = st.lists(WORDS, max_size=40).map(" ".join)
ANY = st.one_of(st.text(max_size=60), PROSE)


def shown(markdown: str) -> str:
    return "\n".join(message.text for message in format_reply(markdown))


def marks(markdown: str) -> list[tuple[str, str]]:
    """The struck-through and bold parts that a person sees."""
    found = []
    for message in format_reply(markdown):
        units = message.text.encode("utf-16-le")
        for one in message.entities:
            start, end = 2 * one["offset"], 2 * (one["offset"] + one["length"])
            found.append((one["type"], units[start:end].decode("utf-16-le")))
    return found


@given(ANY, ANY)
def test_the_pieces_make_up_both_texts(before: str, after: str) -> None:
    for found in (pieces(before, after), limit_changes(pieces(before, after))):
        assert "".join(text for sign, text in found if sign != ADDED) == before
        assert "".join(text for sign, text in found if sign != REMOVED) == after
        assert all(text for _, text in found)


@given(ANY, ANY)
def test_only_differing_texts_have_a_difference(before: str, after: str) -> None:
    told = difference(before, after)
    assert bool(told) == (before != after)
    if before != after:
        assert marks(told), "something is marked as changed"


@given(PROSE, PROSE)
def test_only_changes_are_marked(before: str, after: str) -> None:
    told = difference(before, after)
    kinds = {kind for kind, _ in marks(told)}
    assert kinds <= {"strikethrough", "bold"}
    assert "~~" not in shown(told)
    assert "**" not in shown(told)


@given(PROSE)
def test_an_added_text_is_shown_whole(text: str) -> None:
    told = difference("", text)
    assert "".join(shown(told).replace("\u200b", "").split()).strip("¶␣") == "".join(text.split())


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Mn"]), max_size=80))
@example("=")
@example("- \n+")
def test_a_text_is_shown_literally(text: str) -> None:
    words = text.split()
    if words and not HIDDEN.search(text):
        (message,) = format_reply("x\n" + exact(text))
        assert not message.entities
        assert message.text.split()[1:] == shown("x\n" + exact(text)).split()[1:]
        assert "".join(message.text.split())[1:] == "".join(words)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("You are kind.", "You are very kind.", [("bold", "very")]),
        ("You are very kind.", "You are kind.", [("strikethrough", "very")]),
        ("You are sad.", "You are glad.", [("strikethrough", "sad."), ("bold", "glad.")]),
        ("One.", "One.\n\nTwo.\nThree.", [("bold", "Two.\nThree.")]),
        ("One.\nTwo.", "One.", [("strikethrough", "Two.")]),
        ("a b", "a  b", [("strikethrough", "␣"), ("bold", "␣")]),
        ("a\nb", "a\n\nb", [("strikethrough", "¶"), ("bold", "¶")]),
        ("", "You", [("bold", "You")]),
        ("You", "", [("strikethrough", "You")]),
        ("no *stars*", "no **[stars](http://x)**", [("strikethrough", "*stars*"), ("bold", "**[stars](http://x)**")]),
    ],
)
def test_changes_are_marked_as_a_person_sees_them(before: str, after: str, expected: list[tuple[str, str]]) -> None:
    assert marks(difference(before, after)) == expected


def test_paragraphs_and_lists_look_as_they_were_written() -> None:
    text = "# Who\n\nYou:\n- are kind\n  - very\n1. and short\n---\n> quote\n| a | b |"
    assert shown(exact(text)).replace("\xa0", " ") == text


def test_long_unchanged_passages_are_shortened() -> None:
    story = " ".join(f"word{n}" for n in range(500))
    told = shown(difference(f"{story} old {story} end {story}", f"{story} new {story} END {story}"))
    assert len(told) < 600
    assert "word499 old new word0" in told
    assert told.startswith("[…] ")
    assert told.endswith(" […]")
    assert told.count("[…]") == 3


def test_long_removals_are_shortened_but_additions_are_not() -> None:
    story = " ".join(f"word{n}" for n in range(500))
    assert len(shown(difference(story, "short"))) < 600
    assert shown(difference("short", story)).endswith(story)


def test_invisible_characters_are_shown_by_their_code() -> None:
    hidden = "be kind\U000e0042\U000e0041 \u202eevil\u200b x\u2063y \ufe01z\u200d\u200c\u200db"
    told = shown(difference("be", hidden))
    for code in ("E0042", "E0041", "202E", "200B", "2063", "FE01", "200D", "200C"):
        assert f"⟨U+{code}⟩" in told
    assert "evil" in told


@pytest.mark.parametrize("text", ["👨‍👩‍👧 family", "می‌خواهم", "ෆ්‍රී", "❤️", "مرحبا"])
def test_joiners_of_scripts_and_emoji_stay(text: str) -> None:
    assert shown(exact(text)) == text


def test_the_number_of_marks_is_limited() -> None:
    before = " ".join(f"same{n} a b c d e old{n}" for n in range(300))
    after = before.replace("old", "new")
    assert len([1 for sign, _ in limit_changes(pieces(before, after)) if sign != KEPT]) <= MOST_MARKS


def test_the_hardest_texts_are_compared_in_bounded_time() -> None:
    chance = random.Random(7)
    texts = [
        "a\n" * 8000,
        "b\na\n" * 4000,
        " ".join(chance.choice("ab") for _ in range(8000)),
        " ".join(f"{n % 90:02d}" for n in range(4000)),
        " ".join(f"{n * 7 % 90:02d}" for n in range(4000)),
        " ".join(f"{n % 500:03d}" for n in range(4000)),
        " ".join(f"{n * 7 % 500:03d}" for n in range(4000)),
        "x" * 16000,
        "\n" * 16000,
    ]
    for before in texts:
        for after in texts:
            began = time.process_time()
            difference(before, after)
            assert time.process_time() - began < 8


def test_a_long_text_of_common_words_is_compared_word_by_word() -> None:
    text = " ".join(f"the a of to word{n}" for n in range(200))
    assert marks(difference(text, text.replace("word100 ", "new "))) == [("strikethrough", "word100"), ("bold", "new")]


def test_texts_with_too_many_repeated_words_are_compared_line_by_line() -> None:
    lines = ["a b " * 40 + f"end{n}" for n in range(60)]
    found = pieces("\n".join(lines), "\n".join(lines).replace("end30", "new"))
    assert [text.strip() for sign, text in found if sign != KEPT] == [lines[30], lines[30].replace("end30", "new")]
