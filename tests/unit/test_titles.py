"""Titles and topics as models write them, in any language."""

from __future__ import annotations

import pytest

from relay.core.models import Step
from relay.memory.writing.titles import title_of, topics_of


@pytest.mark.parametrize(
    ("text", "title", "topics"),
    [
        ("Trip to Porto\nTopics: flights, hotels", "Trip to Porto", ("flights", "hotels")),
        ("Title: Trip to Porto\n**Topics:** flights", "Trip to Porto", ("flights",)),
        ("Titel: Reise nach Porto\nThemen: Flüge, Hotels", "Reise nach Porto", ("Flüge", "Hotels")),
        ("Voyage à Porto\nSujets : vols, hôtels", "Voyage à Porto", ("vols", "hôtels")),
        ("Название: Поездка в Порту\nТемы: рейсы, отели", "Поездка в Порту", ("рейсы", "отели")),
        ("رحلة إلى بورتو\nالمواضيع: رحلات، فنادق", "رحلة إلى بورتو", ("رحلات", "فنادق")),
        ("去波尔图旅行\n话题：航班、酒店", "去波尔图旅行", ("航班", "酒店")),
    ],
)
def test_the_two_lines_are_read_in_the_conversations_language(text: str, title: str, topics: tuple[str, ...]) -> None:
    step = Step([{"type": "text", "text": text}], "end_turn", {}, "small")
    assert title_of(step) == title
    assert topics_of(step) == topics
