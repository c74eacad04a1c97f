"""Several processes of one bot on one database, and a load balancer between them and Telegram."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from aiohttp import web

from relay.clients.embedded.server import EmbeddedPostgres
from tests.acceptance.harness import RelayProcess
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.places import furnish


def free_port() -> int:
    """Returns a port that no process listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@dataclass
class Balancer:
    """Passes each request to the next of several ports, as a load balancer does. Answers 502 if no process listens
    there."""

    ports: list[int] = field(default_factory=list)
    url: str = ""
    only: int | None = None
    """The index of the port that gets every request, if any."""
    _turns: itertools.count[int] = field(default_factory=itertools.count)

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[Balancer]:
        async with aiohttp.ClientSession() as self._session:
            application = web.Application()
            application.router.add_route("*", "/{path:.*}", self._forward)
            runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/relay/hook"
            try:
                yield self
            finally:
                await runner.cleanup()

    async def _forward(self, request: web.Request) -> web.Response:
        place = next(self._turns) % len(self.ports) if self.only is None else self.only
        headers = {name: request.headers[name] for name in request.headers if name.startswith("X-Telegram")}
        url = f"http://127.0.0.1:{self.ports[place]}{request.path}"
        try:
            async with self._session.post(url, data=await request.read(), headers=headers) as answer:
                return web.Response(status=answer.status, body=await answer.read())
        except aiohttp.ClientError:
            return web.Response(status=502)


@contextlib.asynccontextmanager
async def postgres() -> AsyncIterator[EmbeddedPostgres]:
    """A server that several processes can share, with a migrated database."""
    with tempfile.TemporaryDirectory(prefix="relay-server-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o711)  # noqa: S103 — the server may run as another user
        await furnish(Path(folder) / "data")
        server = EmbeddedPostgres(Path(folder) / "data")
        try:
            yield server
        finally:
            await server.stop()


@dataclass
class ProcessGroup:
    """A bot that runs as several processes."""

    shared_relay: SharedRelay
    processes: list[RelayProcess]

    def logs(self) -> str:
        return "\n".join(process.output() for process in self.processes)

    def polls(self) -> RelayProcess | None:
        """The process that holds the polling lease."""
        rows = self.shared_relay.sql(
            "select lease_owner from relay.duty where name like 'poll:%' and lease_until > now()"
        )
        names = {str(owner) for (owner,) in rows}
        return next((one for one in self.processes if _name(one) in names), None)


def _name(process: RelayProcess) -> str:
    file = Path(process.environment["RELAY_DATA_DIR"]) / "instances" / "0"
    return file.read_text("ascii").strip() if file.exists() else "-"


@contextlib.asynccontextmanager
async def open_process_group(
    size: int, balancer: Balancer | None = None, **settings: str
) -> AsyncIterator[ProcessGroup]:
    """Starts `size` processes of one bot on one database, with polling or with a webhook behind a balancer."""
    async with contextlib.AsyncExitStack() as stack:
        server = await stack.enter_async_context(postgres())
        shared_relay = await stack.enter_async_context(
            open_relay(start=False, DATABASE_URL=await server.start(), **settings)
        )
        processes = [shared_relay.relay]
        for number in range(size):
            own = {"RELAY_DATA_DIR": str(shared_relay.data.with_name(f"data-{number}"))}
            if balancer is not None:
                balancer.ports.append(free_port())
                own |= {"RELAY_WEBHOOK_URL": balancer.url, "RELAY_WEBHOOK_PORT": str(balancer.ports[-1])}
            if number == 0:
                shared_relay.relay.environment |= own
                continue
            process = RelayProcess(
                {**shared_relay.relay.environment, **own}, shared_relay.relay.log.with_name(f"{number}.log")
            )
            processes.append(process)
        process_group = ProcessGroup(shared_relay, processes)
        try:
            await processes[0].start()
            await shared_relay.polled()
            for process in processes[1:]:
                await process.start()
            await shared_relay.tg.wait_for(lambda: all("relay is running" in one.output() for one in processes), 60)
            yield process_group
            assert [line for line in process_group.logs().splitlines() if "Traceback" in line] == []
        finally:
            for process in processes:
                if process.process is not None:
                    await process.stop()
