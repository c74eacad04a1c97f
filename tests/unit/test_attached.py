"""The file of a message, as Telegram tells of it."""

from __future__ import annotations

from relay.bot.attached import attachment_of
from relay.models import Attachment


def test_a_photo_is_its_largest_size() -> None:
    sizes = [{"file_id": name, "file_unique_id": name * 2, "width": side, "height": side} for name, side in
             (("a", 90), ("c", 1280), ("b", 320))]  # fmt: skip
    assert attachment_of({"photo": sizes}) == Attachment("photo", "c", "cc", width=1280, height=1280)


def test_stickers_tell_their_kind_and_their_preview() -> None:
    sticker = {"file_id": "f", "file_unique_id": "u", "emoji": "😀", "thumbnail": {"file_id": "t"}}
    types = {}
    for name, told in (("still", {}), ("drawn", {"is_animated": True}), ("film", {"is_video": True})):
        found = attachment_of({"sticker": sticker | told})
        assert found is not None
        assert (found.name, found.preview) == ("😀", "t")
        types[name] = found.mime
    assert types == {"still": "image/webp", "drawn": "application/x-tgsticker", "film": "video/webm"}


def test_nothing_odd_gets_through() -> None:
    odd = {"file_id": "f", "mime_type": ["x"], "thumbnail": {"file_id": 5}, "file_name": "../a\n/b.png", "width": -1}
    assert attachment_of({"document": odd}) == Attachment("document", "f", "f", "b.png")
    assert attachment_of({"document": {"file_id": 5}, "photo": "x"}) is None
