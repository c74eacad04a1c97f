"""A file of any kind that was damaged: the process that opens it opens or refuses it, within its bounds."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.clients.opener import NOT_OPENED, TOO_LONG, Opener
from relay.errors import MediaRefused
from tests import papers, speech
from tests.pictures import HEIC, KINDS, SVG, TGS, WEBM, animation, picture, with_place
from tests.strategies import damaged, examples
from tests.unit.test_opening_documents import FILES

PICTURES = [picture(kind, 60, 40) for kind in KINDS] + [animation(kind, 3, 60, 40) for kind in ("GIF", "WEBP", "PNG")]
TEXTS = [b"a,b\n1,2\n", b"# Title\n\n- one\n", b"<html><p>x</p></html>", b"def f():\n    return 1\n", b'{"a": [1, 2]}']
DOCUMENTS = [*FILES, *TEXTS, *PICTURES, papers.ole("WordDocument")]
NAMES = ["a.pdf", "a.docx", "a.csv", "a.html", "a", "../../etc/passwd", "a.zip", "\ud800.txt", "x" * 5000]


def is_settled(work: str, content: bytes, **options: Any) -> bool:
    """Whether a file is opened, or refused with a sentence about it: neither crash nor hang."""
    try:
        asyncio.run(Opener(seconds=20).open(work, content, **options))
    except MediaRefused as refused:
        return str(refused).endswith((".", "!", "?")) and str(refused) not in (NOT_OPENED, TOO_LONG)
    return True


@examples(10)
@given(st.sampled_from([*PICTURES, with_place(), HEIC, SVG, TGS, WEBM]).flatmap(damaged))
def test_any_picture_is_opened_or_refused(content: bytes) -> None:
    assert is_settled("picture", content, max_pixels=50_000_000)


@examples(10)
@given(st.sampled_from(DOCUMENTS).flatmap(damaged), st.sampled_from(NAMES))
def test_any_document_is_opened_or_refused(content: bytes, name: str) -> None:
    assert is_settled("document", content, name=name, pages=10, shown=5_000_000)


@pytest.mark.skipif(importlib.util.find_spec("av") is None, reason="PyAV is not here")
@examples(6)
@given(st.data())
def test_any_sound_is_opened_or_refused(data: st.DataObject) -> None:
    container, codec = data.draw(st.sampled_from([("ogg", "libopus"), ("mp3", "libmp3lame"), ("mp4", "aac")]))
    assert is_settled("opus", data.draw(damaged(speech.encoded(speech.silent(0.3, 0.2), container, codec))))
