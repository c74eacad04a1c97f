"""Replaces PyAV: a recording is the spoken text, one byte per sample."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import numpy

time_base = 1_000_000
error = SimpleNamespace(FFmpegError=ValueError)


class Frame:
    def __init__(self, content):
        self.content = content

    def to_ndarray(self):
        return numpy.frombuffer(self.content, numpy.uint8)[None, :].astype(numpy.float32) / 255


@contextlib.contextmanager
def open(file, options):
    content = file.read()
    yield SimpleNamespace(
        streams=SimpleNamespace(audio=[0]), duration=len(content) * 1000, decode=lambda _: [Frame(content)]
    )


class AudioResampler:
    def __init__(self, **_):
        pass

    def resample(self, frame):
        return [] if frame is None else [frame]
