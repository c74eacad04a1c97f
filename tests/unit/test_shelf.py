"""Which pictures and documents stand in a prompt: the newest within bounds, the same from turn to turn."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Any

from relay.errors import MediaRefused
from relay.media.files import Files
from relay.media.pictures import Pictures, in_words, moves
from relay.media.prepared import Cache, Prepared
from relay.media.shelf import DOCUMENT_BYTES, IMAGE_TOKENS, IMAGES, PAGES, Shelf, chosen, first_kept
from relay.media.weights import tokens_of
from relay.models import Attachment
from relay.testing import FakeMessenger

Row = dict[str, Any]


def image(name: str, width: int = 800, height: int = 600, **more: Any) -> Row:
    file = asdict(Attachment("photo", f"file {name}", name))
    return {"type": "image", "untrusted": "image", "file": file, "width": width, "height": height} | more


def document(name: str, pages: int = 1, size: int = 1000) -> Row:
    file = asdict(Attachment("document", f"file {name}", name, f"{name}.pdf", "application/pdf", size))
    return {"type": "document", "untrusted": "document", "file": file, "pages": pages}


def said(*blocks: Row) -> Row:
    return {"role": "user", "blocks": list(blocks)}


ANSWER = {"role": "assistant", "blocks": [{"role": "assistant", "content": []}]}


class Telegram:
    """Files by their ids; what is not there is refused."""

    def __init__(self, **files: bytes) -> None:
        self.files = files
        self.asked: list[str] = []

    async def get(self, attachment: Attachment) -> bytes:
        self.asked.append(attachment.unique_id)
        if attachment.unique_id not in self.files:
            raise MediaRefused("Telegram does not give it to me.")
        return self.files[attachment.unique_id]


class Opener:
    """Says that everything is a small picture."""

    async def open(self, work: str, content: bytes, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
        return {"width": 10, "height": 10, "mime": "image/png", "frames": 1}, [content]


def shelf(telegram: Telegram, cache: Cache | None = None) -> Shelf:
    files: Any = telegram
    cache = cache or Cache()
    return Shelf(Pictures(files, Opener(), 1000, cache), files, cache)


async def test_what_was_sent_is_shown_again_and_fetched_once() -> None:
    telegram = Telegram(a=b"A", b=b"B", d=b"%PDF-1")
    one = shelf(telegram)
    recent = [said(image("a")), ANSWER, said(document("d"), {"type": "text", "text": "this"})]
    shown = await one.shown([image("b")], recent)
    assert shown["a"] == {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(b"A").decode()},
    }
    assert shown["d"]["type"] == "document"
    assert shown["d"]["source"]["media_type"] == "application/pdf"
    assert set(shown) == {"a", "b", "d"}
    assert await one.shown([], recent) == {key: shown[key] for key in ("a", "d")}
    assert sorted(telegram.asked) == ["a", "b", "d"]


async def test_what_telegram_no_longer_gives_is_left_out() -> None:
    shown = await shelf(Telegram(b=b"B")).shown([image("b")], [said(image("gone"), document("gone too"))])
    assert set(shown) == {"b"}


async def test_a_message_that_was_edited_keeps_its_picture() -> None:
    edited = {"type": "attachment", "file": image("a")["file"]}
    assert set(await shelf(Telegram(a=b"A")).shown([], [said(edited)])) == {"a"}


def test_only_the_newest_are_shown() -> None:
    recent = [said(image(f"p{number}", 100, 100)) for number in range(50)]
    shown = chosen([image("now", 100, 100)], recent)
    assert 0.75 * IMAGES <= len(shown) <= IMAGES
    assert list(shown)[-2:] == ["p49", "now"]
    assert (
        sum(map(tokens_of, chosen([], [said(image(str(n), 1200, 1000)) for n in range(40)]).values())) <= IMAGE_TOKENS
    )


def test_turn_by_turn_the_beginning_stays() -> None:
    """A prefix that is cached only pays when it is the same most of the time."""
    changes, before = 0, list[str]()
    for turn in range(200):
        shown = list(chosen([image(f"p{turn}", 1000, 900)], [said(image(f"p{n}", 1000, 900)) for n in range(turn)]))
        assert shown[-1] == f"p{turn}"
        changes += shown[: len(before)] != before
        before = shown
    assert changes <= 200 / (IMAGES / 4) + 1


def test_what_was_present_is_still_shown_in_the_next_turn() -> None:
    album = [image(f"p{n}", 1000, 1000) for n in range(10)]
    assert list(chosen(album, [])) == list(chosen([], [said(*album), ANSWER]))


def test_a_picture_that_comes_again_counts_once_and_is_new() -> None:
    recent = [said(image("sticker", 100, 100)) for _ in range(150)]
    assert list(chosen([image("other", 100, 100), image("sticker", 100, 100)], recent)) == ["other", "sticker"]


def test_documents_go_by_pages_and_bytes() -> None:
    long = document("long", PAGES + 80)
    assert list(chosen([long], [])) == ["long"], "what was just sent is seen whole"
    assert not chosen([], [said(long)]), "later its text is looked up"
    assert list(chosen([], [said(document("a", PAGES)), said(document("b", 1))])) == ["b"]
    assert not chosen([document("large", 1, DOCUMENT_BYTES + 1)], [])
    half = DOCUMENT_BYTES * 2 // 3
    assert list(chosen([document("new", 90, half)], [said(document("old", 1, half))])) == ["new"]


def test_the_oldest_go_in_steps() -> None:
    assert first_kept([1] * 20, 20) == 0
    assert [first_kept([1] * count, 20) for count in (21, 22, 25, 26)] == [5, 5, 5, 10]
    assert first_kept([50], 20) == 1


def test_the_cache_is_bounded() -> None:
    cache = Cache(100)
    for name in "abc":
        cache.put(name, Prepared(bytes(40), "image/png"))
    assert cache.get("a") is None
    assert cache.get("b")
    cache.put("d", Prepared(bytes(40), "image/png"))
    assert cache.get("c") is None, "the one that was not looked at for longest went"
    cache.put("b", Prepared(bytes(51), "image/png"))
    assert cache.get("b") is None, "nor is one kept that fills most of it"
    assert cache.get("d")


class Kept:
    """A keeper in memory."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    async def get(self, unique_id: str) -> bytes | None:
        return self.files.get(unique_id)

    async def put(self, unique_id: str, content: bytes) -> None:
        self.files[unique_id] = content


async def test_what_is_kept_is_not_fetched_again() -> None:
    messenger, kept = FakeMessenger(), Kept()
    messenger.files = {"f": b"content"}
    files = Files(messenger, 1000, kept)
    assert await files.get(Attachment("photo", "f", "uuuu")) == b"content"
    messenger.files = {}
    assert await files.get(Attachment("photo", "f", "uuuu")) == b"content"


def test_pictures_are_told_in_words() -> None:
    assert moves(Attachment("sticker", "f", "u", "", "video/webm"))
    assert in_words(Attachment("photo", "f", "u")) == "📷 photo"
    assert in_words(Attachment("sticker", "f", "u", "😀")) == "🏷 sticker 😀"
    assert in_words(Attachment("document", "f", "u", "a.png")) == "🖼 a.png"
