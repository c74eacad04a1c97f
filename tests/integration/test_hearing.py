"""Tests speech to text with the real engines and Whisper's real weights."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from relay.clients.speech import speech_to_text as ears_module
from relay.clients.speech.speech_to_text import Whisper
from relay.core.errors import MediaRefused
from tests.lag import LITTLE, longest_lag
from tests.speech import encoded, error_rate, needs, silent, spoken, spoken_roughly, wav_of, whisper_base
from tests.weights import convert

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300), pytest.mark.asyncio(loop_scope="module")]

SAID = "Good morning. Please remind me to buy three bottles of milk on Friday, and call my sister Anna in the evening."
GERMAN = "Guten Morgen, ich brauche heute drei Flaschen Milch und ein Kilo Kartoffeln."
FASTER = pytest.param("faster-whisper", marks=needs("faster-whisper"))
OPENAI = pytest.param("openai-whisper", marks=needs("openai-whisper"))
BOTH = pytest.mark.parametrize("engine", [FASTER, OPENAI], scope="module")
ONE = pytest.mark.parametrize("engine", [FASTER], scope="module")


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The weights of Whisper base for each engine."""
    folder = whisper_base(tmp_path_factory.mktemp("weights"))
    checkpoint = folder.parent / "base.pt"
    if not needs("openai-whisper").args[0]:
        convert(folder / "model.bin", checkpoint)
    return {"faster-whisper": folder, "openai-whisper": checkpoint}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def loaded(engine: str, weights: dict[str, Path]) -> AsyncIterator[Whisper]:
    """One process of the engine for all tests: loading it takes as long as hearing."""
    ears = Whisper(engine, str(weights[engine]), "", 20, weights[engine].parent)
    yield ears
    await ears.close()


@pytest.fixture
def ears(loaded: Whisper) -> Whisper:
    loaded._language, loaded._minutes = "", 20
    return loaded


async def refused(ears: Whisper, recording: bytes) -> str:
    with pytest.raises(MediaRefused) as told:
        await ears.hear(recording)
    return str(told.value)


@BOTH
async def test_speech_is_transcribed_from_every_container(ears: Whisper, engine: str) -> None:
    """The other tests hear OGG/Opus."""
    sound = wav_of(spoken(SAID))
    containers = ("mp4", "aac", True), ("mp3", "libmp3lame", False), ("matroska", "libopus", True)
    for container, codec, video in containers if engine == "faster-whisper" else containers[:1]:  # both use PyAV
        heard = await ears.hear(encoded(sound, container, codec, video))
        assert error_rate(SAID, heard.text) <= 0.35, (container, heard.text)
        assert (heard.language, heard.engine.split()[0], heard.cut) == ("en", engine, False)
        assert 4 <= heard.seconds <= 12


@BOTH
async def test_the_language_is_detected_or_given(ears: Whisper) -> None:
    note = spoken_roughly(GERMAN, "de")
    detected = await ears.hear(note)
    ears._language = "de"
    given = await ears.hear(note)
    assert (detected.language, given.language) == ("de", "de")
    assert error_rate(GERMAN, given.text) <= 0.5, given.text
    ears._language = "xx"
    assert (await ears.hear(spoken(SAID))).language == "en", "an unknown language must be replaced by the detected one"


@BOTH
async def test_a_recording_without_speech_gets_no_invented_text(ears: Whisper) -> None:
    for recording in (silent(8), silent(8, 0.002), silent(8, 0.1), silent(0.05, 0.1)):
        assert await refused(ears, encoded(recording)) == "I heard nothing in it."


@ONE
async def test_a_file_that_is_no_recording_is_refused(ears: Whisper, tmp_path: Path) -> None:
    note = spoken(SAID)
    secret = tmp_path / "secret.ogg"
    secret.write_bytes(note)
    playlist = f"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://{secret}\n#EXT-X-ENDLIST\n".encode()
    concat = f"ffconcat version 1.0\nfile '{secret}'\n".encode()
    for recording in (b"", b"hello" * 1000, note[:40], playlist, concat, b"\x1aE\xdf\xa3" + os.urandom(5000)):
        assert await refused(ears, recording) == "It's damaged or not a recording."
    assert await refused(ears, encoded(silent(1), "mp4", "", video=True)) == "There's no sound in it."
    assert ears.pid
    assert resource.prlimit(ears.pid, resource.RLIMIT_NOFILE) == (256, 256)
    half = await ears.hear(note[: len(note) // 2])
    assert half.text.startswith("Good morning"), "the part that arrived must be transcribed"
    assert ears.pid


@ONE
async def test_only_the_first_minutes_of_a_long_recording_are_transcribed(ears: Whisper) -> None:
    ears._minutes = 1
    first, later = wav_of(spoken(SAID)), wav_of(spoken("Bananas and oranges are fruit."))
    heard = await ears.hear(encoded(joined(first, silent(70), later)))
    assert heard.cut
    assert 75 <= heard.seconds <= 95
    assert error_rate(SAID, heard.text) <= 0.35, heard.text


@ONE
async def test_the_event_loop_is_not_blocked_by_a_transcription(ears: Whisper) -> None:
    recording = encoded(wav_of(spoken(SAID))) + b"\0" * 20 * 2**20  # the largest file that Telegram lets a bot download
    await ears.preload()
    heard: list[str] = []

    async def hear() -> None:
        heard.append((await ears.hear(recording)).text)

    assert await longest_lag(hear) < LITTLE
    assert heard[0]


@BOTH
async def test_a_recording_is_transcribed_again_after_the_engine_is_killed(ears: Whisper) -> None:
    await ears.preload()
    killed = ears.pid
    hearing = asyncio.create_task(ears.hear(spoken(SAID)))
    await asyncio.sleep(0.3)
    assert killed
    os.kill(killed, signal.SIGKILL)
    assert error_rate(SAID, (await hearing).text) <= 0.35
    assert ears.pid != killed


@BOTH
async def test_too_little_memory_is_reported(ears: Whisper, monkeypatch: pytest.MonkeyPatch) -> None:
    for bound in ("MEMORY", "LARGE_MEMORY"):
        monkeypatch.setattr(ears_module, bound, 60 * 2**20)
    monkeypatch.setattr(ears_module, "MEMORY_A_MINUTE", 0)
    await ears.close()
    assert await refused(ears, spoken(SAID)) in (ears_module.NOT_LOADED, ears_module.DIED)


STARTS = """
import asyncio, sys
from pathlib import Path
from relay.clients.speech.speech_to_text import Whisper

async def main():
    ears = Whisper(sys.argv[1], sys.argv[2], "", 20, Path(sys.argv[3]))
    await ears.preload()
    hearing = asyncio.create_task(ears.hear(Path(sys.argv[4]).read_bytes()))
    await asyncio.sleep(0.2)
    print("PID", ears.pid, flush=True)
    await hearing

asyncio.run(main())
"""


@BOTH
async def test_the_engine_ends_with_the_bot_even_when_the_bot_is_killed(
    engine: str, weights: dict[str, Path], tmp_path: Path
) -> None:
    long = tmp_path / "long.ogg"
    long.write_bytes(encoded(joined(*[wav_of(spoken(SAID))] * 20)))
    bot = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", STARTS, engine, str(weights[engine]), str(tmp_path), str(long)),
        stdout=asyncio.subprocess.PIPE,
    )
    assert bot.stdout
    pid = 0
    while not pid:
        line = await bot.stdout.readline()
        assert line, "the process has ended"
        pid = int(line.split()[1]) if line.startswith(b"PID") else 0
    assert is_running(pid)
    bot.kill()
    await bot.wait()
    async with asyncio.timeout(30):
        while is_running(pid):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def is_running(pid: int) -> bool:
    """Returns whether the process exists and isn't a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def joined(*sounds: bytes) -> bytes:
    """Joins WAV files."""
    import io
    import wave

    made = io.BytesIO()
    with wave.open(made, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(48_000)
        for sound in sounds:
            with wave.open(io.BytesIO(sound)) as one:
                file.writeframes(one.readframes(one.getnframes()))
    return made.getvalue()
