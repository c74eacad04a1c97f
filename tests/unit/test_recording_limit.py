"""How much of a recording is transcribed, to the tenth of a second."""

from __future__ import annotations

import io
import math
import wave
from array import array

import pytest

from relay.media.speech.decoding import RATE, decode

pytestmark = pytest.mark.heavy
pytest.importorskip("av", reason="needs the speech engines")


def tone(seconds: float) -> bytes:
    """A WAV file with a tone of this length."""
    second = array("h", (int(8000 * math.sin(number / 5)) for number in range(RATE)))
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((second * math.ceil(seconds)).tobytes()[: round(seconds * RATE) * 2])
    return made.getvalue()


@pytest.mark.parametrize(("seconds", "cut"), [(59.9, False), (60, False), (60.1, True), (180, True)])
def test_a_recording_is_cut_only_if_it_is_longer_than_the_limit(seconds: float, cut: bool) -> None:
    found = decode(tone(seconds), 1)
    assert found.cut is cut
    assert len(found.samples) == round(min(seconds, 60) * RATE)
    assert found.seconds == round(seconds)
