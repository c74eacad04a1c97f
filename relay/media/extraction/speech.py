"""A text said by Piper, as OGG/Opus."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from relay.media.extraction.opus import encoded


def work(content: bytes, voice: str, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
    """Says a text. `voice`: the path of its .onnx file. Tells how many `seconds` it takes."""
    from piper import PiperVoice

    return encoded(_frames(PiperVoice.load(voice).synthesize(content.decode())))


def _frames(pieces: Any) -> Iterator[Any]:
    """What Piper says, sentence by sentence, as PyAV takes it."""
    import av

    for piece in pieces:
        sound = piece.audio_int16_array.reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(sound, format="s16", layout="mono")
        frame.sample_rate = piece.sample_rate
        yield frame
