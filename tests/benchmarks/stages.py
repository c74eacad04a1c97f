"""Where one message's milliseconds go, from the answered poll to sendMessage at Telegram."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict

from tests.benchmarks.lab import Lab, Row, median, polling


async def stages(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Measures when each call of a turn begins after the poll's answer, and how long it takes, as medians over the
    messages."""
    tg, model = await lab.crowd(), await lab.model()
    spans = lab.folder / "spans.json"
    bot = await lab.relay(tg, model, program=["tests.benchmarks.timed_bot"], BENCH_SPANS=str(spans))
    await polling(tg, bot)
    await tg.post("/_bench/one_by_one", messages=30, pause=0.02)
    turns = []
    for _ in range(options.rounds):
        await tg.post("/_bench/one_by_one", messages=50, pause=0.02)
        turns += (await tg.post("/_bench/count"))["turns"]
    await bot.end()
    calls: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for what, begun, ended in json.loads(spans.read_text()):
        for handed, heard in turns:
            if handed <= begun <= heard:
                calls[what].append((begun - handed, ended - begun))
    rows = [
        Row(what, "", f"after {median([one[0] for one in took]):.1f} ms: {median([one[1] for one in took]):.1f} ms")
        for what, took in sorted(calls.items(), key=lambda call: median([one[0] for one in call[1]]))
        if len(took) > len(turns) / 4
    ]
    return [
        *rows,
        Row("sendMessage is heard", "", f"after {median([heard - handed for handed, heard in turns]):.1f} ms"),
    ]
