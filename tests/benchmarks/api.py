"""How long each page of the API takes in a library of 100,000 memories, 10,000 sessions and 3,000 versions."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import httpx
import psycopg
from psycopg.rows import dict_row

from tests.benchmarks.crowd import FIRST_USER
from tests.benchmarks.generated import Size, fill
from tests.benchmarks.lab import Lab, Row, median, p95
from tests.benchmarks.opened import open_store
from tests.integration.api import open_api

SIZE = Size(messages=100_000, memories=100_000, threads=200, spaces=2, largest=100_000, exchanges=5)
LIBRARY = Path(__file__).parent / "library.sql"
BOUND = 50
ROUNDS = 40
NUMBERS = """select (select id from relay.memory order by id desc limit 1) as memory,
    (select content from relay.memory order by id desc limit 1) as words,
    (select session_id from relay.compression group by 1 order by count(*) desc limit 1) as session,
    (select max(id) from relay.turn) as turn, (select max(id) from relay.composition) as composition,
    (select max(id) from relay.reminder) as reminder"""
PAGES = (
    "/api/me",
    "/api/memories",
    "/api/memories?limit=200",
    "/api/memories?cursor=90000",
    "/api/memories?q={word}",
    "/api/memories?q=likes",
    "/api/memories?q=tag7",
    "/api/memories?q=submarine",
    "/api/memories?kind=learning&category=knowledge",
    "/api/memories?state=unconfirmed",
    "/api/memories?state=unconfirmed&cursor=9000",
    "/api/memories?state=pinned",
    "/api/memories?state=past",
    "/api/memories?state=pending",
    "/api/memories/{memory}",
    "/api/memories/{memory}/source",
    "/api/memories/{memory}/history",
    "/api/memories/changes",
    "/api/preferences",
    "/api/preferences/diagnostics",
    "/api/reminders",
    "/api/reminders/{reminder}",
    "/api/reminders/intents",
    "/api/usage?days=30",
    "/api/turns/{turn}/why",
    "/api/search?q={word}",
    "/api/memory/projects",
    "/api/memory/projects?registered=true&limit=200",
    "/api/memory/projects/t1",
    "/api/memory/projects/t1/sessions?limit=50",
    "/api/memory/projects/t1/sessions?cursor=5000",
    "/api/memory/projects/t1/compositions",
    "/api/memory/compositions/c{composition}",
    "/api/memory/sessions/{session}",
    "/api/memory/sessions/{session}/messages",
    "/api/memory/sessions/{session}/keepits",
    "/api/memory/sessions/{session}/versions",
    "/api/memory/sessions/{session}/versions/v001",
    "/api/memory/sessions/{session}/compare?a=v001&b=v002",
    "/api/memory/settings",
    "/api/memory/stats",
    "/api/memory/search?text={word}",
)
"""Every readable page except the export and the event stream, which last as long as there is data to send."""


async def api(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Fills a database (about a minute), and reads every page of the API as its client does."""
    async with open_store(options.data or lab.folder / "data", pooled=True) as (store, url):
        filled = fill(url, SIZE)
        if filled != "filled before":
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute(LIBRARY.read_bytes())
                connection.execute("vacuum analyze")  # as a server does by itself over time
        with psycopg.connect(url, row_factory=dict_row) as connection:
            numbers = connection.execute(NUMBERS).fetchone()
        assert numbers is not None
        numbers["word"] = max(numbers.pop("words").split()[3:], key=len).rstrip(".")
        async with open_api(store, FIRST_USER) as client:
            rows = [await measure(client, page.format(**numbers)) for page in PAGES]
    return [Row(f"api: {SIZE}, load {os.getloadavg()[0]:.1f}", "", filled), *rows]


async def measure(client: httpx.AsyncClient, page: str) -> Row:
    """Reads a page repeatedly. The first time is reported separately, since it may have something to count."""
    times = []
    for _ in range(ROUNDS + 1):
        started = time.perf_counter()
        answer = await client.get(page)
        times.append(time.perf_counter() - started)
        if answer.status_code != 200:
            raise RuntimeError(f"{page}: {answer.text}")
    first, *others = times
    size = len(answer.content)
    told = f"{median(others):.0f} ms (p95 {p95(others):.0f}; the first {first * 1000:.0f}), {size:,} bytes"
    return Row(f"GET {page}", f"p95 ≤ {BOUND} ms", told, p95(others) <= BOUND)
