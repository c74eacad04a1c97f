"""What becomes of a document in an input: a block, words, parts that are kept; and whose matter it is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from relay.core.models import Attachment
from relay.media.attachment_reader import fit_documents
from relay.media.documents import SHOWN_TOKENS, Documents, to_read
from relay.media.prepared import new_cache
from relay.media.reading import Read


class Opened:
    """An opener that says the same of every file."""

    def __init__(self, kind: str = "text") -> None:
        self.kind = kind

    async def open(self, work: str, content: bytes, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
        return told("words", kind=self.kind), []


class Named:
    """A reader of another kind."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def read(self, attachment: Attachment) -> Read:
        return Read([], self.name)


class Bytes:
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
def test_who_reads_a_file(name: str, mime: str, kind: str, who: str) -> None:
    files: Any = Bytes()
    documents = Documents(files, Opened(kind), Named("sounds"), Named("pictures"), 100, new_cache())
    assert asyncio.run(documents.read(sent(name, mime))).text == who


def test_a_document_that_can_be_shown_is_a_block_without_its_text() -> None:
    read = to_read(sent("deed.pdf", "application/pdf"), told("words", kind="PDF", whole=True))
    (block,) = read.blocks
    assert block["type"] == "document"
    assert (block["pages"], block["parts"], block["untrusted"]) == (3, 1, "document")
    assert "words" not in str(block)
    assert read.documents[0] == {
        "unique_id": "unique", "name": "deed.pdf", "mime": "application/pdf", "kind": "PDF", "pages": 3,
        "parts": ["words"],
    }  # fmt: skip
    assert (read.text, read.notice) == ("📄 deed.pdf", "")


def test_of_a_long_text_the_message_holds_the_beginning_and_says_how_to_read_on() -> None:
    part = "word " * 1200
    read = to_read(sent("long.txt"), told(*[part] * 20, note="It is long."))
    (block,) = read.blocks
    shown = block["text"].count("word ") // 1200
    assert block["text"].startswith(f"long.txt (text), parts 1–{shown} of 20; read_document reads the others:\n\n")
    assert SHOWN_TOKENS * 0.8 < len(block["text"]) / 4 <= SHOWN_TOKENS * 1.05
    assert block["untrusted"] == "document"
    assert len(read.documents[0]["parts"]) == 20
    assert read.notice == "📄 long.txt: It is long."
    (short,) = to_read(sent("a.txt"), told("all")).blocks
    assert short["text"] == "a.txt (text):\n\nall"


def test_what_one_input_keeps_is_bounded_and_told() -> None:
    both = [{"name": "a", "parts": ["12345", "12345"]}, {"name": "b", "parts": ["12345", "12345"]}]
    assert fit_documents(both, 20) == (both, [])
    kept, notices = fit_documents(both, 15)
    assert [len(one["parts"]) for one in kept] == [2, 1]
    assert notices == ["📄 b: I keep 1 of its 2 parts; send it alone to keep it whole."]
