"""Turns per second of three processes on one database, compared with one process."""

from __future__ import annotations

import argparse
import asyncio
import os

import psycopg

from relay.clients.embedded.server import EmbeddedPostgres
from tests.benchmarks.chat import busy
from tests.benchmarks.lab import Child, Lab, Row, polling, postmaster

MODEL_SECONDS = 0.2
SERVING = "select count(*) from relay.duty where name like 'serve:%' and lease_until > now()"


async def processes(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Runs 50 people with a model that takes 0.2 s. With many answers at a time, the CPU is the limit. With few, a
    process's own limit is (with two, even on a busy machine)."""
    model, rows = await lab.model(), []
    await model.post("/_control/settings", delay=MODEL_SECONDS)
    for room in (64, 8, 2):
        rates = {}
        for size in (1, 3):
            rates[size], told = await measured(lab, model, size, room, options.seconds)
            print(f"{size} of {room}: {told}", flush=True)
            rows.append(Row(f"turns/s, {size} of {room} answers at a time, model takes 0.2 s", "", told))
        ratio = rates[3] / rates[1]
        rows.append(Row(f"three processes / one, {room} answers at a time", "≥ 2", f"{ratio:.2f}", ratio >= 2))
    return rows


async def measured(lab: Lab, model: Child, size: int, room: int, seconds: float) -> tuple[float, str]:
    """Returns the turns per second of this many polling processes on a fresh database, and a report."""
    folder = lab.folder / f"server-{size}-{room}"
    folder.mkdir(mode=0o711)
    server = EmbeddedPostgres(folder)
    url = await server.start()
    tg = await lab.crowd()
    bots = []
    try:
        for number in range(size):
            bots.append(await lab.relay(tg, model, data=f"data-{size}-{room}-{number}", DATABASE_URL=url,
                                        RELAY_CONCURRENCY=str(room), RELAY_WEB="off"))  # fmt: skip
            if number == 0:
                await polling(tg, bots[0])
        await serving(server.superuser_url, size)
        pids = {f"bot {number}": bot.pid for number, bot in enumerate(bots, 1)}
        watched = {**pids, "postgres": postmaster(folder), "telegram": tg.pid, "model": model.pid}
        rate, middle, shares = await busy(tg, seconds, **watched)
        return rate, f"{rate:.1f}/s (median {middle:.0f} ms; CPU ms/turn: {shares}; load {os.getloadavg()[0]:.0f})"
    finally:
        for bot in bots:
            await bot.end()
        await tg.end()
        await server.stop()


async def serving(url: str, size: int) -> None:
    """Waits until this many processes have announced themselves."""
    async with asyncio.timeout(60):
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            while True:
                row = await (await connection.execute(SERVING.encode())).fetchone()
                if row and row[0] >= size:
                    return
                await asyncio.sleep(0.2)
