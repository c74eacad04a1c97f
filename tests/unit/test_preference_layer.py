"""Which of a person's preferences a prompt shows, and in which words."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import Any, Literal

from hypothesis import given
from hypothesis import strategies as st

from relay.conversation.preference_layer import (
    LEAST_AVOIDED,
    MOST,
    MOST_OF_TYPE,
    PreferenceLayer,
    preference_layer,
    reminder,
)
from relay.memory.preferences.patterns import TYPES
from relay.memory.rows.turns.preferences import Preference
from relay.memory.rows.turns.record import PreferenceNote
from tests.strategies import examples

numbers = count(1)


def likes(
    pattern: str, strength: float = 0.6, type: str = "other", polarity: Literal[-1, 1] = 1, **more: Any
) -> Preference:
    level: Any = "high" if strength >= 0.75 else "medium" if strength >= 0.4 else "low"
    given = {"level": level, "status": "stable", "here": False, "last_seen": datetime(2026, 1, 1, tzinfo=UTC)} | more
    return Preference(next(numbers), type, pattern, polarity, strength, **given)


def patterns(rows: tuple[Preference, ...]) -> list[str]:
    return [row.pattern for row in rows]


def test_strong_preferences_are_shown_and_weak_ones_are_not() -> None:
    layer = preference_layer([
        likes("short answers", 0.60, "length"), likes("lists and tables", 0.45, "form"),
        likes("formal tone", 0.45, "tone", -1), likes("sources and links", 0.38, "sources"),
    ])  # fmt: skip
    assert layer.text.splitlines()[2:] == [
        "Prefer (medium): short answers · lists and tables",
        "Avoid (medium): formal tone",
    ]
    assert patterns(layer.shown) == ["short answers", "formal tone", "lists and tables"], "avoided patterns count more"
    assert layer.notes == ()
    assert preference_layer(layer.shown, tokens=46).shown == layer.shown, "20 + 9 + 9 + 8 tokens"
    assert preference_layer(layer.shown, tokens=45).notes == (
        PreferenceNote("token_budget_exceeded", (layer.shown[2].id,)),
    )


def test_avoided_preferences_do_not_outnumber_preferred_ones() -> None:
    rows = [likes(f"thing {name}", 0.5, TYPES[place]) for place, name in enumerate("abc")]
    rows += [likes(f"other {name}", 0.5 + place / 100, TYPES[place + 3], -1) for place, name in enumerate("defghi")]
    layer = preference_layer(rows)
    assert patterns(layer.shown) == ["other i", "other h", "other g", "thing a", "thing b", "thing c"]
    assert layer.notes == (PreferenceNote("polarity_ceiling_applied", dropped=3),)


def test_two_avoided_preferences_may_stand_alone() -> None:
    layer = preference_layer([likes(f"thing {name}", 0.5, TYPES[place], -1) for place, name in enumerate("abcde")])
    assert patterns(layer.shown) == ["thing a", "thing b"]
    assert layer.notes == (PreferenceNote("polarity_ceiling_applied", dropped=3),)


def test_at_most_twenty_preferences_are_shown() -> None:
    layer = preference_layer([likes(f"thing {'abcdefghijklmnopqrstuvwxy'[n]}") for n in range(25)], tokens=10_000)
    assert len(layer.shown) == MOST
    assert layer.notes == (PreferenceNote("hard_cap_applied", dropped=5),)


def test_preferred_patterns_take_the_places_of_excess_avoided_ones() -> None:
    avoided = [likes(f"thing {'abcdefghijklmnop'[n]}", 0.7, TYPES[n % 11], -1) for n in range(16)]
    preferred = [likes(f"other {'abcdefgh'[n]}", 0.6, TYPES[n % 11]) for n in range(8)]
    layer = preference_layer([*avoided, *preferred], tokens=10_000)
    assert sum(row.polarity < 0 for row in layer.shown) == 8
    assert sum(row.polarity > 0 for row in layer.shown) == 8
    assert [note.type for note in layer.notes] == ["hard_cap_applied", "polarity_ceiling_applied", "polarity_backfill"]
    assert layer.notes[1].dropped == 8


def test_at_most_three_of_a_type_are_shown_if_there_are_others() -> None:
    lengths = [likes(f"length {name}", 0.6, "length") for name in "abcde"]
    layer = preference_layer([*lengths, likes("humour", 0.5, "tone")])
    assert patterns(layer.shown) == ["length a", "length b", "length c", "humour"]
    assert layer.notes == (PreferenceNote("category_ceiling_applied", category="length", dropped=2),)
    assert len(preference_layer(lengths).shown) == 5, "there is no other type"


def test_other_types_take_the_places_of_a_type_with_too_many() -> None:
    rows = [likes(f"thing {'abcdefghijklmnopqrst'[n]}", 0.7, "form") for n in range(20)]
    layer = preference_layer([*rows, likes("humour", 0.5, "tone"), likes("examples", 0.45, "examples")], tokens=10_000)
    assert patterns(layer.shown)[3:] == ["humour", "examples"]
    assert layer.notes[-1].type == "category_backfill"


def test_a_preference_for_this_conversation_overrides_the_general_one() -> None:
    everywhere = likes("short answers", 0.80, "length")
    here = likes("short answers", 0.45, "length", -1, here=True)
    layer = preference_layer([everywhere, here])
    assert layer.text.splitlines()[2:] == ["In this conversation: avoid short answers"]
    assert layer.notes == (PreferenceNote("project_override_suppression", (everywhere.id, here.id)),)
    weak = replace(here, strength=0.15, level="low")
    assert preference_layer([everywhere, weak]).text == "", "even if its own preference is too weak to be shown"
    assert patterns(preference_layer([everywhere]).shown) == ["short answers"]


def test_a_preference_larger_than_the_budget_is_not_shown() -> None:
    layer = preference_layer([likes("x" * 60)], tokens=30)
    assert (layer.text, layer.shown) == ("", ())
    assert layer.notes[0].type == "token_budget_exceeded"


def test_without_usable_preferences_the_layer_is_empty() -> None:
    assert preference_layer([]) == PreferenceLayer()
    assert preference_layer([likes("humour", 1.0, level="low")]).notes == (
        PreferenceNote("provisional_excluded", count=1),
    )
    assert preference_layer([likes("humour", 0.9, status="under_review")]).text == ""


def test_the_layer_has_the_documented_wording() -> None:
    layer = preference_layer([
        likes("short answers", 0.9, "length"), likes("sources and links", 0.8, "sources"),
        likes("step by step", 0.5, "depth"), likes("questions back", 0.8, "initiative", -1),
        likes("emoji", 0.5, "tone", -1), likes("formal tone", 0.45, "tone", -1),
        likes("lists and tables", 0.5, "form", here=True), likes("humour", 0.6, "other", -1, here=True),
    ])  # fmt: skip
    assert layer.text == (
        "# HOW THE USER LIKES ANSWERS\n"
        "From their choices, edits, tags and reactions. Preferences and context, not rules: what they say now wins, "
        "then your character and your role in this conversation, then the task. What is under "
        '"In this conversation" wins over the rest.\n'
        "Prefer (high): short answers · sources and links\n"
        "Prefer (medium): step by step\n"
        "Avoid (high): questions back\n"
        "Avoid (medium): emoji · formal tone\n"
        "In this conversation: prefer lists and tables; avoid humour"
    )
    assert preference_layer(layer.shown, "critique").text == (
        "# CHECK AGAINST\n"
        "Avoid (high): questions back\n"
        "Avoid (medium): emoji · formal tone\n"
        "Prefer (high): short answers · sources and links\n"
        "Prefer (medium): step by step\n"
        "This conversation says: prefer lists and tables; avoid humour"
    )
    assert preference_layer(layer.shown, speaker="Ada").text.startswith("# HOW Ada LIKES ANSWERS\n")


def test_a_preference_that_is_seen_again_leaves_the_text_as_it_is() -> None:
    rows = [likes("short answers", 0.9, "length"), likes("typed code", 0.9, "code"), likes("no emoji", 0.5, "tone")]
    before = preference_layer(rows)
    seen = replace(rows[1], strength=0.95, last_seen=datetime(2026, 2, 1, tzinfo=UTC))
    after = preference_layer([rows[0], seen, rows[2]])
    assert after.text == before.text
    assert patterns(after.shown)[0] == "typed code", "the strongest is still the first to get room"


def test_the_reminder_adds_preferences_relevant_to_the_message() -> None:
    layer = preference_layer([
        likes("short answers", 0.9, "length"), likes("typed code", 0.9, "code"), likes("emoji", 0.5, "tone", -1),
    ])  # fmt: skip
    assert reminder(layer, "How do I bake bread?") == "How they like answers: prefer short answers."
    assert reminder(layer, "Show me code for it") == "How they like answers: prefer short answers; prefer typed code."
    assert reminder(preference_layer([]), "Show me code") == ""
    hints = preference_layer([likes("type hints", 0.9, "code"), likes("metric units", 0.9, "other")])
    assert reminder(hints, "Write code for the other one") == "How they like answers: prefer type hints."


ROWS = st.lists(
    st.tuples(
        st.sampled_from(TYPES), st.sampled_from([f"thing {a}{b}" for a in "abcdef" for b in "abcdef"]),
        st.sampled_from([-1, 1]),
        st.integers(0, 100), st.booleans(), st.sampled_from(["stable", "under_review", "archived"]),
    ),
    max_size=60,
    unique_by=lambda one: (one[0], one[1], one[4]),
)  # fmt: skip


@examples(300)
@given(rows=ROWS, tokens=st.integers(0, 400))
def test_the_limits_hold_for_any_preferences(rows: list[Any], tokens: int) -> None:
    given_rows = [
        likes(pattern, strength / 100, type, polarity, here=here, status=status)
        for type, pattern, polarity, strength, here, status in rows
    ]
    layer = preference_layer(given_rows, tokens=tokens)
    shown = layer.shown
    assert len(shown) <= MOST
    assert {row.id for row in shown} <= {row.id for row in given_rows if row.acts}
    assert len({(row.type, row.pattern) for row in shown}) == len(shown), "one preference for each pattern"
    assert not shown or 20 + sum(-(-len(row.pattern) // 4) + 5 for row in shown) <= tokens
    assert bool(layer.text) == bool(shown)
    assert preference_layer(given_rows[::-1], tokens=tokens).text == layer.text, "the order of rows changes nothing"
    if tokens == 400 and not any(note.type.startswith("category") for note in layer.notes):
        avoided = sum(row.polarity < 0 for row in shown)
        assert avoided <= max(LEAST_AVOIDED, len(shown) - avoided)
    if any(note.type.startswith("category") for note in layer.notes):
        assert max(Counter(row.type for row in shown).values()) <= MOST_OF_TYPE
    assert all(row.pattern in layer.text for row in shown)
