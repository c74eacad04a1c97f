"""Benchmark of albums: how many requests an album makes, and how long its answer takes."""

from __future__ import annotations

import argparse
import asyncio

from tests.benchmarks.lab import Lab, Row, median, p95, polling
from tests.pictures import picture

PHOTOS, ALBUMS = 10, 8


async def album(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Sends albums of ten different photos. The model answers at once."""
    photos = []
    for number in range(PHOTOS * ALBUMS):
        path = lab.folder / f"{number}.jpg"
        await asyncio.to_thread(path.write_bytes, picture(width=1280 - number, height=960))
        photos.append(str(path))
    model = await lab.start("-m", "tests.standins.anthropic", "--keep", "100", speaks=True)
    tg = await lab.crowd()
    bot = await lab.relay(tg, model)
    await polling(tg, bot)
    await tg.post("/_bench/one_by_one", messages=20, pause=0.02)
    before, took = (await model.get("/_control/stats"))["requests"], list[float]()
    for start in range(0, len(photos), PHOTOS):
        took += await tg.post("/_bench/album", files=photos[start : start + PHOTOS])
    asked = await model.get(f"/_control/requests?since={before}")
    requests = sum("haiku" not in one["body"]["model"] for one in asked)
    told = f"{requests / ALBUMS:g} ({ALBUMS} albums; titles and summaries not counted)"
    return [
        Row("requests to the model for an album of 10 photos", "1", told, requests == ALBUMS),
        Row("album of 10 photos to its answer: median (p95)", "", f"{median(took):.0f} ms ({p95(took):.0f})"),
    ]
