"""Recordings as transcripts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.core.errors import MediaRefused
from relay.core.models import Attachment, Transcript
from relay.core.text import utf16_offsets
from relay.media import sounds
from relay.media.files import Files
from relay.media.reading import FileContents
from relay.media.sounds import Sounds
from relay.surfaces.telegram.formatting.format import format_heard
from tests.standins.fakes import FakeMessenger


class FakeSpeechToText:
    """Speech to text that returns the bytes as the transcript."""

    def __init__(self) -> None:
        self.listened: list[bytes] = []

    async def hear(self, recording: bytes) -> Transcript:
        """See `ports.SpeechToText.hear`."""
        self.listened.append(recording)
        if recording.startswith(b"no words: "):
            raise MediaRefused(recording.decode().partition(": ")[2])
        return Transcript(recording.decode(), "en", "fake")


class FakePictures:
    """Reads the still picture of a video."""

    async def read(self, attachment: Attachment) -> FileContents:
        """See `reading.Kind`."""
        return FileContents([{"type": "image", "preview": attachment.preview}], "a picture")


def note(name: str) -> Attachment:
    return Attachment("voice", name, f"unique {name}", seconds=3)


@pytest.fixture
def messenger() -> FakeMessenger:
    messenger = FakeMessenger()
    messenger.files = {name: name.encode() * 10 for name in "abc"}
    return messenger


async def test_transcripts_are_cached_for_a_while(messenger: FakeMessenger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sounds, "REMEMBERED", 20)
    speech_to_text = FakeSpeechToText()
    listener = Sounds(Files(messenger, 1000), FakePictures(), speech_to_text, 20)
    for name in "abacab":
        read = await listener.read(note(name))
        assert read.text == name * 10
        assert read.blocks[0]["heard"]["seconds"] == 3, "Telegram's value, if speech to text gives none"
    assert [recording[:1] for recording in speech_to_text.listened] == [b"a", b"b", b"c", b"b"]


async def test_the_model_is_told_the_name_of_a_recording_by_others(messenger: FakeMessenger) -> None:
    listener = Sounds(Files(messenger, 1000), FakePictures(), FakeSpeechToText(), 20)
    song = Attachment("audio", "a", "unique a", name="Ella – Blue Moon")
    (block,) = (await listener.read(song)).blocks
    assert (block["untrusted"], block["from"]) == ("recording", "Ella – Blue Moon")
    for unnamed in (Attachment("audio", "a", "unique a"), note("b")):
        assert "from" not in (await listener.read(unnamed)).blocks[0]


async def test_without_speech_to_text_the_error_says_how_to_install_it(messenger: FakeMessenger) -> None:
    with pytest.raises(MediaRefused, match="`relay setup` where Relay runs"):
        await Sounds(Files(messenger, 1000), FakePictures(), None, 20).read(note("not there"))


@pytest.mark.parametrize(
    ("kind", "preview", "why", "shown"),
    [
        ("video", "still", "There's no sound in it.", True),
        ("video", "still", "I heard nothing in it.", True),
        ("document", "still", "There's no sound in it.", True),
        ("video", "", "There's no sound in it.", False),
        ("video", "still", "It's damaged or not a recording.", False),
        ("audio", "its cover", "I heard nothing in it.", False),
    ],
)
async def test_the_still_picture_of_a_video_without_words_is_shown(
    messenger: FakeMessenger, kind: str, preview: str, why: str, shown: bool
) -> None:
    messenger.files["film"] = f"no words: {why}".encode()
    film = Attachment(kind, "film", "unique film", mime="video/mp4", preview=preview)
    reading = Sounds(Files(messenger, 1000), FakePictures(), FakeSpeechToText(), 20).read(film)
    if shown:
        assert (await reading).blocks == [{"type": "image", "preview": "still"}]
        return
    with pytest.raises(MediaRefused, match=why):
        await reading


@given(st.text(max_size=50).flatmap(lambda text: st.sampled_from([1, 40, 900]).map(lambda times: text * times)))
def test_any_transcript_fits_one_message(text: str) -> None:
    shown = format_heard(text)
    assert shown.text.startswith("🎤")
    assert utf16_offsets(shown.text)[-1] <= 4096
    assert all(entity["length"] <= utf16_offsets(shown.text)[-1] for entity in shown.entities)
