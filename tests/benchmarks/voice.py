"""Benchmarks of speech to text: its speed, how it delays the loop, and how much memory of the bot it leaves in use.
They need what scripts/heavy installs."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import statistics
import time
from collections.abc import AsyncIterator

from relay.clients.speech import speech_to_text as ears_module
from relay.clients.speech.installed import is_installed
from relay.clients.speech.speech_to_text import Whisper
from tests.benchmarks.lab import Lab, Row, memory, polling
from tests.speech import LACKING, spoken, whisper_base

NOTE = (
    "Good morning. Please remind me to buy three bottles of milk on Friday, and call my sister Anna in the evening, "
    "because she has moved to another town and I would like to know her new address."
)
SHORT = "What is the time in Berlin?"
TICK = 0.002


def _lacking() -> list[Row]:
    """Returns why nothing was measured; empty if nothing is missing."""
    missing = LACKING or ([] if is_installed("faster-whisper") else ["faster-whisper"])
    return [Row("hearing", "", f"not measured: {', '.join(missing)} missing (scripts/heavy)")] if missing else []


@contextlib.asynccontextmanager
async def lags() -> AsyncIterator[list[float]]:
    """Yields how many seconds late the loop resumed a task that repeatedly sleeps for `TICK`."""
    late: list[float] = []

    async def tick() -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(TICK)
            late.append(time.monotonic() - before - TICK)

    ticking = asyncio.create_task(tick())
    try:
        yield late
    finally:
        ticking.cancel()


async def hearing(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Transcribes a note of ten seconds on one CPU, with the model loaded."""
    if missing := _lacking():
        return missing
    ears_module.THREADS = 1
    ears = Whisper("faster-whisper", str(whisper_base(lab.folder)), "", 20, lab.folder)
    note, took = spoken(NOTE), []
    await ears.preload()
    seconds = (await ears.hear(note)).seconds
    async with lags() as late:
        for _ in range(options.rounds):
            before = time.monotonic()
            await ears.hear(note)
            took.append(time.monotonic() - before)
    _, rss = memory(ears.pid or 0)
    await ears.close()
    factor, p99 = statistics.median(took) / seconds, statistics.quantiles(late, n=100)[-1] * 1000
    told = f"{factor:.2f} ({statistics.median(took):.1f} s for {seconds} s; its process: RSS {rss:.0f} MB)"
    return [
        Row("hearing, faster-whisper base int8, one core: × real time", "≤ 0.5", told, factor <= 0.5),
        Row("loop lag meanwhile: p99 (most)", "< 50 ms", f"{p99:.1f} ms ({max(late) * 1000:.1f})", p99 < 50),
    ]


async def notes(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Measures how much memory many voice notes leave in use in the bot's process."""
    if missing := _lacking():
        return missing
    note = lab.folder / "note.ogg"
    await asyncio.to_thread(note.write_bytes, spoken(SHORT))
    model, tg = await lab.model(), await lab.crowd()
    weights = str(await asyncio.to_thread(whisper_base, lab.folder))
    bot = await lab.relay(tg, model, RELAY_WHISPER_MODEL=weights, RELAY_VOICE_ECHO="off", RELAY_TTS="off")
    await polling(tg, bot)
    await tg.post("/_bench/one_by_one", messages=20, pause=0.02)
    _, before = memory(bot.pid)
    took: list[float] = []
    for _ in range(0, options.notes, 10):
        took += await tg.post("/_bench/voice", file=str(note), notes=10)
    _, after = memory(bot.pid)
    told = f"{after - before:+.0f} MB ({before:.0f} → {after:.0f}; {statistics.median(took):.1f} s a note)"
    return [Row(f"the bot's memory after {len(took)} voice notes", "≤ +50 MB", told, after - before <= 50)]
