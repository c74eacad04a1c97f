"""The list of preferences as chats show it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from relay.commands.preferences.feedback import Feedback
from relay.memory.preferences.patterns import Pattern
from relay.memory.rows.turns.preferences import Evidence, ForgottenPreference, Preference, Preferences, PreferenceSource
from relay.surfaces.chat.preferences.pages import card, describe_acting, describe_feedback, list_page
from relay.surfaces.telegram.formatting.markdown import convert

ROW = Preference(
    id=1, type="length", pattern="short answers", polarity=1, strength=0.8, level="high", status="archived",
    here=False, last_seen=datetime(2026, 1, 1, tzinfo=UTC), observations=2,
)  # fmt: skip


def test_a_preference_that_was_retired_says_why() -> None:
    faded, reversed_ = replace(ROW, faded=True), replace(ROW, id=2, pattern="emoji")
    text = list_page(Preferences(on=True, here="use", known=0, rows=(faded, reversed_)), 0, UTC).text
    assert "**Retired**\n**1** · prefer short answers · not seen for 180 days\n**2** · prefer emoji · 2 signs" in text
    for row, why in ((faded, "I haven't seen it for 180 days"), (reversed_, "you've shown me the opposite")):
        assert f"Retired: {why}" in card(PreferenceSource(row, (), 0), 0, UTC).text


def test_a_forgotten_preference_is_named_as_it_was_shown() -> None:
    assert ForgottenPreference(1, "tone", "less slang", -1).pattern == "more slang"
    assert ForgottenPreference(1, "tone", "less slang", 1).pattern == "less slang"


def test_each_preference_keeps_its_number_under_the_headings() -> None:
    rows = [
        replace(ROW, id=number, pattern=f"thing {'x' * number}", polarity=polarity, status="stable", reinforced=2)
        for number, polarity in enumerate((-1, 1, -1), 1)
    ]
    page = list_page(Preferences(on=True, here="use", known=3, rows=tuple(rows)), 0, UTC)
    text, buttons = page.text, page.rows
    shown = convert(text)[0]
    for number, button in enumerate(buttons[0], 1):
        assert button.text == str(number)
        assert f"{number} · thing {'x' * number} ·" in shown


def test_a_preference_known_only_from_reactions_does_not_count_signs() -> None:
    row = replace(ROW, status="stable", level="medium", strength=0.5, observations=0)
    text = list_page(Preferences(on=True, here="use", known=1, rows=(row,)), 0, UTC).text
    assert "short answers · medium, from your reactions and choices" in text


def test_memory_that_is_off_is_named_as_the_reason() -> None:
    page = list_page(Preferences(on=False, here="use", known=0, rows=(), memory_off=True), 0, UTC)
    text, buttons = page.text, page.rows
    assert "/memory on" in text
    assert "/preferences on" not in text
    assert buttons == []


def test_a_note_says_that_a_preference_counts_in_this_chat_only() -> None:
    row = replace(ROW, status="stable", new=True)
    assert describe_acting([row]) == "🎚 From now on: short answers (from 2 signs)"
    assert (
        describe_acting([replace(row, here=True)]) == "🎚 From now on: short answers (from 2 signs, only in this chat)"
    )
    assert describe_acting([replace(row, here=True, observations=1)]).endswith("short answers (only in this chat)")


def test_a_note_says_which_of_several_tags_are_followed_already() -> None:
    tags = (Pattern("length", "short answers", 1), Pattern("tone", "humour", -1))
    told = describe_feedback(Feedback(tags, (replace(ROW, status="stable"),)))
    assert told.startswith("🏷 Noted: prefer short answers, avoid humour. I follow “prefer short answers” already")


def test_who_avoids_less_of_something_is_shown_to_prefer_more_of_it() -> None:
    for stored, shown in (
        ("less irony", "more irony"),
        ("Weniger Ironie", "mehr Ironie"),
        ("moins d'ironie", "plus d'ironie"),
    ):
        row = replace(ROW, pattern=stored, polarity=-1)
        assert (row.pattern, row.polarity, row.name) == (shown, 1, stored)
        assert row.agrees(-1)
        assert not row.agrees(1)
        assert Pattern("tone", stored, -1).words == f"prefer {shown}"
    acts = tuple(Evidence(ROW.last_seen, "tag", polarity, "command") for polarity in (-1, 1))
    assert [one.polarity for one in PreferenceSource(row, acts, 2).evidence] == [1, -1]
    assert replace(ROW, pattern="less irony").pattern == "less irony"
    assert replace(ROW, pattern="lessons", polarity=-1).pattern == "lessons"
