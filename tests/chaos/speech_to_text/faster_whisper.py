"""Replaces the package: the transcript is the text that the samples encode."""

from __future__ import annotations

from types import SimpleNamespace


class WhisperModel:
    def __init__(self, place, **options):
        self.supported_languages = ["en"]

    def transcribe(self, samples, **options):
        text = bytes((samples * 255).round().astype("uint8")).decode()
        piece = SimpleNamespace(text=text, no_speech_prob=0.0, avg_logprob=0.0, compression_ratio=1.0)
        return [piece], SimpleNamespace(language="en")
