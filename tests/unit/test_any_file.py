"""A damaged file of any kind is opened or refused by its process, within the limits."""

from __future__ import annotations

import importlib.util
import signal
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import papers, speech
from tests.pictures import HEIC, KINDS, SVG, TGS, WEBM, animation, picture, with_place
from tests.strategies import damaged, examples
from tests.unit.test_extracted_documents import FILES
from tests.warm import Warm

PICTURES = [picture(kind, 60, 40) for kind in KINDS] + [animation(kind, 3, 60, 40) for kind in ("GIF", "WEBP", "PNG")]
TEXTS = [b"a,b\n1,2\n", b"# Title\n\n- one\n", b"<html><p>x</p></html>", b"def f():\n    return 1\n", b'{"a": [1, 2]}']
OLD = [papers.ole(stream) for stream in ("WordDocument", "Workbook", "Book", "PowerPoint Document")]
SHEET = papers.packed(
    {
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "content.xml": '<x xmlns:t="urn:oasis:names:tc:opendocument:xmlns:table:1.0"><t:table t:name="a"><t:table-row>'
        "<t:table-cell><p>1</p></t:table-cell></t:table-row></t:table></x>",
    }
)
DOCUMENTS = [*FILES, *TEXTS, *PICTURES, *OLD, SHEET]
NAMES = ["a.pdf", "a.docx", "a.csv", "a.html", "a", "../../etc/passwd", "a.zip", "\ud800.txt", "x" * 5000]
RECORDINGS = [
    ("ogg", "libopus"), ("mp3", "libmp3lame"), ("mp4", "aac"), ("wav", "pcm_s16le"), ("flac", "flac"),
    ("webm", "libopus"), ("matroska", "aac"), ("mpegts", "aac"), ("adts", "aac"), ("avi", "libmp3lame"),
]  # fmt: skip
VIDEOS = [("mp4", "aac"), ("mov", "aac"), ("mp4", "")]
with_av = pytest.mark.skipif(importlib.util.find_spec("av") is None, reason="PyAV is not here")

IsSettled = Callable[..., bool]


@pytest.fixture(scope="module")
def is_settled() -> Iterator[IsSettled]:
    """A function that tells whether a file is opened or refused with a sentence, without a crash or hang."""
    warm = Warm()

    def tried(work: str, content: bytes, **options: Any) -> bool:
        answer = warm.open(work, content, **options)
        return "told" in answer or str(answer.get("refused")).endswith((".", "!", "?"))

    yield tried
    warm.close()


@cache
def recorded() -> list[bytes]:
    """A short noise as a recording in every format, with and without a picture."""
    sound = speech.silent(0.3, 0.2)
    made = [speech.encoded(sound, container, codec) for container, codec in RECORDINGS]
    return made + [speech.encoded(sound, container, codec, video=True) for container, codec in VIDEOS]


recordings = st.deferred(lambda: st.sampled_from(recorded()).flatmap(damaged)).filter(bool)


@examples(60)
@given(st.sampled_from([*PICTURES, with_place(), HEIC, SVG, TGS, WEBM]).flatmap(damaged))
def test_any_picture_is_opened_or_refused(is_settled: IsSettled, content: bytes) -> None:
    assert is_settled("picture", content, max_pixels=50_000_000)


@examples(60)
@given(st.sampled_from(DOCUMENTS).flatmap(damaged), st.sampled_from(NAMES))
def test_any_document_is_opened_or_refused(is_settled: IsSettled, content: bytes, name: str) -> None:
    assert is_settled("document", content, name=name, pages=10, shown=5_000_000)


@with_av
@examples(40)
@given(recordings)
def test_any_sound_becomes_a_voice_note_or_is_refused(is_settled: IsSettled, content: bytes) -> None:
    assert is_settled("opus", content)


@with_av
@examples(40)
@given(recordings)
def test_any_recording_is_decoded_or_refused(is_settled: IsSettled, content: bytes) -> None:
    assert is_settled("recording", content)


def test_an_intact_file_is_opened_and_a_crash_is_noticed() -> None:
    warm = Warm()
    told = warm.open("picture", PICTURES[0], max_pixels=50_000_000)["told"]
    assert told == {"width": 60, "height": 40, "mime": "image/jpeg", "frames": 1}
    assert warm.open("recording", b"") == {"ended": -signal.SIGABRT}
    assert "told" in warm.open("picture", PICTURES[1], max_pixels=50_000_000)
    warm.close()
