"""Benchmarks of the whole bot between stand-ins: latency, throughput, startup, memory."""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time

from tests.benchmarks.lab import PEOPLE, Child, Lab, Row, cpu, median, memory, p95, polling, postmaster

WARM_UP = 120
"""The most seconds until everybody is answered once. A busy machine takes long."""


async def latency(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Measures one message end to end, alternating between Relay and the echo bot so that both see the same machine."""
    model = await lab.model()
    sides = {"echo": await lab.crowd(), "relay": await lab.crowd()}
    bots = {"echo": await lab.echo(sides["echo"], model), "relay": await lab.relay(sides["relay"], model)}
    for name, tg in sides.items():
        await polling(tg, bots[name])
        await tg.post("/_bench/one_by_one", messages=30, pause=0.02)
    took: dict[str, list[float]] = {"echo": [], "relay": []}
    for _ in range(options.rounds):
        for name, tg in sides.items():
            took[name] += await tg.post("/_bench/one_by_one", messages=50, pause=0.02)
    echo, relay = median(took["echo"]), median(took["relay"])
    return [
        Row("latency, echo bot: median (p95)", "", f"{echo:.1f} ms ({p95(took['echo']):.1f})"),
        Row("latency, Relay: median (p95)", "≤ 10 ms", f"{relay:.1f} ms ({p95(took['relay']):.1f})", relay <= 10),
        Row("latency, Relay / echo bot", "≤ 2.5", f"{relay / echo:.2f}", relay / echo <= 2.5),
    ]


async def busy(tg: Child, seconds: float, **watched: int) -> tuple[float, float, str]:
    """Measures 50 people after each was answered once. Returns the turns per second, the median latency, and the CPU
    time per turn of each process. Raises `RuntimeError` if nobody is answered."""
    await tg.post("/_bench/start", people=PEOPLE)
    await warmed(tg)
    before, used = await tg.post("/_bench/count"), {name: cpu(pid, name == "postgres") for name, pid in watched.items()}
    await asyncio.sleep(seconds)
    after = await tg.post("/_bench/count")
    turns = after["answers"] - before["answers"]
    if not turns:
        raise RuntimeError(
            f"No answer came within {seconds:.0f} s (load {os.getloadavg()[0]:.0f}): see the output with --keep"
        )
    shares = {name: (cpu(pid, name == "postgres") - used[name]) / turns * 1000 for name, pid in watched.items()}
    await tg.post("/_bench/hush")
    told = ", ".join(f"{name} {share:.1f}" for name, share in shares.items())
    took = [heard - handed for handed, heard in after["turns"][-turns:]]
    return turns / (after["now"] - before["now"]), median(took), told


async def warmed(tg: Child) -> None:
    """Waits until there are as many answers as people, so that first answers of a process aren't measured."""
    until = time.monotonic() + WARM_UP
    while (await tg.post("/_bench/count"))["answers"] < PEOPLE:
        if time.monotonic() > until:
            raise RuntimeError(f"Not everybody was answered within {WARM_UP} s (load {os.getloadavg()[0]:.0f})")
        await asyncio.sleep(0.2)


async def throughput(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Runs 50 chats in a closed loop: with an instant model, beside the echo bot, and with a model that takes a
    second."""
    rows = []
    model, seconds = await lab.model(), options.seconds
    tg = await lab.crowd()
    echo = await lab.echo(tg, model)
    await polling(tg, echo)
    rate, middle, shares = await busy(tg, seconds, bot=echo.pid, telegram=tg.pid, model=model.pid)
    rows.append(Row("turns/s, instant model, echo bot", "", f"{rate:.0f}/s (CPU ms/turn: {shares})"))
    await echo.end()
    tg = await lab.crowd()
    relay = await lab.relay(tg, model)
    await polling(tg, relay)
    pids = {"bot": relay.pid, "postgres": postmaster(lab.folder / "data"), "telegram": tg.pid, "model": model.pid}
    rate, middle, shares = await busy(tg, seconds, **pids)
    rows.append(Row("turns/s, instant model, Relay", "≥ 100/s", f"{rate:.0f}/s (CPU ms/turn: {shares})", rate >= 100))
    await model.post("/_control/settings", delay=1.0)
    rate, middle, shares = await busy(tg, seconds, **pids)
    told = f"{rate:.1f}/s (median {middle:.0f} ms; CPU ms/turn: {shares})"
    rows.append(Row("turns/s, model takes 1 s, Relay", "≥ 40/s", told, rate >= 40))
    return rows


async def start(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Measures from the start of the process to its first poll, with an existing database whose server is stopped."""
    model, tg = await lab.model(), await lab.crowd()
    bot = await lab.relay(tg, model)
    fresh = await polling(tg, bot)
    took, echoes = [], []
    for _ in range(options.starts):
        await bot.end()
        bot = await lab.relay(tg, model)
        took.append(await polling(tg, bot))
    await bot.end()
    for _ in range(options.starts):
        bot = await lab.echo(tg, model)
        echoes.append(await polling(tg, bot))
        await bot.end()
    middle = statistics.median(took)
    told = f"{middle:.2f} s ({min(took):.2f}–{max(took):.2f}; {len(took)} starts)"
    return [
        Row("start to first poll, echo bot", "", f"{statistics.median(echoes):.2f} s"),
        Row("start to first poll, Relay, existing database", "≤ 2 s", told, middle <= 2),
        Row("start to first poll, Relay, no database yet", "", f"{fresh:.2f} s"),
    ]


async def idle_memory(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Measures the Python process after its first turns, when idle."""
    model, rows = await lab.model(), []
    for name, bound in (("echo", 0), ("relay", 140)):
        tg = await lab.crowd()
        bot = await (lab.echo if name == "echo" else lab.relay)(tg, model)
        await polling(tg, bot)
        await tg.post("/_bench/one_by_one", messages=20, pause=0.02)
        await asyncio.sleep(options.idle)
        pss, rss = memory(bot.pid)
        told = f"RSS {rss:.0f} MB, PSS {pss:.0f} MB"
        if bound:
            rows.append(Row("memory idle, Relay", f"≤ {bound} MB", told, rss <= bound))
        else:
            rows.append(Row("memory idle, echo bot", "", told))
        await bot.end()
    return rows
