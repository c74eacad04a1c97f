"""Supabase through a gateway with delays: how many round trips come before the model call."""

from __future__ import annotations

import argparse
import asyncio
import statistics

from tests.acceptance.supabase_relay import open_supabase_relay
from tests.benchmarks.lab import Lab, Row
from tests.standins.supabase import SupabaseProject

EACH_WAY = 0.04
"""Seconds that a request takes on the way, and its response too."""
TURNS = 20
IDLE_SECONDS = 20


async def supabase(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Runs one chat on a real PostgREST, one message after the other."""
    waits = []
    async with SupabaseProject() as project:
        await asyncio.to_thread(project.migrate)
        async with open_supabase_relay(project) as shared_relay:
            chat = shared_relay.guest()
            await shared_relay.answered(chat, await shared_relay.asked(chat))
            project.gateway.delay = EACH_WAY
            for _ in range(TURNS):
                await asyncio.sleep(0.5)
                project.requests.clear()
                await shared_relay.answered(chat, await shared_relay.asked(chat))
                waits.append(shared_relay.model.requests[-1].at - project.calls("intake")[0].at)
            await asyncio.sleep(1)
            project.requests.clear()
            await asyncio.sleep(IDLE_SECONDS)
            idle = len(project.requests)
    trips, work = divmod(statistics.median(waits), 2 * EACH_WAY)
    rate = f"{idle} requests in {IDLE_SECONDS} s"
    told = f"{trips:.0f} round trips and {1000 * work:.0f} ms of work"
    return [
        Row("Supabase, 80 ms a round trip: from update to model", "≤ 2 round trips", told, trips <= 2),
        Row("Supabase, idle", "≤ 1 request per 5 s", rate, idle <= IDLE_SECONDS // 5 + 1),
    ]
