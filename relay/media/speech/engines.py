"""The two Whisper engines, with one interface."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

UNLIKELY_SPEECH = 0.6
"""The probability of "no speech" at which an uncertain segment counts as made up by Whisper."""
UNSURE = -0.7
"""The mean log probability below which a segment is uncertain."""
REPEATING = 2.4
"""The compression ratio at which a segment counts as repeating itself."""

Tell = Callable[[str], None]


class Engine(Protocol):
    """A loaded speech model."""

    def transcribe(self, samples: Any, language: str) -> tuple[str, str]:
        """Returns the transcript (empty: no speech) and its language. `language`: ISO 639-1; empty: detected."""
        ...


class FasterWhisper:
    """Whisper on CTranslate2, in 8-bit integers."""

    def __init__(self, model: str, threads: int, tell: Tell) -> None:
        from faster_whisper import WhisperModel

        place = model if os.path.exists(model) else self._downloaded(model, tell)
        self._model = WhisperModel(place, device="cpu", compute_type="int8", cpu_threads=threads)

    @staticmethod
    def _downloaded(model: str, tell: Tell) -> str:
        """Returns the path of a model by name, downloading it if necessary."""
        from faster_whisper.utils import download_model
        from huggingface_hub.errors import LocalEntryNotFoundError

        try:
            return str(download_model(model, local_files_only=True))
        except LocalEntryNotFoundError:
            tell(f"downloading the Whisper model {model} for faster-whisper, once")
            return str(download_model(model))

    def transcribe(self, samples: Any, language: str) -> tuple[str, str]:
        known = language if language in self._model.supported_languages else None
        pieces, found = self._model.transcribe(
            samples, language=known, vad_filter=True, condition_on_previous_text=False
        )
        kept = (p.text for p in pieces if is_said(p.no_speech_prob, p.avg_logprob, p.compression_ratio))
        return join_segments(kept), found.language


class OpenAIWhisper:
    """OpenAI's own Whisper, on PyTorch."""

    def __init__(self, model: str, threads: int, tell: Tell) -> None:
        import torch
        import whisper

        torch.set_num_threads(threads)
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "whisper"
        if not os.path.exists(model) and not list(folder.glob(f"{model}*.pt")):
            tell(f"downloading the Whisper model {model} for openai-whisper, once")
        self._model = whisper.load_model(model, device="cpu")

    def transcribe(self, samples: Any, language: str) -> tuple[str, str]:
        from whisper.tokenizer import LANGUAGES

        known = language if language in LANGUAGES else None
        found = self._model.transcribe(samples, language=known, condition_on_previous_text=False, fp16=False)
        kept = (
            piece["text"]
            for piece in found["segments"]
            if is_said(piece["no_speech_prob"], piece["avg_logprob"], piece["compression_ratio"])
        )
        return join_segments(kept), found["language"]


ENGINES: dict[str, Callable[[str, int, Tell], Engine]] = {
    "faster-whisper": FasterWhisper,
    "openai-whisper": OpenAIWhisper,
}


def is_said(no_speech: float, sureness: float, repetition: float) -> bool:
    """Tests by its numbers whether a segment was said. Whisper makes things up over silence and noise."""
    made_up = no_speech >= UNLIKELY_SPEECH and sureness < UNSURE
    return not made_up and repetition <= REPEATING


def join_segments(pieces: Iterable[str]) -> str:
    """Joins segments, dropping those without a letter or digit."""
    return " ".join(piece.strip() for piece in pieces if any(sign.isalnum() for sign in piece))
