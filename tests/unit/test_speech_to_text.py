"""Speech to text around an engine: its process, and what people are told. test_hearing tests real engines."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from relay.clients.processes.model_process import ModelNotLoaded
from relay.clients.speech import installed, speech_to_text
from relay.clients.speech.speech_to_text import Whisper
from relay.core.errors import MediaRefused
from relay.media.speech.engines import is_said, join_segments
from tests.lag import LITTLE, longest_lag
from tests.processes import is_running, until


@pytest.fixture
async def whisper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Whisper]:
    """Speech to text with the stand-in engine."""
    monkeypatch.setattr(installed, "is_installed", lambda engine: True)
    monkeypatch.setattr(speech_to_text, "PROGRAM", (sys.executable, "-m", "tests.standins.listener"))
    whisper = Whisper("auto", "base", "", 20, tmp_path)
    yield whisper
    await whisper.close()


async def test_one_process_transcribes_recordings_one_after_the_other(whisper: Whisper) -> None:
    heard = await asyncio.gather(*(whisper.hear(b"hello" + b"\0" * 3_000_000) for _ in range(3)))
    assert sorted(one.text.split()[1] for one in heard) == ["1", "2", "3"]
    assert (heard[0].engine, heard[0].seconds, heard[0].cut) == ("faster-whisper base", 2, False)
    pid = whisper.pid
    assert pid
    await whisper.close()
    assert not is_running(pid)


async def test_transcribing_does_not_block_the_event_loop(whisper: Whisper) -> None:
    recording = b"hello" + b"\0" * 20 * 2**20  # the largest that Telegram gives to bots
    await whisper.hear(recording)
    assert await longest_lag(lambda: whisper.hear(recording)) < LITTLE


async def test_the_configured_language_is_passed_to_the_engine(whisper: Whisper, tmp_path: Path) -> None:
    german = Whisper("auto", "base", "de-AT", 20, tmp_path)
    assert (await german.hear(b"hello")).language == "de"
    await german.close()


async def test_the_speech_process_sees_no_settings_and_no_keys(
    whisper: Whisper, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "TELEGRAM_BOT_TOKEN", "RELAY_ADMINS", "DATABASE_URL", "HF_TOKEN"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("HF_HOME", "/somewhere")
    seen = (await whisper.hear(b"hello")).text.split()[-1].split(",")
    assert not [n for n in seen if n.startswith(("ANTHROPIC", "TELEGRAM", "RELAY", "DATABASE")) or "TOKEN" in n]
    assert {"HF_HOME", "XDG_CACHE_HOME"} <= set(seen)


async def test_a_module_in_the_working_directory_is_not_imported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    process = await speech_to_text.SpeechProcess.start(tmp_path, engine="none", model="", threads=1, memory=2**30)
    with pytest.raises(ModelNotLoaded, match="KeyError: 'none'"):
        await process.wait_until_loaded()
    await process.end()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no sessions")
async def test_ctrl_c_in_the_bots_terminal_does_not_end_the_process(whisper: Whisper) -> None:
    await whisper.hear(b"hello")
    assert whisper.pid
    assert os.getsid(whisper.pid) == whisper.pid, "a session of its own: the terminal's signals do not reach it"


async def test_a_process_that_dies_is_replaced_and_the_recording_retried(whisper: Whisper, tmp_path: Path) -> None:
    assert (await whisper.hear(f"die {tmp_path / 'once'}".encode())).text.startswith("die 1 ")
    assert (await whisper.hear(b"hello")).text.startswith("hello 2 ")
    with pytest.raises(MediaRefused, match="failed on it twice"):
        await whisper.hear(b"die")
    first = whisper.hear(b"hello")
    assert (await first).text.startswith("hello 1 ")


async def test_a_process_killed_while_idle_is_replaced(whisper: Whisper) -> None:
    await whisper.hear(b"hello")
    assert whisper.pid
    os.kill(whisper.pid, signal.SIGKILL)
    assert (await whisper.hear(b"hello")).text.startswith("hello 1 ")


async def test_a_transcription_that_takes_too_long_is_ended_with_an_error(
    whisper: Whisper, monkeypatch: pytest.MonkeyPatch
) -> None:
    await whisper.hear(b"hello")
    pid = whisper.pid
    monkeypatch.setattr(speech_to_text, "DECODING_SECONDS", 0.5)
    monkeypatch.setattr(speech_to_text, "SLOWEST", 0.1)
    with pytest.raises(MediaRefused, match="takes too long to transcribe"):
        await whisper.hear(b"hang")
    assert pid
    assert not is_running(pid)


async def test_a_cancelled_request_leaves_no_answer_for_the_next_one(whisper: Whisper) -> None:
    await whisper.hear(b"hello")
    waiting = asyncio.create_task(whisper.hear(b"hang"))
    behind = asyncio.create_task(whisper.hear(b"next"))
    await until(lambda: whisper.pid and whisper._turn.locked())
    waiting.cancel()
    assert (await behind).text.startswith("next 1 ")
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_refusal_of_the_engine_is_passed_on(whisper: Whisper) -> None:
    with pytest.raises(MediaRefused, match="I heard nothing in it"):
        await whisper.hear(b"refuse")
    assert (await whisper.hear(b"hello")).text.startswith("hello 2 ")


async def test_many_simultaneous_recordings_are_all_transcribed(whisper: Whisper) -> None:
    """As after a restart, when recordings have queued up."""
    words = [f"note{number}" for number in range(40)]
    heard = await asyncio.gather(*(whisper.hear(word.encode()) for word in words))
    assert [one.text.split()[0] for one in heard] == words


async def test_an_idle_process_is_ended_unless_it_was_preloaded(
    whisper: Whisper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speech_to_text, "IDLE_SECONDS", 0.05)
    await whisper.hear(b"hello")
    await until(lambda: not whisper.pid)
    await whisper.preload()
    await whisper.hear(b"hello")
    await asyncio.sleep(0.2)
    assert whisper.pid, "a preloaded model stays loaded"


@pytest.mark.parametrize(
    ("setting", "model", "said"),
    [
        ("off", "base", "Speech to text is switched off here (RELAY_STT=off)"),
        ("auto", "base", installed.HOW),
        ("openai-whisper", "base", installed.HOW),
    ],
)
async def test_without_an_engine_the_error_says_how_to_install_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, setting: str, model: str, said: str
) -> None:
    monkeypatch.setattr(installed, "find_spec", lambda name: None)
    with pytest.raises(MediaRefused) as told:
        await Whisper(setting, model, "", 20, tmp_path).hear(b"hello")
    assert said in str(told.value)
    assert "pip install" not in str(told.value), "the package index has another project of Relay's name"


async def test_a_model_that_cannot_be_loaded_is_reported(whisper: Whisper) -> None:
    whisper._model = "broken"
    await whisper.preload()
    with pytest.raises(MediaRefused, match="can't be loaded"):
        await whisper.hear(b"hello")


@pytest.mark.parametrize(
    ("setting", "there", "engine"),
    [
        ("auto", ("whisper", "faster_whisper", "av"), "faster-whisper"),
        ("auto", ("whisper", "av"), "openai-whisper"),
        ("openai-whisper", ("whisper", "faster_whisper", "av"), "openai-whisper"),
        ("auto", ("whisper",), None),
        ("off", ("whisper", "faster_whisper", "av"), None),
    ],
)
def test_auto_chooses_the_lighter_installed_engine(
    monkeypatch: pytest.MonkeyPatch, setting: str, there: tuple[str, ...], engine: str | None
) -> None:
    monkeypatch.setattr(installed, "find_spec", lambda name: name if name in there else None)
    assert installed.choose_engine(setting) == engine


def test_text_that_whisper_makes_up_is_left_out() -> None:
    assert is_said(0.1, -0.3, 1.2)
    assert is_said(0.9, -0.3, 1.2), "the engine is sure of the words"
    assert not is_said(0.9, -1.1, 0.8)
    assert not is_said(0.1, -0.3, 9.0), "the same words over and over"
    assert join_segments([" Hello. ", " ... ", " there"]) == "Hello. there"
