"""Converts sound to OGG/Opus, which Telegram shows as a voice note."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from relay.media.extraction.failure import NO_SOUND, Unusable

RATE = 48_000
BITS_A_SECOND = 32_000
MOST_SECONDS = 900


def work(content: bytes, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
    """Converts any sound file to OGG/Opus; returns its length in `seconds`."""
    import av

    with av.open(io.BytesIO(content)) as source:
        if not source.streams.audio:
            raise Unusable(NO_SOUND)
        return encode(source.decode(audio=0))


def encode(frames: Iterable[Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Encodes PyAV frames as one OGG/Opus file. Raises `Unusable` if they are too long."""
    import av

    file = io.BytesIO()
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    samples = 0
    with av.open(file, "w", format="ogg") as target:
        stream = target.add_stream("libopus", rate=RATE, layout="mono")
        stream.bit_rate = BITS_A_SECOND
        for frame in frames:
            frame.pts = None
            for one in resampler.resample(frame):
                samples += one.samples
                target.mux(stream.encode(one))
            if samples > MOST_SECONDS * RATE:
                raise Unusable("It's too long.")
        for one in resampler.resample(None):
            samples += one.samples
            target.mux(stream.encode(one))
        target.mux(stream.encode(None))
    return {"seconds": max(1, round(samples / RATE))}, [file.getvalue()]
