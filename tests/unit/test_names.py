"""People choose their names freely: no character in a name reverses or hides the text around it."""

from __future__ import annotations

import pytest

from relay.core.text import escape_markdown, shorten
from relay.memory.rows.people import Person
from relay.surfaces.chat.people.people import make_listed_row, name_person
from relay.surfaces.telegram.formatting.format import format_reply
from relay.surfaces.telegram.parsing.message_parser import name_of
from tests.telegram_objects import as_user

RLO, ZWSP, RLI = "\u202e", "\u200b", "\u2067"


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ({"first_name": f"Ada{RLO} nimda", "last_name": "X"}, "Ada nimda X"),
        ({"first_name": f"A{ZWSP}d{ZWSP}a"}, "Ada"),
        ({"first_name": ZWSP + RLO, "username": "eve"}, "eve"),
        ({"first_name": "\u3164", "last_name": "\u2066"}, "somebody"),
        ({"first_name": "Zoë", "last_name": "مریم"}, "Zoë مریم"),
    ],
)
def test_a_name_keeps_only_its_visible_characters(user: dict[str, str], name: str) -> None:
    assert name_of(as_user(user)) == name


def test_a_name_cannot_reverse_the_text_of_the_approve_button() -> None:
    stored = Person(7, f"Eve{RLO}evorppa", "asking")
    assert name_person(stored) == "Eveevorppa (id 7)"
    assert make_listed_row(stored, 0)[0].text == "Approve Eveevorppa"


def test_no_text_reverses_the_text_after_it() -> None:
    assert escape_markdown(f"likes {RLI}tea{RLO}") == "likes tea"
    assert shorten(f"likes {RLI}tea{RLO}") == "likes tea"


@pytest.mark.parametrize("name", ["- x", "+ x", "1. one", "2. Mai", "-", "1.", "---", "===", "3.5 km", "-5", "1) x"])
def test_a_name_that_begins_like_a_list_is_shown_as_it_is(name: str) -> None:
    for before, shown in (("", ""), ("- ", "• "), ("Somebody\n", "Somebody\n")):
        (part,) = format_reply(before + escape_markdown(name))
        assert part.text == shown + name
