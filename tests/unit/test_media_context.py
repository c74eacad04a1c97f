"""Which pictures and documents a prompt shows: the newest within limits, the same from turn to turn."""

from __future__ import annotations

import asyncio
import base64
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

import pytest

from relay.clients.anthropic.body import encode_body
from relay.core.errors import MediaRefused
from relay.core.models import Attachment
from relay.media.documents import Documents
from relay.media.files import HELD, Files
from relay.media.media_context import IMAGE_TOKENS, IMAGES, PAGES, MediaContext, choose_files
from relay.media.media_cost import DOCUMENT_BYTES, first_kept, tokens_of
from relay.media.pictures import Pictures, describe_picture, moves
from relay.media.prepared import PDF, PIECE, PreparedFile, encode_base64, new_cache
from relay.media.showing import describe_file
from tests.standins.fakes import FakeMessenger

Row = dict[str, Any]


def image(name: str, width: int = 800, height: int = 600, **more: Any) -> Row:
    file = asdict(Attachment("photo", f"file {name}", name))
    told = {"width": width, "height": height, "bytes": 100_000}
    return {"type": "image", "untrusted": "image", "file": file} | told | more


def document(name: str, pages: int = 1, size: int = 1000) -> Row:
    file = asdict(Attachment("document", f"file {name}", name, f"{name}.pdf", "application/pdf", size))
    return {"type": "document", "untrusted": "document", "file": file, "pages": pages}


def said(*blocks: Row) -> list[Row]:
    return list(blocks)


ANSWER: list[Row] = []


class Telegram:
    """Files by id; refuses missing ones."""

    def __init__(self, **files: bytes) -> None:
        self.files = files
        self.asked: list[str] = []

    @asynccontextmanager
    async def open(self, attachment: Attachment) -> AsyncIterator[bytes]:
        self.asked.append(attachment.unique_id)
        if attachment.unique_id not in self.files:
            raise MediaRefused("Telegram no longer gives it to me.")
        yield self.files[attachment.unique_id]


class FakeFileExtractor:
    """Describes every file as a small picture."""

    async def open(self, work: str, content: bytes, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
        return {"width": 10, "height": 10, "mime": "image/png", "frames": 1}, [content]


def media_context(telegram: Telegram) -> MediaContext:
    files: Any = telegram
    cache = new_cache()
    return MediaContext(Pictures(files, FakeFileExtractor(), 1000, cache), files, cache)


async def brought(one: MediaContext, present: list[Row], recent: list[list[Row]]) -> dict[str, Row]:
    async with one.shown(present, recent) as shown:
        return shown


async def test_files_of_earlier_messages_are_shown_and_downloaded_once() -> None:
    telegram = Telegram(a=b"A", b=b"B", d=b"%PDF-1")
    one = media_context(telegram)
    recent = [said(image("a")), ANSWER, said(document("d"), {"type": "text", "text": "this"})]
    shown = await brought(one, [image("b")], recent)
    assert shown["a"] == {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(b"A").decode()},
    }
    assert shown["d"]["type"] == "document"
    assert shown["d"]["source"]["media_type"] == "application/pdf"
    assert set(shown) == {"a", "b", "d"}
    assert await brought(one, [], recent) == {key: shown[key] for key in ("a", "d")}
    assert sorted(telegram.asked) == ["a", "b", "d"]


async def test_files_that_telegram_no_longer_gives_are_left_out() -> None:
    shown = await brought(media_context(Telegram(b=b"B")), [image("b")], [said(image("gone"), document("gone too"))])
    assert set(shown) == {"b"}


async def test_an_edited_message_keeps_its_picture() -> None:
    edited = {"type": "attachment", "file": image("a")["file"]}
    assert set(await brought(media_context(Telegram(a=b"A")), [], [said(edited)])) == {"a"}


def test_a_document_that_came_with_an_edit_is_described_as_unread() -> None:
    edited = {"type": "attachment", "file": document("a")["file"]}
    assert describe_file(edited).endswith("which came with an edit and was not read; it has to be sent again)")
    assert describe_file({"type": "attachment", "file": image("a")["file"]}).endswith("not shown here)")


def test_only_the_newest_pictures_are_shown() -> None:
    recent = [said(image(f"p{number}", 100, 100)) for number in range(50)]
    shown = choose_files([image("now", 100, 100)], recent)
    assert 0.75 * IMAGES <= len(shown) <= IMAGES
    assert list(shown)[-2:] == ["p49", "now"]
    assert (
        sum(map(tokens_of, choose_files([], [said(image(str(n), 1200, 1000)) for n in range(40)]).values()))
        <= IMAGE_TOKENS
    )


def test_the_first_shown_pictures_rarely_change_between_turns() -> None:
    """Caching a prefix only pays if it is the same most of the time."""
    changes, before = 0, list[str]()
    for turn in range(200):
        shown = list(
            choose_files([image(f"p{turn}", 1000, 900)], [said(image(f"p{n}", 1000, 900)) for n in range(turn)])
        )
        assert shown[-1] == f"p{turn}"
        changes += shown[: len(before)] != before
        before = shown
    assert changes <= 200 / (IMAGES / 4) + 1


def test_files_of_a_message_are_still_shown_in_the_next_turn() -> None:
    album = [image(f"p{n}", 1000, 1000) for n in range(10)]
    assert list(choose_files(album, [])) == list(choose_files([], [said(*album), ANSWER]))


def test_a_repeated_picture_counts_once_as_the_newest() -> None:
    recent = [said(image("sticker", 100, 100)) for _ in range(150)]
    assert list(choose_files([image("other", 100, 100), image("sticker", 100, 100)], recent)) == ["other", "sticker"]


def test_documents_are_limited_by_pages_and_bytes() -> None:
    long = document("long", PAGES + 80)
    assert list(choose_files([long], [])) == ["long"], "a document that was just sent is shown whole"
    assert not choose_files([], [said(long)]), "later the model reads its text with a tool"
    assert list(choose_files([], [said(document("a", PAGES)), said(document("b", 1))])) == ["b"]
    assert not choose_files([document("large", 1, DOCUMENT_BYTES + 1)], [])
    half = DOCUMENT_BYTES * 2 // 3
    assert list(choose_files([document("new", 90, half)], [said(document("old", 1, half))])) == ["new"]


def test_the_oldest_files_are_dropped_in_steps() -> None:
    assert first_kept([1] * 20, 20) == 0
    assert [first_kept([1] * count, 20) for count in (21, 22, 25, 26)] == [5, 5, 5, 10]
    assert first_kept([50], 20) == 1


def test_the_cache_is_limited() -> None:
    cache = new_cache(100)
    for name in "abc":
        cache.put(name, PreparedFile("x" * 40, "image/png"))
    assert cache.get("a") is None
    assert cache.get("b")
    cache.put("d", PreparedFile("x" * 40, "image/png"))
    assert cache.get("c") is None, "the least recently used file is removed"
    cache.put("b", PreparedFile("x" * 51, "image/png"))
    assert cache.get("b") is None, "a file that fills most of the cache is not kept"
    assert cache.get("d")


async def test_prepared_files_are_encoded_in_base64() -> None:
    for size in (0, 1, 2, 3, PIECE - 1, PIECE, 2 * PIECE + 1):
        content = os.urandom(size)
        made = PreparedFile(await encode_base64(content), PDF)
        assert base64.b64decode(made.data, validate=True) == content
        assert made.bytes == size


async def test_the_largest_document_is_downloaded_once() -> None:
    size = DOCUMENT_BYTES
    telegram = Telegram(paper=bytes(size))
    one = media_context(telegram)
    for _ in range(3):
        assert set(await brought(one, [], [said(document("paper", 3, size))])) == {"paper"}
    assert telegram.asked == ["paper"]


async def test_a_document_that_was_just_read_is_not_downloaded_again() -> None:
    class PdfExtractor(FakeFileExtractor):
        async def open(self, work: str, content: bytes, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
            assert options["shown"] == DOCUMENT_BYTES
            return {"kind": "PDF", "parts": ["x"], "pages": 1, "whole": True, "note": ""}, []

    telegram, cache = Telegram(paper=b"%PDF"), new_cache()
    files: Any = telegram
    unused: Any = None
    read = await Documents(files, PdfExtractor(), unused, unused, 100, cache).read(
        Attachment("document", "f", "paper", "a.pdf", "application/pdf", 4)
    )
    one = MediaContext(Pictures(files, FakeFileExtractor(), 1000, cache), files, cache)
    assert set(await brought(one, read.blocks, [])) == {"paper"}
    assert telegram.asked == ["paper"]


async def test_the_memory_that_all_answers_use_for_files_is_limited() -> None:
    """Many people are answered at once, each about twenty large photos, with an empty cache."""
    size, made = 20 * 2**20, 200_000
    within = most_within = shown_now = most_shown = 0

    class Messenger(FakeMessenger):
        async def fetch(self, file_id: str, most: int) -> bytes:
            nonlocal within, most_within
            within += size
            most_within = max(most_within, within)
            await asyncio.sleep(0)
            return b""

    class Scales:
        async def open(self, work: str, content: bytes, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
            nonlocal within
            await asyncio.sleep(0)
            within -= size
            return {"width": 10, "height": 10, "mime": "image/png", "frames": 1}, [bytes(made)]

    def large(name: str) -> Row:
        block = image(name, 100, 100, bytes=made)
        return block | {"file": block["file"] | {"size": size}}

    files, cache = Files(Messenger(), size), new_cache()
    one = MediaContext(Pictures(files, Scales(), 1000, cache), files, cache, held=20 * 2**20)

    async def turn(number: int) -> int:
        nonlocal shown_now, most_shown
        async with one.shown([large(f"{number} {part}") for part in range(20)], []) as shown:
            here = sum(len(block["source"]["data"]) for block in shown.values())
            shown_now += here
            most_shown = max(most_shown, shown_now)
            await asyncio.sleep(0.001)
            shown_now -= here
        return len(shown)

    assert await asyncio.gather(*(turn(number) for number in range(20))) == [20] * 20
    assert most_within <= HELD
    assert 2**20 < most_shown <= 20 * 2**20


async def test_files_are_left_out_after_waiting_too_long_for_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay.media.media_context.ROOM_SECONDS", 0.05)
    files: Any = Telegram(a=bytes(900_000), b=b"B")
    one = MediaContext(Pictures(files, FakeFileExtractor(), 1000, new_cache()), files, new_cache(), held=2_000_000)
    async with one.shown([image("a", bytes=900_000)], []) as first:
        assert set(first) == {"a"}
        async with one.shown([image("a", bytes=900_000)], []) as second:
            assert not second
        async with one.shown([image("b", bytes=1)], []) as small:
            assert set(small) == {"b"}


async def test_a_picture_larger_than_declared_is_left_out() -> None:
    one = media_context(Telegram(a=bytes(900_000), b=b"B"))
    assert set(await brought(one, [image("b", bytes=1000), image("a", bytes=10)], [])) == {"b"}


async def test_the_largest_files_do_not_block_the_event_loop() -> None:
    """A PDF of the maximum size and twenty pictures are fetched and written into the request."""
    paper, photos = os.urandom(DOCUMENT_BYTES), {f"p{number}": os.urandom(250_000) for number in range(20)}
    present = [document("paper", 9, DOCUMENT_BYTES), *(image(name, 99, 99, bytes=250_000) for name in photos)]
    worst = []
    for _ in range(5):
        late = [0.0]

        async def tick(late: list[float] = late) -> None:
            while True:
                before = time.monotonic()
                await asyncio.sleep(0.001)
                late.append(time.monotonic() - before - 0.001)

        ticking = asyncio.create_task(tick())
        async with media_context(Telegram(paper=paper, **photos)).shown(present, []) as shown:
            body = encode_body({"model": "m", "messages": [{"role": "user", "content": list(shown.values())}]})
            await asyncio.sleep(0)
        ticking.cancel()
        assert len(body) > 10 * 2**20
        worst.append(max(late))
    assert min(worst) < 0.05


class FakeKeptFiles:
    """A media store in memory."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    async def get(self, unique_id: str) -> bytes | None:
        return self.files.get(unique_id)

    async def put(self, unique_id: str, content: bytes) -> None:
        self.files[unique_id] = content


async def test_kept_files_are_not_downloaded_again() -> None:
    messenger, kept = FakeMessenger(), FakeKeptFiles()
    messenger.files = {"f": b"content"}
    files = Files(messenger, 1000, kept)
    async with files.open(Attachment("photo", "f", "uuuu")) as content:
        assert content == b"content"
    messenger.files = {}
    async with files.open(Attachment("photo", "f", "uuuu")) as content:
        assert content == b"content"


def test_pictures_are_described_in_words() -> None:
    assert moves(Attachment("sticker", "f", "u", "", "video/webm"))
    assert describe_picture(Attachment("photo", "f", "u")) == "📷 photo"
    assert describe_picture(Attachment("sticker", "f", "u", "😀")) == "🏷 sticker 😀"
    assert describe_picture(Attachment("document", "f", "u", "a.png")) == "🖼 a.png"
