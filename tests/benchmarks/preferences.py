"""What is learned about simulated people from their choices, before and after they change their minds."""

from __future__ import annotations

import argparse
import asyncio
import math

from tests.benchmarks.lab import Lab, Row
from tests.preference_people import Kind, live, needed

PEOPLE, SEED = 300, 5
KINDS = {
    "": Kind(),
    "sure of themselves": Kind(sureness=math.inf),
    "24 patterns, 10 likes": Kind(patterns=24, liked=5, in_answer=7),
    "12 patterns, 4 likes": Kind(patterns=12, liked=2, in_answer=4, changes=2),
    "what changes is liked no more": Kind(drops=True),
}
"""The constants were chosen for the first one."""


async def preferences(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Measures the share of preferences that are found, and the share of those in prompts that are wrong. In brackets:
    also with what `/preferences` lists as not sure yet."""
    rows = []
    for name, kind in KINDS.items():
        for choices in (30, 60):
            for reasons in (True, False):
                before, after = await asyncio.to_thread(live, SEED, PEOPLE, choices, kind, reasons)
                what = f"{choices} choices {'with' if reasons else 'without'} reasons{name and f', {name}'}"
                measured = f"{before.found:.2f} / {before.wrong:.3f}; {after.found:.2f} / {after.wrong:.3f}"
                bound, ok = "", None
                if reasons and choices == 30:
                    bound = "≥ 0.90 / ≤ 0.02; ≥ 0.80 / ≤ 0.06"
                    ok = before.found >= 0.9 and before.wrong <= 0.02 and after.found >= 0.8 and after.wrong <= 0.06
                elif not reasons:
                    bound, ok = "≤ 0.05 wrong; ≤ 0.10 wrong", before.wrong <= 0.05 and after.wrong <= 0.1
                    once, then = await asyncio.to_thread(live, SEED, PEOPLE, choices, kind, reasons, True)
                    measured += f" (listed: {once.found:.2f} / {once.wrong:.3f}; {then.found:.2f} / {then.wrong:.3f})"
                rows.append(Row(what, bound, measured, ok))
        rows.append(Row(f"choices with reasons until 80 % are found{name and f', {name}'}", "", needed(SEED, 40, kind)))
    return rows
