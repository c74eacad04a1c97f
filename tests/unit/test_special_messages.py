"""Special messages (places, contacts, polls and the like): what the model and the record read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.surfaces.telegram.parsing.message_parser import blocks_of, refusals_of, says_something, words_of
from relay.surfaces.telegram.parsing.objects import Message
from relay.surfaces.telegram.parsing.special_messages import OTHERS, thing_of
from tests.telegram_objects import as_message

ADA = 1001
Json = dict[str, Any]
BERLIN = {"latitude": 52.520008, "longitude": 13.404954}


KINDS = ("venue", "location", "contact", "poll", "dice", "checklist", *OTHERS)


def message(**what: Any) -> Message:
    return as_message({"message_id": 5, "from": {"id": ADA}, "chat": {"id": ADA, "type": "private"}, **what})


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ({"location": BERLIN}, "(sent a place: 52.5200° N, 13.4050° E)"),
        (
            {"location": {"latitude": -33.85678, "longitude": -70.1, "horizontal_accuracy": 65.4}},
            "(sent a place: 33.857° S, 70.100° W, to about 65 metres)",
        ),
        (
            {"location": BERLIN | {"live_period": 900, "heading": 90}},
            "(sent a place: 52.5200° N, 13.4050° E; live for 15 minutes, but only this first place is known)",
        ),
        (
            {"location": BERLIN | {"live_period": 0x7FFFFFFF}},
            "(sent a place: 52.5200° N, 13.4050° E; live until they stop, but only this first place is known)",
        ),
        (
            {"venue": {"title": "Café\nX", "address": "Am Kanal 1", "location": BERLIN}, "location": BERLIN},
            "(sent a place: Café X, Am Kanal 1; 52.5200° N, 13.4050° E)",
        ),
        (
            {"contact": {"first_name": "Ben", "last_name": "Ten", "phone_number": "+49301234", "user_id": 7}},
            "(sent a contact: Ben Ten, phone +49301234)",
        ),
        (
            {
                "poll": {
                    "question": "Capital?",
                    "type": "quiz",
                    "options": [{"text": "Rome", "voter_count": 0}, {"text": "Paris", "voter_count": 2}],
                    "correct_option_ids": [1],
                    "explanation": "Look",
                    "is_closed": True,
                }
            },
            "(sent a quiz: Capital?; options: Rome; Paris (2); right is: Paris (2); explanation: Look; it is closed)",
        ),
        (
            {"poll": {"question": "Tea?", "options": [{"text": "yes"}], "allows_multiple_answers": True}},
            "(sent a poll: Tea?; options: yes; several may be chosen)",
        ),
        ({"dice": {"emoji": "🎲", "value": 5}}, "(threw 🎲: 5)"),
        ({"dice": {"value": 6}}, "(threw 🎲: 6)"),
        (
            {"checklist": {"title": "Trip", "tasks": [{"text": "Pack", "completion_date": 9}, {"text": "Go"}]}},
            "(sent a checklist: Trip: [x] Pack; [ ] Go)",
        ),
        ({"game": {"title": "Snake", "description": "Eat"}}, "(sent a game)"),
        ({"invoice": {"title": "Tea", "currency": "EUR", "total_amount": 1250}}, "(sent an invoice)"),
        ({"gift": {"gift": {"star_count": 15}, "text": "Thanks"}}, "(a gift was given)"),
        ({"unique_gift": {"gift": {"base_name": "Swan"}}}, "(a gift was given)"),
        ({"giveaway": {"winner_count": 5}}, "(a giveaway was announced)"),
        ({"giveaway_winners": {"winner_count": 5}}, "(a giveaway has ended)"),
    ],
)
def test_a_special_message_is_described_in_a_sentence(what: Json, words: str) -> None:
    assert words_of(message(**what)) == words
    (block,) = blocks_of(message(**what), ADA)
    assert block["text"] == words
    assert says_something(message(**what))
    assert not refusals_of(message(**what))


def test_special_messages_with_text_are_untrusted_unlike_numbers() -> None:
    for kind in KINDS:
        (block,) = blocks_of(message(**{kind: {"emoji": "🎲"}}), ADA)
        assert block.get("untrusted") == (None if kind in ("location", "dice") else kind)
    forwarded = message(dice={"value": 3}, forward_origin={"type": "hidden_user", "sender_user_name": "Eve"})
    assert blocks_of(forwarded, ADA)[0]["untrusted"] == "forward"


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ({"story": {"chat": {"id": 9, "first_name": "Ben"}, "id": 3}}, "stories"),
        ({"paid_media": {"star_count": 5, "paid_media": [{"type": "preview"}]}}, "paid media"),
        ({"photo": [{}]}, "can't tell what this is"),
        ({"sticker": {"emoji": "x"}}, "can't tell what this is"),
    ],
)
def test_an_unusable_message_is_refused_in_one_line(what: Json, line: str) -> None:
    (told,) = refusals_of(message(**what))
    assert line in told
    assert says_something(message(**what))
    assert all(block["unread"] for block in blocks_of(message(**what), ADA))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["title", "text", "emoji", "value", "options", "tasks", "users", "location", "latitude", "longitude",
             "question", "correct_option_ids", "gift", "chat", "live_period", "winners_selection_date", "star_count"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.sampled_from(KINDS), ANYTHING)
def test_any_special_message_is_described_on_one_line(kind: str, value: Any) -> None:
    thing = thing_of(message(**{kind: value}))
    assert thing is None or (len(thing.words.splitlines()) == 1 and thing.words.startswith("("))


@given(st.text(min_size=400), st.integers(31, 60))
def test_long_special_messages_are_cut(text: str, count: int) -> None:
    many = [{"text": text}] * count
    told = words_of(message(poll={"question": text, "options": many}))
    assert len(told) < 31 * 310 + 400
    assert f"and {count - 30} more" in told


def test_a_name_cannot_reverse_the_line() -> None:
    told = words_of(message(contact={"first_name": "Ben\u202e\u2066nimda\x00", "phone_number": "1\n2"}))
    assert told == "(sent a contact: Ben nimda, phone 1 2)"
