"""The ears around an engine: what happens to its process, and what people are told. Real engines: test_hearing."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from relay.clients.processes.model_process import NotLoaded
from relay.clients.speech import installed, listener
from relay.clients.speech import speech_to_text as ears_module
from relay.clients.speech.speech_to_text import Whisper
from relay.core.errors import MediaRefused
from relay.media.speech.engines import is_said, join_segments
from tests.lag import LITTLE, longest_lag


@pytest.fixture
async def ears(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[Whisper]:
    """Ears whose engine is the stand-in."""
    monkeypatch.setattr(installed, "is_installed", lambda engine: True)
    monkeypatch.setattr(listener, "PROGRAM", (sys.executable, "-m", "tests.standins.listener"))
    ears = Whisper("auto", "base", "", 20, tmp_path)
    yield ears
    await ears.close()


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_one_process_hears_one_recording_after_the_other(ears: Whisper) -> None:
    heard = await asyncio.gather(*(ears.hear(b"hello" + b"\0" * 3_000_000) for _ in range(3)))
    assert sorted(one.text.split()[1] for one in heard) == ["1", "2", "3"]
    assert (heard[0].engine, heard[0].seconds, heard[0].cut) == ("faster-whisper base", 2, False)
    pid = ears.pid
    assert pid
    await ears.close()
    assert not is_running(pid)


async def test_the_loop_goes_on_while_a_recording_is_heard(ears: Whisper) -> None:
    recording = b"hello" + b"\0" * 20 * 2**20  # as large as Telegram hands out
    await ears.hear(recording)
    assert await longest_lag(lambda: ears.hear(recording)) < LITTLE


async def test_the_language_of_the_settings_is_asked_for(ears: Whisper, tmp_path: Path) -> None:
    german = Whisper("auto", "base", "de-AT", 20, tmp_path)
    assert (await german.hear(b"hello")).language == "de"
    await german.close()


async def test_it_sees_no_setting_and_no_key(ears: Whisper, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "TELEGRAM_BOT_TOKEN", "RELAY_ADMINS", "DATABASE_URL", "HF_TOKEN"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("HF_HOME", "/somewhere")
    seen = (await ears.hear(b"hello")).text.split()[-1].split(",")
    assert not [n for n in seen if n.startswith(("ANTHROPIC", "TELEGRAM", "RELAY", "DATABASE")) or "TOKEN" in n]
    assert {"HF_HOME", "XDG_CACHE_HOME"} <= set(seen)


async def test_a_module_beside_the_bot_is_not_taken_for_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "queue.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    process = await listener.Listener.start(tmp_path, engine="none", model="", threads=1, memory=2**30)
    with pytest.raises(NotLoaded, match="KeyError: 'none'"):
        await process.loaded()
    await process.end()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no sessions")
async def test_ctrl_c_at_the_bots_terminal_does_not_end_it(ears: Whisper) -> None:
    await ears.hear(b"hello")
    assert ears.pid
    assert os.getsid(ears.pid) == ears.pid, "a session of its own: the terminal's signals do not reach it"


async def test_a_process_that_dies_is_followed_by_another_which_hears_the_same(ears: Whisper, tmp_path: Path) -> None:
    assert (await ears.hear(f"die {tmp_path / 'once'}".encode())).text.startswith("die 1 ")
    assert (await ears.hear(b"hello")).text.startswith("hello 2 ")
    with pytest.raises(MediaRefused, match="broke off over it twice"):
        await ears.hear(b"die")
    first = ears.hear(b"hello")
    assert (await first).text.startswith("hello 1 ")


async def test_killed_while_nobody_speaks(ears: Whisper) -> None:
    await ears.hear(b"hello")
    assert ears.pid
    os.kill(ears.pid, signal.SIGKILL)
    assert (await ears.hear(b"hello")).text.startswith("hello 1 ")


async def test_what_takes_too_long_is_ended_and_told(ears: Whisper, monkeypatch: pytest.MonkeyPatch) -> None:
    await ears.hear(b"hello")
    pid = ears.pid
    monkeypatch.setattr(ears_module, "DECODING_SECONDS", 0.5)
    monkeypatch.setattr(ears_module, "SLOWEST", 0.1)
    with pytest.raises(MediaRefused, match="too long to listen to"):
        await ears.hear(b"hang")
    assert pid
    assert not is_running(pid)


async def test_who_stops_waiting_leaves_no_answer_for_the_next(ears: Whisper) -> None:
    await ears.hear(b"hello")
    waiting = asyncio.create_task(ears.hear(b"hang"))
    behind = asyncio.create_task(ears.hear(b"next"))
    await until(lambda: ears.pid and ears._turn.locked())
    waiting.cancel()
    assert (await behind).text.startswith("next 1 ")
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_refusal_is_what_is_told(ears: Whisper) -> None:
    with pytest.raises(MediaRefused, match="I heard nothing in it"):
        await ears.hear(b"refuse")
    assert (await ears.hear(b"hello")).text.startswith("hello 2 ")


async def test_however_many_come_at_once_each_is_heard(ears: Whisper) -> None:
    """As after a restart, when what was said meanwhile has waited."""
    words = [f"note{number}" for number in range(40)]
    heard = await asyncio.gather(*(ears.hear(word.encode()) for word in words))
    assert [one.text.split()[0] for one in heard] == words


async def test_memory_is_given_back_when_nobody_speaks(ears: Whisper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ears_module, "IDLE_SECONDS", 0.05)
    await ears.hear(b"hello")
    await until(lambda: not ears.pid)
    await ears.preload()
    await ears.hear(b"hello")
    await asyncio.sleep(0.2)
    assert ears.pid, "what was loaded at the start stays"


@pytest.mark.parametrize(
    ("setting", "model", "said"),
    [
        ("off", "base", "switched off here (RELAY_STT=off)"),
        ("auto", "base", installed.HOW),
        ("openai-whisper", "base", installed.HOW),
    ],
)
async def test_without_an_engine_one_line_says_how_to_have_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, setting: str, model: str, said: str
) -> None:
    monkeypatch.setattr(installed, "find_spec", lambda name: None)
    with pytest.raises(MediaRefused) as told:
        await Whisper(setting, model, "", 20, tmp_path).hear(b"hello")
    assert said in str(told.value)
    assert "pip install" not in str(told.value), "the package index has another project of Relay's name"


async def test_a_model_that_cannot_be_loaded(ears: Whisper) -> None:
    ears._model = "broken"
    await ears.preload()
    with pytest.raises(MediaRefused, match="cannot be loaded here"):
        await ears.hear(b"hello")


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
def test_auto_takes_the_lighter_of_what_is_installed(
    monkeypatch: pytest.MonkeyPatch, setting: str, there: tuple[str, ...], engine: str | None
) -> None:
    monkeypatch.setattr(installed, "find_spec", lambda name: name if name in there else None)
    assert installed.chosen(setting) == engine


def test_what_whisper_makes_up_is_left_out() -> None:
    assert is_said(0.1, -0.3, 1.2)
    assert is_said(0.9, -0.3, 1.2), "sure of the words"
    assert not is_said(0.9, -1.1, 0.8)
    assert not is_said(0.1, -0.3, 9.0), "the same over and over"
    assert join_segments([" Hello. ", " ... ", " there"]) == "Hello. there"
