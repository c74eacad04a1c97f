"""The processes of the bot, each started again a moment after it ends, and their database."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections import Counter
from pathlib import Path

import psutil
import psycopg

from relay.clients.embedded.cluster import Cluster
from relay.clients.embedded.server import EmbeddedPostgres
from tests.acceptance.harness import RelayProcess

PAUSE_SECONDS = 0.5
"""So long after a process ended it is started again (systemd waits longer)."""


class Keeper:
    """Keeps processes running."""

    def __init__(self, processes: list[RelayProcess]) -> None:
        self.processes = processes
        self.killed_at: list[float] = []
        """When a process was killed (monotonic seconds)."""
        self.ended: Counter[str] = Counter()
        """How often one ended by itself, by its exit code."""
        self._killed: set[int] = set()

    async def keep(self) -> None:
        """Starts each process, and again whenever it has ended, until cancelled."""
        async with asyncio.TaskGroup() as all_of_them:
            for process in self.processes:
                all_of_them.create_task(self._keep(process))

    async def _keep(self, one: RelayProcess) -> None:
        while True:
            await one.start()
            assert one.process is not None
            code = await one.process.wait()
            if one.process.pid not in self._killed:
                self.ended[str(code)] += 1
            await asyncio.sleep(PAUSE_SECONDS)

    def kill(self, one: RelayProcess) -> bool:
        """kill -9, unless it is down anyway."""
        if one.process is None or one.process.returncode is not None:
            return False
        self._killed.add(one.process.pid)
        one.process.send_signal(signal.SIGKILL)
        self.killed_at.append(time.monotonic())
        return True


class Server:
    """The database of a run: one that the bot starts itself (`own` is None), or one of our own."""

    def __init__(self, data: Path, own: EmbeddedPostgres | None, url: str = "") -> None:
        """`url`: where a superuser reaches a database that is not called as Relay's own is."""
        self.data = data
        self.own = own
        self._url = url

    def processes(self) -> list[psutil.Process]:
        """The server, and its children."""
        with contextlib.suppress(OSError, ValueError, IndexError, psutil.Error):
            file = self.data / "postgres" / "postmaster.pid"
            server = psutil.Process(int(file.read_text().split()[0]))
            if server.name() == "postgres":
                return [server, *server.children(recursive=True)]
        return []

    def kill(self) -> bool:
        """kill -9 of the server; its children see that and end."""
        return self._send(self.processes()[:1], signal.SIGKILL)

    def freeze(self) -> bool:
        """It hangs: connections stay, and nothing answers."""
        return self._send(self.processes(), signal.SIGSTOP)

    def thaw(self) -> bool:
        """It goes on."""
        return self._send(self.processes(), signal.SIGCONT)

    def stop(self) -> bool:
        """A fast shutdown: every connection is ended."""
        return self._send(self.processes()[:1], signal.SIGINT)

    def _send(self, processes: list[psutil.Process], number: int) -> bool:
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)
        return bool(processes)

    async def up(self) -> None:
        """Makes sure that a server of our own runs; the bot takes care of its own."""
        if self.own is not None:
            await self.own.start()

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        """A superuser's connection."""
        cluster = Cluster(self.data)
        cluster.prepare()
        return psycopg.connect(self._url or cluster.url("postgres"), autocommit=True, connect_timeout=10)


def alive(folder: Path) -> list[str]:
    """The processes that belong to a folder: their command line or environment names it, or they are in it."""
    found = []
    for process in psutil.process_iter():
        if process.pid == os.getpid():
            continue
        with contextlib.suppress(psutil.Error, OSError):
            place = str(folder)
            words = [process.cwd(), *process.cmdline(), *process.environ().values()]
            if process.status() != psutil.STATUS_ZOMBIE and any(place in word for word in words):
                found.append(f"the process {' '.join(process.cmdline())[:90]}")
    return found
