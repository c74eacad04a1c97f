"""The file attached to a message is described within limits, whatever the message says about it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from relay.core.models import Attachment
from relay.surfaces.telegram.parsing.attachments import KINDS, NAME_LENGTH, attachment_of
from tests.strategies import examples
from tests.telegram_objects import as_message

ANY = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text(), max_size=2)
FIELDS = (
    "file_id", "file_unique_id", "file_name", "mime_type", "file_size", "duration", "width", "height", "length",
    "title", "performer",
)  # fmt: skip


@examples(100)
@given(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(FIELDS), ANY), st.booleans())
def test_every_field_of_an_attachment_is_bounded(kind: str, found: dict[str, Any], several: bool) -> None:
    attachment = attachment_of(as_message({kind: [found, found] if several else found}))
    if attachment is None:
        return
    assert attachment.kind == kind
    assert attachment.name.isprintable()
    assert len(attachment.name) <= NAME_LENGTH
    assert not set(attachment.name) & set("/\\\0\u202e\u2066")
    assert all(0 <= number < 2**53 for number in (attachment.size, attachment.seconds, attachment.width))
    assert len(attachment.mime) <= NAME_LENGTH


def test_file_names_keep_only_their_last_path_part() -> None:
    names = {"../../etc/passwd": "passwd", "C:\\a\\b.txt": "b.txt", "in\u202efdp.exe": "infdp.exe", "a\0b": "ab"}
    names["Ku\u0308ndigung.pdf"] = "Kündigung.pdf"
    for given_, kept in names.items():
        attachment = attachment_of(as_message({"document": {"file_id": "x", "file_name": given_}}))
        assert attachment is not None
        assert attachment.name == kept


def test_a_piece_of_music_is_named_by_its_performer_and_title() -> None:
    names = [
        ("", "", "audio.mp3"),
        ("Ella", "", "audio.mp3"),
        ("", "Moon", "Moon"),
        ("AC/DC", "T.N.T.", "AC-DC – T.N.T."),
    ]
    for performer, title, name in names:
        audio = {"file_id": "x", "file_name": "audio.mp3", "performer": performer, "title": title}
        attachment = attachment_of(as_message({"audio": audio}))
        assert attachment is not None
        assert attachment.name == name


def test_a_photo_is_its_largest_size() -> None:
    sizes = [{"file_id": name, "file_unique_id": name * 2, "width": side, "height": side} for name, side in
             (("a", 90), ("c", 1280), ("b", 320))]  # fmt: skip
    assert attachment_of(as_message({"photo": sizes})) == Attachment("photo", "c", "cc", width=1280, height=1280)


def test_a_sticker_has_its_kind_and_its_preview() -> None:
    sticker = {"file_id": "f", "file_unique_id": "u", "emoji": "😀", "thumbnail": {"file_id": "t"}}
    types = {}
    for name, told in (("still", {}), ("drawn", {"is_animated": True}), ("film", {"is_video": True})):
        found = attachment_of(as_message({"sticker": sticker | told}))
        assert found is not None
        assert (found.name, found.preview) == ("😀", "t")
        types[name] = found.mime
    assert types == {"still": "image/webp", "drawn": "application/x-tgsticker", "film": "video/webm"}


def test_malformed_fields_of_an_attachment_are_dropped() -> None:
    odd = {"file_id": "f", "mime_type": ["x"], "thumbnail": {"file_id": 5}, "file_name": "../a\n/b.png", "width": -1}
    assert attachment_of(as_message({"document": odd})) == Attachment("document", "f", "f", "b.png")
    assert attachment_of(as_message({"document": {"file_id": 5}, "photo": "x"})) is None
