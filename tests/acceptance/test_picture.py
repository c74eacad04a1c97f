"""The README's picture shows what Relay says today (`make picture` makes a new one)."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from PIL import Image

from tests.acceptance.conftest import World
from tests.acceptance.conversation import Json, conversation

DOCS = Path(__file__).parents[2] / "docs"
TRANSCRIPT, PICTURE = DOCS / "conversation.json", DOCS / "conversation.png"


def dateless(transcript: list[Json]) -> list[Json]:
    """Replaces the dates of a transcript with one day."""
    text = re.sub(r"\b\d{4}-\d\d-\d\d\b", "2000-01-01", json.dumps(transcript))
    found: list[Json] = json.loads(text)
    return found


async def test_the_conversation_in_the_picture_is_what_relay_says_today(world: World) -> None:
    today = await conversation(world.tg, world.model, world.owner, world.dm)
    assert dateless(today) == dateless(json.loads(TRANSCRIPT.read_text("utf-8"))), "run `make picture`"


def test_the_picture_was_made_from_that_conversation() -> None:
    with Image.open(PICTURE) as image:
        assert image.info["transcript"] == hashlib.sha256(TRANSCRIPT.read_bytes()).hexdigest(), "run `make picture`"
        assert image.width <= 1760
    assert PICTURE.stat().st_size <= 200_000
