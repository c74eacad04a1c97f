"""What stands while a run lasts: stand-ins, a disk, a clock, a database, and the bot's processes."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from asyncio import to_thread
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from relay.clients.embedded.server import EmbeddedPostgres
from tests.acceptance.crew import Balancer, free_port
from tests.acceptance.harness import RelayProcess, environment
from tests.acceptance.home import named
from tests.chaos import answers
from tests.chaos.bots import Keeper, Server
from tests.chaos.clock import Clock
from tests.chaos.crowd import PEOPLE
from tests.chaos.disk import Disk
from tests.standins.anthropic import AnthropicStandIn
from tests.standins.supabase import SupabaseProject
from tests.standins.telegram import TelegramStandIn

EARS = Path(__file__).parent / "ears"
"""What takes the place of a speech engine."""


@dataclass
class Plan:
    """What a run is made of."""

    seconds: float
    processes: int
    kills: int
    seed: int
    pause: float = 6.0
    """Seconds between two acts in one place, on the average."""
    trouble: float = 1.5
    """Seconds between two small troubles."""
    longest: float = 60.0
    """The longest time that the database is away (seconds)."""
    keep: str = ""
    """Where the logs go at the end; empty: nowhere."""
    webhook: bool = False
    """Telegram delivers, through a balancer; else it is asked."""
    supabase: bool = False
    """Everything is kept in a Supabase project, whose clock and disk are its own."""


@dataclass
class Stage:
    """Everything that stands while a run lasts."""

    folder: Path
    tg: TelegramStandIn
    model: AnthropicStandIn
    keeper: Keeper
    server: Server
    disk: Disk
    clock: Clock
    project: SupabaseProject | None


@contextlib.asynccontextmanager
async def stage(plan: Plan) -> AsyncIterator[Stage]:
    """Everything, with processes that are not started yet."""
    folder = Path(tempfile.mkdtemp(prefix="relay-chaos-"))
    os.chmod(folder, 0o711)  # noqa: S103 — the server may run as another user
    (folder / "tmp").mkdir()
    disk, clock = Disk(folder / "disk", not plan.supabase), Clock(folder, plan.seconds, not plan.supabase)
    try:
        async with contextlib.AsyncExitStack() as open_things:
            tg = await open_things.enter_async_context(TelegramStandIn())
            model = await open_things.enter_async_context(AnthropicStandIn())
            project = await open_things.enter_async_context(SupabaseProject()) if plan.supabase else None
            balancer = await open_things.enter_async_context(Balancer().open()) if plan.webhook else None
            tg.clock_ahead = clock.ahead
            model.rule(None, answers.answer)
            server, settings = await storage(plan, disk, project)
            settings |= of_all(folder, clock)
            keeper = Keeper([])
            here = Stage(folder, tg, model, keeper, server, disk, clock, project)
            keeper.processes += [bot(here, settings, number, balancer) for number in range(plan.processes)]
            yield here
    finally:
        clock.close()
        if plan.keep:
            keep_logs(folder, Path(plan.keep))
        disk.close()
        shutil.rmtree(folder, ignore_errors=True)


async def storage(plan: Plan, disk: Disk, project: SupabaseProject | None) -> tuple[Server, dict[str, str]]:
    """The database, and the settings that name it."""
    if project is not None:
        await to_thread(project.migrate)
        for statement in ("alter system reset synchronous_commit", "select pg_reload_conf()"):
            await to_thread(project.database.execute, "postgres", statement)  # it will be killed
        own = EmbeddedPostgres(project.folder / "data")
        await own.start()
        return Server(project.folder / "data", own, project.database.url("project", "postgres")), named(project)
    if plan.processes > 1:
        own = EmbeddedPostgres(disk.path / "server")
        return Server(disk.path / "server", own), {"DATABASE_URL": await own.start()}
    return Server(disk.path / "data-0", None), {}


def of_all(folder: Path, clock: Clock) -> dict[str, str]:
    """The settings of every process."""
    return {
        "RELAY_USERS": ",".join(map(str, PEOPLE)),
        "RELAY_MODEL_TIMEOUT": "5",
        "RELAY_STT": "faster-whisper",
        "RELAY_WHISPER_MODEL": str(EARS),
        "TMPDIR": str(folder / "tmp"),
        "PYTHONPATH": os.pathsep.join([str(EARS), *clock.paths, os.environ.get("PYTHONPATH", "")]),
    }


def bot(here: Stage, settings: dict[str, str], number: int, balancer: Balancer | None) -> RelayProcess:
    """One of the processes."""
    if balancer is not None:
        balancer.ports.append(port := free_port())
        settings = settings | {"RELAY_WEBHOOK_URL": balancer.url, "RELAY_WEBHOOK_PORT": str(port)}
    settings = environment(here.tg, here.model, here.disk.path / f"data-{number}", **settings)
    return RelayProcess(settings, here.folder / f"relay-{number}.log")


def keep_logs(folder: Path, kept: Path) -> None:
    """Puts the logs of a run into another folder."""
    kept.mkdir(parents=True, exist_ok=True)
    for log in (*folder.glob("*.log"), *folder.glob("disk/*/postgres.log")):
        shutil.copy(log, kept / f"{log.parent.name if log.name == 'postgres.log' else 'relay'}-{log.name}")
