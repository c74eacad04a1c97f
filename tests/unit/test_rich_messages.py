"""Rich messages: their blocks are read as plain text with links."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from relay.surfaces.telegram.parsing.message_parser import is_full, text_of
from relay.surfaces.telegram.parsing.objects import Message, decode_update
from tests.strategies import examples, json_of

Json = dict[str, Any]
PHOTO = [{"file_id": "p", "file_unique_id": "p", "width": 1, "height": 1}]


def paragraph(*words: Any) -> Json:
    return {"type": "paragraph", "text": list(words)}


def sent(*blocks: Any, **more: Any) -> Message:
    body = {"message_id": 5, "date": 1, "chat": {"id": 7, "type": "private"}, "rich_message": {"blocks": list(blocks)}}
    message = decode_update({"update_id": 1, "message": body | more}).message
    assert message is not None
    return message


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        (
            [{"type": "heading", "size": 2, "text": {"type": "bold", "text": "Bread"}}, paragraph("Flour, ", ["salt"])],
            "Bread\nFlour, salt",
        ),
        (
            [
                {
                    "type": "list",
                    "items": [
                        {"label": "1.", "blocks": [paragraph("Knead"), paragraph("Wait")]},
                        {"label": "2.", "has_checkbox": True, "is_checked": True, "blocks": [paragraph("Bake")]},
                        {"has_checkbox": True, "blocks": []},
                        {"blocks": [paragraph("Eat")]},
                    ],
                }
            ],
            "1. Knead\nWait\n2. [x] Bake\n[ ] \n- Eat",
        ),
        (
            [{"type": "table", "cells": [[{"text": "Flour"}, {"text": ["500 ", "g"]}], [{}, {"text": "x"}]]}],
            "Flour | 500 g\n | x",
        ),
        (
            [
                {"type": "details", "summary": "More", "blocks": [{"type": "pre", "text": "a = 1\nb"}]},
                {"type": "blockquote", "blocks": [paragraph("So it goes")], "credit": "Kurt"},
                {"type": "pullquote", "text": "Loud", "credit": ["A", "B"]},
            ],
            "More\na = 1\nb\nSo it goes\nKurt\nLoud\nAB",
        ),
        (
            [
                {"type": "photo", "photo": PHOTO, "caption": {"text": "A loaf", "credit": "Ada"}},
                {"type": "divider"},
                {"type": "mathematical_expression", "expression": "E = mc^2"},
                paragraph({"type": "custom_emoji", "custom_emoji_id": "1", "alternative_text": "🔥"}, " hot"),
            ],
            "(photo)\nA loaf – Ada\nE = mc^2\n🔥 hot",
        ),
        ([{"type": "a block of the future", "text": "is read"}, 3, None, {"type": ["odd"]}], "is read"),
    ],
)
def test_the_blocks_of_a_rich_message_are_lines_of_text(blocks: list[Any], text: str) -> None:
    assert text_of(sent(*blocks)) == text


def test_the_links_of_a_rich_message_have_their_addresses() -> None:
    link = {"type": "url", "text": {"type": "italic", "text": "here"}, "url": "https://example.org/hidden"}
    message = sent(paragraph("🔥 Look ", link, " now"), paragraph("or ", link))
    assert message.text == "🔥 Look here now\nor here"
    shown = "here (https://example.org/hidden)"
    assert text_of(message) == f"🔥 Look {shown} now\nor {shown}"
    ends = sent(paragraph(link | {"text": "here\n"}, "so"), paragraph(link | {"text": "here\n"}))
    assert text_of(ends) == f"{shown}\nso\n{shown}"


def test_a_long_rich_message_is_whole_so_the_next_message_does_not_continue_it() -> None:
    assert is_full(sent(text="x" * 4_050))
    assert not is_full(sent(paragraph("x" * 4_200)))


def test_a_text_is_read_rather_than_blocks_and_a_replied_message_is_read_too() -> None:
    assert sent(paragraph("rich"), text="plain").text == "plain"
    target = {"message_id": 4, "chat": {"id": 7}, "rich_message": {"blocks": [paragraph("asked about")]}}
    replied = sent(paragraph("what?"), reply_to_message=target).reply_to_message
    assert replied
    assert replied.text == "asked about"


def test_blocks_nested_deeper_than_telegram_allows_are_cut() -> None:
    block: Json = paragraph("deep")
    for _ in range(2_000):
        block = {"type": "details", "summary": "s", "blocks": [block], "text": [[[["t"]]]]}
    assert "deep" not in sent(block).text


@given(json_of("blocks", "type", "text", "items", "cells", "caption", "credit", "label", "url", "photo"))
@examples(100)
def test_any_rich_message_is_read(rich: Any) -> None:
    assert isinstance(sent(text="", rich_message=rich).text, str)
