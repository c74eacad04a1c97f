"""Speaks a text with Piper, as OGG/Opus."""

from collections.abc import Iterator
from typing import Any

from relay.media.extraction.opus import encode


def work(content: bytes, voice: str, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
    """Speaks a text. `voice`: the path of its .onnx file. Returns its length in `seconds`."""
    from piper import PiperVoice

    return encode(_frames(PiperVoice.load(voice).synthesize(content.decode())))


def _frames(pieces: Any) -> Iterator[Any]:
    """Converts Piper's output to PyAV frames."""
    import av

    for piece in pieces:
        sound = piece.audio_int16_array.reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(sound, format="s16", layout="mono")
        frame.sample_rate = piece.sample_rate
        yield frame
