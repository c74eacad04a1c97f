"""The surroundings of a run: stand-ins, a disk, a clock, a database, and the bot's processes."""

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
from tests.acceptance.harness import OWNER, RelayProcess, environment
from tests.acceptance.process_group import Balancer, free_port
from tests.acceptance.supabase_relay import supabase_settings
from tests.chaos import answers
from tests.chaos.bots import ProcessKeeper, Server
from tests.chaos.clock import Clock
from tests.chaos.crowd import PEOPLE
from tests.chaos.disk import Disk
from tests.standins.anthropic import AnthropicStandIn
from tests.standins.supabase import SupabaseProject
from tests.standins.telegram import TelegramStandIn

SPEECH_TO_TEXT = Path(__file__).parent / "speech_to_text"
"""The replacement for a speech-to-text engine."""


@dataclass
class Plan:
    """The settings of a run."""

    seconds: float
    processes: int
    kills: int
    seed: int
    pause: float = 6.0
    """Average seconds between two acts in one place."""
    trouble: float = 1.5
    """Seconds between two small faults."""
    longest: float = 60.0
    """The longest database outage (seconds)."""
    keep: str = ""
    """The folder for the logs at the end; empty for none."""
    webhook: bool = False
    """Telegram delivers by a webhook through a balancer. Otherwise the bot polls."""
    supabase: bool = False
    """Everything is stored in a Supabase project, which has its own clock and disk."""


@dataclass
class Stage:
    """The surroundings of a run."""

    folder: Path
    tg: TelegramStandIn
    model: AnthropicStandIn
    keeper: ProcessKeeper
    server: Server
    disk: Disk
    clock: Clock
    project: SupabaseProject | None


@contextlib.asynccontextmanager
async def stage(plan: Plan) -> AsyncIterator[Stage]:
    """Sets everything up, with processes that aren't started yet."""
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
            tg.dm(tg.user(OWNER))  # the receiver of alerts
            model.rule(None, answers.answer)
            server, settings = await storage(plan, disk, project)
            settings |= of_all(folder, clock)
            keeper = ProcessKeeper([])
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
    """Returns the database and the settings that name it."""
    if project is not None:
        await to_thread(project.migrate)
        for statement in ("alter system reset synchronous_commit", "select pg_reload_conf()"):
            await to_thread(project.database.execute, "postgres", statement)  # it will be killed
        own = EmbeddedPostgres(project.folder / "data")
        await own.start()
        return Server(project.folder / "data", own, project.database.url("project", "postgres")), supabase_settings(
            project
        )
    if plan.processes > 1:
        own = EmbeddedPostgres(disk.path / "server")
        return Server(disk.path / "server", own), {"DATABASE_URL": await own.start()}
    return Server(disk.path / "data-0", None), {}


def of_all(folder: Path, clock: Clock) -> dict[str, str]:
    """Returns the settings of every process."""
    return {
        "RELAY_USERS": ",".join(map(str, PEOPLE)),
        "RELAY_MODEL_TIMEOUT": "5",
        "RELAY_STT": "faster-whisper",
        "RELAY_WHISPER_MODEL": str(SPEECH_TO_TEXT),
        "TMPDIR": str(folder / "tmp"),
        "PYTHONPATH": os.pathsep.join([str(SPEECH_TO_TEXT), *clock.paths, os.environ.get("PYTHONPATH", "")]),
    }


def bot(here: Stage, settings: dict[str, str], number: int, balancer: Balancer | None) -> RelayProcess:
    """Returns one of the processes."""
    if balancer is not None:
        balancer.ports.append(port := free_port())
        settings = settings | {"RELAY_WEBHOOK_URL": balancer.url, "RELAY_WEBHOOK_PORT": str(port)}
    settings = environment(here.tg, here.model, here.disk.path / f"data-{number}", **settings)
    return RelayProcess(settings, here.folder / f"relay-{number}.log")


def keep_logs(folder: Path, kept: Path) -> None:
    """Copies the logs of a run to another folder."""
    kept.mkdir(parents=True, exist_ok=True)
    for log in (*folder.glob("*.log"), *folder.glob("disk/*/postgres.log")):
        shutil.copy(log, kept / f"{log.parent.name if log.name == 'postgres.log' else 'relay'}-{log.name}")
