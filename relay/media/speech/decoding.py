"""Decodes any sound or video file for Whisper."""

from __future__ import annotations

import io
from typing import Any

from relay.core.frozen import frozen
from relay.media.extraction.failure import NO_SOUND, Unusable

RATE = 16_000
FORMATS = "aac,ac3,aiff,amr,amrnb,amrwb,asf,avi,caf,flac,flv,matroska,webm,mov,mp4,mp3,mpeg,mpegts,ogg,wav,w64,wv"
"""The containers that are read. They don't include playlists and the like, which would open other files and
addresses."""
QUIET = 1e-4
"""A recording that stays below this level is silence. Full scale is 1."""
BROKEN = "It's damaged or not a recording."
NOTHING = "I heard nothing in it."
WORDLESS = (NO_SOUND, NOTHING)


@frozen
class Recording:
    """The beginning of a recording."""

    samples: Any
    """A NumPy array of float32: mono, 16 kHz."""
    seconds: int
    """The length of the whole recording in seconds, as far as known."""
    cut: bool
    """Whether the recording is longer."""


def decode(content: bytes, minutes: int) -> Recording:
    """Decodes the first minutes of a recording, up to a damaged place if there is one. Raises `Unusable`."""
    import av
    import numpy

    try:
        with av.open(io.BytesIO(content), options={"format_whitelist": FORMATS}) as container:
            if not container.streams.audio:
                raise Unusable(NO_SOUND)
            told = (container.duration or 0) / av.time_base
            chunks, cut = _chunks(container, minutes * 60 * RATE)
    except av.error.FFmpegError:
        raise Unusable(BROKEN) from None
    if not chunks:
        raise Unusable(BROKEN)
    samples = numpy.concatenate(chunks)
    if float(numpy.abs(samples).max()) < QUIET:
        raise Unusable(NOTHING)
    heard = len(samples) / RATE
    return Recording(samples, round(max(heard, told) if cut else heard), cut)


def _chunks(container: Any, most: int) -> tuple[list[Any], bool]:
    """Returns pieces with at most `most` samples together, and whether there is more."""
    import av

    resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
    chunks, length = [], 0
    try:
        for frame in container.decode(container.streams.audio[0]):
            for piece in resampler.resample(frame):
                samples = piece.to_ndarray()[0]
                chunks.append(samples[: most - length])
                length += len(samples)
                if length > most:
                    return chunks, True
        chunks += [piece.to_ndarray()[0] for piece in resampler.resample(None)]
    except av.error.FFmpegError:
        if not chunks:
            raise
    return chunks, False
