"""What a document becomes in an input: a block, text, and stored parts; and which reader handles it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from relay.core.errors import MediaRefused
from relay.core.models import Attachment
from relay.media.attachment_reader import fit_documents
from relay.media.documents import SHOWN_TOKENS, Documents, make_read
from relay.media.files import LATER
from relay.media.prepared import new_cache
from relay.media.reading import FileContents


class FakeFileExtractor:
    """A file extractor that returns the same for every file."""

    def __init__(self, kind: str = "text") -> None:
        self.kind = kind

    async def open(self, work: str, content: bytes, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
        return told("words", kind=self.kind), []


class NamedReader:
    """A reader of another kind, which returns its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def read(self, attachment: Attachment) -> FileContents:
        return FileContents([], self.name)


class FakeFiles:
    @asynccontextmanager
    async def open(self, attachment: Attachment) -> AsyncIterator[bytes]:
        yield b"content"


def told(*parts: str, kind: str = "text", whole: bool = False, note: str = "") -> dict[str, Any]:
    return {"kind": kind, "parts": list(parts), "pages": 3 if whole else 0, "whole": whole, "note": note}


def sent(name: str, mime: str = "") -> Attachment:
    return Attachment("document", "id", "unique", name=name, mime=mime)


@pytest.mark.parametrize(
    ("name", "mime", "kind", "who"),
    [
        ("a.jpg", "image/jpeg", "text", "pictures"),
        ("a.heic", "application/octet-stream", "text", "pictures"),
        ("a", "audio/ogg", "text", "sounds"),
        ("a.mp4", "", "text", "sounds"),
        ("drawing.svg", "image/svg+xml", "text", "📄 drawing.svg"),
        ("code.ts", "video/mp2t", "text", "📄 code.ts"),
        ("a.pdf", "application/pdf", "picture", "pictures"),
        ("a.pdf", "application/pdf", "recording", "sounds"),
        ("a.pdf", "application/pdf", "PDF", "📄 a.pdf"),
    ],
)
def test_the_type_of_a_file_decides_which_reader_opens_it(name: str, mime: str, kind: str, who: str) -> None:
    files: Any = FakeFiles()
    documents = Documents(
        files, FakeFileExtractor(kind), NamedReader("sounds"), NamedReader("pictures"), 100, new_cache()
    )
    assert asyncio.run(documents.read(sent(name, mime))).text == who


class RefusingReader(NamedReader):
    """A reader of another kind, which can't use any file."""

    def __init__(self, name: str, why: str = "") -> None:
        super().__init__(name)
        self.why = why or f"no {name}"
        self.asked = 0

    async def read(self, attachment: Attachment) -> FileContents:
        self.asked += 1
        raise MediaRefused(self.why)


@pytest.mark.parametrize(
    ("mime", "kind", "who"),
    [
        ("image/png", "PDF", "📄 a"),
        ("audio/x-mpegurl", "text", "📄 a"),
        ("video/mp4", "PDF", "📄 a"),
        ("image/png", "recording", "no pictures"),
        ("image/png", "picture", "no pictures"),
        ("audio/mpeg", "recording", "no sounds"),
    ],
)
def test_the_content_of_a_file_decides_if_its_type_is_wrong(mime: str, kind: str, who: str) -> None:
    files: Any = FakeFiles()
    sounds, pictures = RefusingReader("sounds"), RefusingReader("pictures")
    documents = Documents(files, FakeFileExtractor(kind), sounds, pictures, 100, new_cache())
    if who.startswith("📄"):
        assert asyncio.run(documents.read(sent("a", mime))).text == who
    else:
        with pytest.raises(MediaRefused, match=who):
            asyncio.run(documents.read(sent("a", mime)))
    assert sounds.asked <= 1
    assert pictures.asked <= 1


def test_a_file_that_telegram_does_not_give_is_not_fetched_again() -> None:
    files: Any = None
    documents = Documents(
        files, FakeFileExtractor(), NamedReader("sounds"), RefusingReader("pictures", LATER), 100, new_cache()
    )
    with pytest.raises(MediaRefused, match="right now"):
        asyncio.run(documents.read(sent("a.png", "image/png")))


def test_a_document_that_can_be_shown_becomes_a_block_without_text() -> None:
    read = make_read(sent("deed.pdf", "application/pdf"), told("words", kind="PDF", whole=True))
    (block,) = read.blocks
    assert block["type"] == "document"
    assert (block["pages"], block["parts"], block["untrusted"]) == (3, 1, "document")
    assert "words" not in str(block)
    assert read.documents[0] == {
        "unique_id": "unique", "name": "deed.pdf", "mime": "application/pdf", "kind": "PDF", "pages": 3,
        "parts": ["words"],
    }  # fmt: skip
    assert (read.text, read.notice) == ("📄 deed.pdf", "")


def test_a_long_document_shows_its_beginning_and_how_to_read_on() -> None:
    part = "word " * 1200
    read = make_read(sent("long.txt"), told(*[part] * 20, note="It is long."))
    (block,) = read.blocks
    shown = block["text"].count("word ") // 1200
    assert block["text"].startswith(f"long.txt (text), parts 1–{shown} of 20; read_document reads the others:\n\n")
    assert SHOWN_TOKENS * 0.8 < len(block["text"]) / 4 <= SHOWN_TOKENS * 1.05
    assert block["untrusted"] == "document"
    assert len(read.documents[0]["parts"]) == 20
    assert read.notice == "📄 long.txt: It is long."
    (short,) = make_read(sent("a.txt"), told("all")).blocks
    assert short["text"] == "a.txt (text):\n\nall"


def test_off_the_record_the_rest_of_a_long_document_is_not_promised() -> None:
    unkept = replace(sent("long.txt"), kept=False)
    read = make_read(unkept, told(*["word " * 1200] * 20))
    (block,) = read.blocks
    assert re.match(r"long.txt \(text\), parts 1–\d of 20; the others are not kept:\n", block["text"])
    assert block["parts"] == 0
    assert read.documents == []
    assert re.fullmatch(r"📄 long.txt: Off the record I read only the first \d of its 20 parts.", read.notice)
    assert make_read(unkept, told("all")).notice == ""


def test_the_stored_parts_of_one_input_are_limited_with_a_notice() -> None:
    both = [{"name": "a", "parts": ["12345", "12345"]}, {"name": "b", "parts": ["12345", "12345"]}]
    assert fit_documents(both, 20) == (both, [])
    kept, notices = fit_documents(both, 15)
    assert [len(one["parts"]) for one in kept] == [2, 1]
    assert notices == ["📄 b: I keep 1 of its 2 parts; send it alone to keep all of it."]
