"""The processes of the bot, each restarted shortly after it ends, and their database."""

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
"""The pause before an ended process is restarted (systemd waits longer)."""


class ProcessKeeper:
    """Keeps processes running."""

    def __init__(self, processes: list[RelayProcess]) -> None:
        self.processes = processes
        self.killed_at: list[float] = []
        """When each process was killed (monotonic seconds)."""
        self.ended: Counter[str] = Counter()
        """How many processes ended by themselves, by exit code."""
        self._killed: set[int] = set()

    async def keep(self) -> None:
        """Starts each process and restarts it whenever it ends, until cancelled."""
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
        """Sends SIGKILL. Returns False if the process is already down."""
        if one.process is None or one.process.returncode is not None:
            return False
        self._killed.add(one.process.pid)
        one.process.send_signal(signal.SIGKILL)
        self.killed_at.append(time.monotonic())
        return True


class Server:
    """The database of a run. Without `own`, the bot starts it itself."""

    def __init__(self, data: Path, own: EmbeddedPostgres | None, url: str = "") -> None:
        """`url` is a superuser's address of a database that isn't named like Relay's."""
        self.data = data
        self.own = own
        self._url = url

    def processes(self) -> list[psutil.Process]:
        """Returns the server and its children."""
        with contextlib.suppress(OSError, ValueError, IndexError, psutil.Error):
            file = self.data / "postgres" / "postmaster.pid"
            server = psutil.Process(int(file.read_text().split()[0]))
            if server.name() == "postgres":
                return [server, *server.children(recursive=True)]
        return []

    def kill(self) -> bool:
        """Sends SIGKILL to the server. Its children notice and end."""
        return self._send(self.processes()[:1], signal.SIGKILL)

    def freeze(self) -> bool:
        """Freezes the server: connections stay open, and nothing answers."""
        return self._send(self.processes(), signal.SIGSTOP)

    def thaw(self) -> bool:
        """Resumes the server."""
        return self._send(self.processes(), signal.SIGCONT)

    def stop(self) -> bool:
        """Shuts the server down fast, which ends every connection."""
        return self._send(self.processes()[:1], signal.SIGINT)

    def _send(self, processes: list[psutil.Process], number: int) -> bool:
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)
        return bool(processes)

    async def up(self) -> None:
        """Makes sure that our own server runs. The bot starts the embedded one itself."""
        if self.own is not None:
            await self.own.start()

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        """Opens a superuser's connection."""
        cluster = Cluster(self.data)
        cluster.prepare()
        return psycopg.connect(self._url or cluster.url("postgres"), autocommit=True, connect_timeout=10)


def alive(folder: Path) -> list[str]:
    """Returns the processes that belong to a folder: their command line or environment names it, or they run in it."""
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
