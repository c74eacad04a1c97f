"""Processes to measure: stand-ins, the bots between them, and their resource usage."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import signal
import statistics
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from tests.benchmarks.crowd import FIRST_USER
from tests.standins.telegram.values import TEST_TOKEN

ROOT = Path(__file__).parents[2]
TICKS = os.sysconf("SC_CLK_TCK")
COMPILED = {"PYTHONDONTWRITEBYTECODE": ""}
"""Compiled modules are cached, as when installed. A shell that turns this off adds 0.2 s to each start."""
PEOPLE = 50
"""The number of people in a crowd, who may all use the bot."""


@dataclass
class Row:
    """One line of the table."""

    what: str
    bound: str
    measured: str
    ok: bool | None = None
    """None: reported without a verdict."""


@dataclass
class Child:
    """A process of ours, with its address if it prints one."""

    process: asyncio.subprocess.Process
    url: str = ""
    started: float = field(default_factory=time.monotonic)

    @property
    def pid(self) -> int:
        return self.process.pid

    async def post(self, path: str, **arguments: Any) -> Any:
        """Makes one call to a stand-in's control surface."""
        timeout = aiohttp.ClientTimeout(total=300)
        session = aiohttp.ClientSession(timeout=timeout)
        async with session, session.post(self.url + path, json=arguments) as response:
            if response.status != 200:
                raise RuntimeError(f"{path}: {await response.text()}")
            return await response.json()

    async def get(self, path: str) -> Any:
        async with aiohttp.ClientSession() as session, session.get(self.url + path) as response:
            return await response.json()

    async def delete(self, path: str) -> Any:
        async with aiohttp.ClientSession() as session, session.delete(self.url + path) as response:
            return await response.json()

    async def end(self, number: int = signal.SIGTERM) -> None:
        if self.process.returncode is None:
            self.process.send_signal(number)
            async with asyncio.timeout(40):
                await self.process.wait()


async def spawn(*command: str, log: Path | None = None, speaks: bool = False, **environment: str) -> Child:
    """Starts `python …` in the checkout. With `speaks`, the first line of its output is its address."""
    with open(log or os.devnull, "ab") as output:  # noqa: ASYNC230
        started = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, cwd=ROOT, env=os.environ | COMPILED | environment,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE if speaks else output, stderr=output,
        )  # fmt: skip
    child = Child(process, started=started)
    if speaks:
        assert process.stdout is not None
        child.url = (await asyncio.wait_for(process.stdout.readline(), 30)).decode().strip()
    return child


@dataclass
class Lab:
    """A folder and everything started in it, which ends with the lab."""

    folder: Path
    children: list[Child] = field(default_factory=list)

    async def start(self, *command: str, speaks: bool = False, **environment: str) -> Child:
        child = await spawn(*command, log=self.folder / "output.log", speaks=speaks, **environment)
        self.children.append(child)
        return child

    async def crowd(self, people: int = PEOPLE) -> Child:
        """Starts a Telegram with people in it."""
        tg = await self.start("-m", "tests.benchmarks.crowd", speaks=True)
        await tg.post("/_bench/people", count=people)
        return tg

    async def model(self) -> Child:
        return await self.start("-m", "tests.standins.anthropic", "--keep", "1", speaks=True)

    async def relay(
        self, tg: Child, model: Child, data: str = "data", program: Sequence[str] = ("relay", "run"), **more: str
    ) -> Child:
        """Starts `relay run` as when installed, but without the embedder, on a data directory of this lab."""
        users = ",".join(str(FIRST_USER + number) for number in range(PEOPLE))
        settings = {"RELAY_LOG_FORMAT": "json", "RELAY_USERS": users, "RELAY_EMBEDDER": "off"}
        return await self.start("-m", *program, **{**settings, **self.at(data), **between(tg, model), **more})

    async def relay_once(self, data: str, *command: str, **more: str) -> str:
        """Runs `relay …` on a data directory of this lab and returns its output. Raises `RuntimeError` if it fails."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "relay", *command, cwd=ROOT, env=os.environ | self.at(data) | more,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        async with asyncio.timeout(600):
            told, trouble = await process.communicate()
        if process.returncode:
            raise RuntimeError(f"relay {' '.join(command)}: {trouble.decode()[-2000:]}")
        return told.decode()

    def at(self, data: str) -> dict[str, str]:
        """Returns the setting that names a data directory of this lab."""
        return {"RELAY_DATA_DIR": str(self.folder / data)}

    async def echo(self, tg: Child, model: Child) -> Child:
        return await self.start("-m", "tests.benchmarks.echo_bot", **between(tg, model))


def between(tg: Child, model: Child) -> dict[str, str]:
    """Returns the environment of a bot between two stand-ins."""
    return {
        "TELEGRAM_BOT_TOKEN": TEST_TOKEN,
        "TELEGRAM_API_URL": tg.url,
        "ANTHROPIC_API_KEY": "sk-ant-test",
        "ANTHROPIC_BASE_URL": model.url,
        "RELAY_TIMEZONE": "Europe/Berlin",
        "PYTHONUNBUFFERED": "1",
    }


@contextlib.asynccontextmanager
async def lab(folder: Path) -> AsyncIterator[Lab]:
    """Opens a lab. Its processes end in the reverse order of their start."""
    opened = Lab(folder)
    try:
        yield opened
    finally:
        for child in reversed(opened.children):
            await child.end()


async def polling(tg: Child, bot: Child) -> float:
    """Waits for a bot's first poll. Returns the seconds since its start."""
    first = asyncio.create_task(tg.post("/_bench/first", method="getUpdates", after=bot.started))
    ended = asyncio.create_task(bot.process.wait())
    await asyncio.wait({first, ended}, return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    if not first.done():
        first.cancel()
        raise RuntimeError("the bot ended before its first poll: see its output with --keep")
    return float(first.result()) - bot.started


def cpu(pid: int, children: bool = False) -> float:
    """Returns the CPU seconds that a process has used. With `children`, includes its children, even those that have
    ended."""
    used = 0.0
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        used = sum(map(int, fields[11 : 15 if children else 13])) / TICKS
        for task in Path(f"/proc/{pid}/task").iterdir() if children else ():
            used += sum(cpu(int(child), True) for child in (task / "children").read_text().split())
    return used


def postmaster(folder: Path) -> int:
    """Returns the process id of the database server of a data directory."""
    return int((folder / "postgres/postmaster.pid").read_text().split()[0])


def memory(pid: int) -> tuple[float, float]:
    """Returns a process's PSS and RSS, in MB (10⁶ bytes). PSS is NaN if it isn't readable."""
    try:
        told = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except PermissionError:  # only root may read the bot's
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return math.nan, pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    lines = (line.split() for line in told.splitlines()[1:])
    sizes = {line[0]: int(line[1]) * 1024 / 1e6 for line in lines}
    return sizes["Pss:"], sizes["Rss:"]


def median(seconds: Sequence[float]) -> float:
    """Returns the median in milliseconds."""
    return statistics.median(seconds) * 1000


def p95(seconds: Sequence[float]) -> float:
    """Returns the 95th percentile in milliseconds."""
    return statistics.quantiles(seconds, n=20)[-1] * 1000
