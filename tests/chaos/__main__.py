"""`python -m tests.chaos`: minutes of chaos, and a verdict. The exit code is 1 if a promise is broken."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys

from tests.chaos.driver import Outcome, run
from tests.chaos.stage import Plan

LONGEST = 15.0
"""Minutes."""


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help=f"how long trouble lasts (at most {LONGEST:.0f})")
    parser.add_argument("--processes", type=int, choices=(1, 3), default=1, help="1: embedded; 3: on one database")
    parser.add_argument("--seed", type=int, default=1, help="another seed is another run")
    parser.add_argument("--kills", type=int, default=0, help="of relay processes (default: 5 a minute, of three 12)")
    parser.add_argument(
        "--longest", type=float, default=60, help="seconds that the database is away at most (a sixth of the run)"
    )
    parser.add_argument("--webhook", action="store_true", help="Telegram delivers, through a balancer")
    parser.add_argument("--supabase", action="store_true", help="everything is kept in a Supabase project")
    parser.add_argument("--keep", default="", help="a folder for the logs and the chats")
    return parser.parse_args()


def report(plan: Plan, outcome: Outcome) -> str:
    """Returns the text printed at the end."""

    def listed(counts: dict[str, int]) -> str:
        return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"

    return "\n".join([
        f"{plan.seconds / 60:.1f} minutes, {plan.processes} process(es), seed {plan.seed}"
        + ", by webhook" * plan.webhook + ", on Supabase" * plan.supabase,
        f"{outcome.kills} kills of relay",
        f"trouble: {listed(outcome.made)}",
        f"ended by themselves, by exit code: {listed(outcome.ended)}",
        *outcome.notes,
        *outcome.verdict.lines(),
    ])  # fmt: skip


def main() -> int:
    """Runs, prints, and returns the exit code."""
    given = arguments()
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)  # killed clients are expected
    seconds = min(given.minutes, LONGEST) * 60
    kills = given.kills or round(seconds / (12 if given.processes == 1 else 5))
    plan = Plan(
        seconds, given.processes, kills, given.seed, longest=min(given.longest, seconds / 6), keep=given.keep,
        webhook=given.webhook, supabase=given.supabase,
    )  # fmt: skip
    outcome = asyncio.run(run(plan))
    print(report(plan, outcome))
    return 0 if outcome.verdict.whole else 1


if __name__ == "__main__":
    sys.exit(main())
