"""Recordings as what is said in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.clients.fakes import FakeMessenger
from relay.core.errors import MediaRefused
from relay.core.models import Attachment, Heard
from relay.media import sounds
from relay.media.files import Files
from relay.media.reading import Read
from relay.media.sounds import Sounds
from relay.surfaces.telegram.formatting.format import format_heard
from relay.surfaces.telegram.formatting.styled import utf16_offsets


class Ears:
    """Hears what the bytes say."""

    def __init__(self) -> None:
        self.listened: list[bytes] = []

    async def hear(self, recording: bytes) -> Heard:
        """See `ports.Ears.hear`."""
        self.listened.append(recording)
        if recording.startswith(b"no words: "):
            raise MediaRefused(recording.decode().partition(": ")[2])
        return Heard(recording.decode(), "en", "fake")


class Stills:
    """Looks at the still picture of a video."""

    async def read(self, attachment: Attachment) -> Read:
        """See `reading.Kind`."""
        return Read([{"type": "image", "preview": attachment.preview}], "a picture")


def note(name: str) -> Attachment:
    return Attachment("voice", name, f"unique {name}", seconds=3)


@pytest.fixture
def messenger() -> FakeMessenger:
    messenger = FakeMessenger()
    messenger.files = {name: name.encode() * 10 for name in "abc"}
    return messenger


async def test_what_was_heard_is_remembered_for_a_while(
    messenger: FakeMessenger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sounds, "REMEMBERED", 20)
    ears = Ears()
    listener = Sounds(Files(messenger, 1000), Stills(), ears, 20)
    for name in "abacab":
        read = await listener.read(note(name))
        assert read.text == name * 10
        assert read.blocks[0]["heard"]["seconds"] == 3, "as Telegram tells it, where the ears do not"
    assert [recording[:1] for recording in ears.listened] == [b"a", b"b", b"c", b"b"]


async def test_without_ears_nothing_is_fetched_and_it_says_how_to_get_them(messenger: FakeMessenger) -> None:
    with pytest.raises(MediaRefused, match="`relay setup` where Relay runs"):
        await Sounds(Files(messenger, 1000), Stills(), None, 20).read(note("not there"))


@pytest.mark.parametrize(
    ("kind", "preview", "why", "shown"),
    [
        ("video", "still", "There is no sound in it.", True),
        ("video", "still", "I heard nothing in it.", True),
        ("document", "still", "There is no sound in it.", True),
        ("video", "", "There is no sound in it.", False),
        ("video", "still", "It is damaged, or it is no recording.", False),
        ("audio", "its cover", "I heard nothing in it.", False),
    ],
)
async def test_of_a_video_without_words_the_still_picture_is_shown(
    messenger: FakeMessenger, kind: str, preview: str, why: str, shown: bool
) -> None:
    messenger.files["film"] = f"no words: {why}".encode()
    film = Attachment(kind, "film", "unique film", mime="video/mp4", preview=preview)
    reading = Sounds(Files(messenger, 1000), Stills(), Ears(), 20).read(film)
    if shown:
        assert (await reading).blocks == [{"type": "image", "preview": "still"}]
        return
    with pytest.raises(MediaRefused, match=why):
        await reading


@given(st.text(max_size=50).flatmap(lambda text: st.sampled_from([1, 40, 900]).map(lambda times: text * times)))
def test_whatever_was_heard_fits_one_message(text: str) -> None:
    shown = format_heard(text)
    assert shown.text.startswith("🎤")
    assert utf16_offsets(shown.text)[-1] <= 4096
    assert all(entity["length"] <= utf16_offsets(shown.text)[-1] for entity in shown.entities)
