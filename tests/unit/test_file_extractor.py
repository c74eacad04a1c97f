"""The file extractor's process: whatever a file does to it, the message is clear and nothing is left behind."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import structlog

from relay.clients.processes import machine
from relay.clients.processes.file_extractor import AT_ONCE, NOT_OPENED, TOO_LONG, FileExtractor
from relay.core.errors import MediaRefused
from relay.media.extraction import fence
from relay.media.extraction.__main__ import BROKEN, TOO_MUCH

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = (sys.executable, "-m", "tests.opening_probe")


def extractor(seconds: float = 60, memory: int = 2**30) -> FileExtractor:
    return FileExtractor(memory, seconds, PROGRAM)


async def refused(how: str, content: bytes = b"", seconds: float = 60) -> str:
    with pytest.raises(MediaRefused) as error:
        await extractor(seconds).open("probe", content, how=how)
    return str(error.value)


def children() -> set[str]:
    """The processes that we started and that still run."""
    return set(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split())


def lives(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


async def until(holds: Any, seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 — it happens in other processes
            await asyncio.sleep(0.02)


async def test_output_printed_by_a_library_does_not_enter_the_answer() -> None:
    told, made = await extractor().open("probe", b"abcdefgh" * 200_000, how="echo")
    assert told == {"length": 1_600_000}
    assert made == [b"abc", b"", b"fgh"]


async def test_the_process_sees_none_of_our_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("TELEGRAM_BOT_TOKEN", "ANTHROPIC_API_KEY", "DATABASE_URL", "RELAY_ADMINS", "HOME", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "what must not be seen")
    told, _ = await extractor().open("probe", b"", how="surroundings")
    assert "what must not be seen" not in told["environment"].values()
    assert not {name for name in told["environment"] if name.startswith(("RELAY_", "TELEGRAM_", "ANTHROPIC_"))}


async def test_a_module_in_the_working_directory_is_not_imported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "PIL").mkdir()
    (tmp_path / "PIL" / "__init__.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MediaRefused, match="none of them"):
        await FileExtractor().open("picture", b"no picture", max_pixels=100)


@pytest.mark.skipif(sys.platform != "linux", reason="limits are tested where they all are")
async def test_memory_time_and_files_are_limited(tmp_path: Path) -> None:
    before = children()
    assert await refused("hungry") == TOO_MUCH
    assert await refused("endless", seconds=1) == TOO_LONG
    began = time.monotonic()
    assert await refused("asleep", seconds=1) == TOO_LONG
    assert time.monotonic() - began < 20
    assert await refused("writing", str(tmp_path / "left").encode()) == BROKEN
    assert (tmp_path / "left").stat().st_size == 0
    assert await refused("collecting", b"60") == BROKEN
    assert (await extractor().open("probe", b"30", how="collecting"))[0] == {"held": 30}
    assert not children() - before


@pytest.mark.skipif(sys.platform != "linux", reason="limits are tested where they all are")
async def test_processor_time_is_limited_even_if_nobody_waits(tmp_path: Path) -> None:
    head = b'{"work": "probe", "options": {"how": "endless"}, "memory": 1073741824, "seconds": 1, "size": 0}\n'
    process = await asyncio.create_subprocess_exec(*PROGRAM, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stdin is not None
    process.stdin.write(head)
    async with asyncio.timeout(60):
        assert await process.wait() == -signal.SIGXCPU


@pytest.mark.parametrize("how", ["dying", "garbled", "half", "silent", "fountain"])
async def test_a_process_without_an_answer_gives_an_error_sentence(how: str) -> None:
    assert await refused(how) == NOT_OPENED


async def test_a_library_error_is_logged_without_its_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = structlog.wrap_logger(
        structlog.PrintLogger(), wrapper_class=structlog.make_filtering_bound_logger(logging.INFO)
    )
    monkeypatch.setattr("relay.clients.processes.file_extractor.log", told)
    assert await refused("broken") == BROKEN
    logged = capsys.readouterr().out
    assert "RuntimeError" in logged
    assert "somebody's words" not in logged


async def test_printed_output_is_not_kept() -> None:
    told, _ = await extractor().open("probe", b"", how="noisy")
    assert told == {}


async def test_a_file_larger_than_the_memory_is_refused() -> None:
    with pytest.raises(MediaRefused, match=TOO_MUCH):
        await extractor(memory=200 * 2**20).open("probe", bytes(300 * 2**20), how="echo")


async def test_processes_are_limited_in_number_and_ended_on_cancellation(tmp_path: Path) -> None:
    one = extractor()
    places = [tmp_path / str(number) for number in range(4)]
    working = [asyncio.create_task(one.open("probe", str(place).encode(), how="asleep")) for place in places]
    await until(lambda: sum(place.is_symlink() for place in places) == AT_ONCE)
    pids = [int(os.readlink(place)) for place in places if place.is_symlink()]
    assert all(lives(pid) for pid in pids)
    for task in working:
        task.cancel()
    await asyncio.gather(*working, return_exceptions=True)
    await until(lambda: not any(lives(pid) for pid in pids))
    assert sum(place.is_symlink() for place in places) == AT_ONCE


async def test_the_bot_itself_loads_no_library_that_opens_files() -> None:
    program = (
        "import sys; from relay.clients.processes.file_extractor import FileExtractor\n"
        "from tests.standins.fakes import FakeMessenger\n"
        "import relay.surfaces.telegram.turns.worker, relay.surfaces.server.bot\n"
        "from relay.runtime.media import make_reader, Settings\n"
        "make_reader(Settings(), FakeMessenger(), FileExtractor())\n"
        "print([name for name in ('PIL', 'av', 'pypdf', 'lxml') if name in sys.modules])"
    )
    run = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=subprocess.PIPE)
    printed, _ = await run.communicate()
    assert printed.strip() == b"[]"


async def test_the_process_ends_when_the_bot_ends(tmp_path: Path) -> None:
    place = tmp_path / "pid"
    program = (
        "import asyncio, sys; from relay.clients.processes.file_extractor import FileExtractor\n"
        f"asyncio.run(FileExtractor(program={PROGRAM!r}).open('probe', {str(place).encode()!r}, how='asleep'))"
    )
    bot = await asyncio.create_subprocess_exec(sys.executable, "-c", program)
    await until(place.is_symlink)
    pid = int(os.readlink(place))
    assert lives(pid)
    bot.kill()
    await bot.wait()
    await until(lambda: not lives(pid))


@pytest.mark.skipif(fence.ctypes.CDLL(None).syscall(444, None, 0, 1) < 1, reason="this system has no Landlock")
async def test_the_process_cannot_read_our_files(tmp_path: Path) -> None:
    ours = [ROOT / "pyproject.toml", ROOT / "tests/judged.py", Path("/etc/passwd"), Path("/proc/1/environ")]
    (told, _) = await extractor().open("probe", "\n".join(map(str, ours)).encode(), how="reading")
    assert told == {str(path): -errno.EACCES for path in ours}
    programs = ROOT / "relay/__init__.py"
    (told, _) = await extractor().open("probe", str(programs).encode(), how="reading")
    assert told[str(programs)] > 0


@pytest.mark.parametrize(("megabytes", "each", "many"), [(906, 384, 1), (1850, 462, 2), (24_000, 1024, 2)])
async def test_a_small_machine_gives_files_less_memory(
    monkeypatch: pytest.MonkeyPatch, megabytes: int, each: int, many: int
) -> None:
    monkeypatch.setattr(machine, "memory", lambda: megabytes * 2**20)
    made = FileExtractor()
    assert made._memory // 2**20 == each
    assert made._places._value == many


def test_the_available_memory_respects_the_limits_of_a_container(tmp_path: Path) -> None:
    (tmp_path / "system.slice/relay.service").mkdir(parents=True)
    own = tmp_path / "own"
    own.write_text("0::/system.slice/relay.service\n")
    assert machine.memory(tmp_path, own) > 2**20
    (tmp_path / "system.slice/relay.service/memory.max").write_text("max\n")
    (tmp_path / "system.slice/memory.max").write_text("1048576\n")
    assert machine.memory(tmp_path, own) == 2**20
    assert machine.memory(tmp_path, tmp_path / "none") > 2**20
