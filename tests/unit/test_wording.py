"""The question for a new wording shows the present one, and one tap copies exactly that."""

from __future__ import annotations

import pytest

from relay.commands.memory.change import clean_wording
from relay.surfaces.chat.memory.forgetting import as_code
from relay.surfaces.telegram.formatting.format import format_reply


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("likes *tea* at $5$ [a](b) & <hot>", "code"),
        ("runs `ls` first", "code"),
        ("`ls`", "code"),
        ("a ``b`` and ` c", "code"),
        ("First this.\n\n- then that\n  indented", "pre"),
        ("Run:\n```\nls\n````\nand wait", "pre"),
    ],
)
def test_the_wording_is_shown_literally_and_copied_by_a_tap(content: str, kind: str) -> None:
    (message,) = format_reply(f"✎ #4 – reply with the new wording of:\n{as_code(content)}")
    (entity,) = message.entities
    assert entity["type"] == kind
    assert message.text.startswith("✎ #4 – ")
    marked = message.text.encode("utf-16-le")[2 * entity["offset"] : 2 * (entity["offset"] + entity["length"])]
    assert marked.decode("utf-16-le").strip("\n") == content


def test_a_learning_keeps_its_lines_and_a_fact_becomes_one_line() -> None:
    assert clean_wording(" one \n\n  - two\n", "learning") == "one\n\n  - two"
    assert clean_wording(" one \n\n  - two\n", "fact") == "one - two"
