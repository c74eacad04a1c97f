"""The model cost of a conversation, in units of one uncached input token."""

from __future__ import annotations

import argparse
import random
from typing import Any

from tests.benchmarks.crowd import FIRST_USER, ODDS, WORDS
from tests.benchmarks.lab import Child, Lab, Row, polling

Usage = dict[str, int]
READ, WRITTEN, INPUT = "cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens"
PRICES = {READ: 0.1, WRITTEN: 1.25, INPUT: 1.0}
SMALL = 1 / 3
"""The price of a small model's token in tokens of the large one."""
TURNS = 10
QUESTION, ANSWER = 20, 150
"""Words of a question and of its answer: about 32 and 240 tokens."""
REST = 1.5
"""Seconds for the work after an answer (judge, summary, title), as between two messages of a person."""


async def cost(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Measures ten turns of a person whose system prompt is cached, ten more, and ten of a person whose isn't."""
    model = await lab.start("-m", "tests.standins.anthropic", "--keep", "2000", speaks=True)
    tg = await lab.crowd()
    bot = await lab.relay(tg, model)
    await polling(tg, bot)
    words = random.Random(4)
    await talk(tg, model, FIRST_USER, 1, words)
    warm = await talk(tg, model, FIRST_USER + 1, TURNS, words)
    later = await talk(tg, model, FIRST_USER + 1, TURNS, words)
    await model.delete("/_control/cache")
    cold = await talk(tg, model, FIRST_USER + 2, TURNS, words)
    share = cached_share([*warm, *later])
    return [
        row("a chat's first 10 turns, system prompt cached", warm, 8_200),
        row("its next 10 turns", later),
        row("a chat's first 10 turns, nothing cached", cold, 9_500),
        Row("prompt tokens read from the cache, 20 turns", "≥ 80 %", f"{share:.0%}", share >= 0.8),
    ]


async def talk(tg: Child, model: Child, user: int, turns: int, words: random.Random) -> list[tuple[bool, Usage]]:
    """Lets a person talk. Returns the usage of each model call, and whether it was the small model's."""
    before = (await model.get("/_control/requests?limit=1"))[-1:]
    since = before[0]["number"] if before else 0
    answers = [" ".join(words.choices(WORDS, ODDS, k=ANSWER)) + "." for _ in range(turns)]
    await model.post("/_control/script", replies=answers)
    said = [" ".join(words.choices(WORDS, ODDS, k=QUESTION)) + "?" for _ in range(turns)]
    await tg.post("/_bench/one_by_one", messages=turns, pause=REST, user=user, texts=said)
    calls: list[dict[str, Any]] = await model.get(f"/_control/requests?since={since}&limit=2000")
    return [("haiku" in call["body"]["model"], call["usage"]) for call in calls if call["usage"]]


def row(what: str, calls: list[tuple[bool, Usage]], most: int | None = None) -> Row:
    """Returns the cost of some calls, with its parts."""
    large, small = (sum(units(used) for is_small, used in calls if is_small is which) for which in (False, True))
    total = large + small * SMALL
    kinds = ", ".join(
        f"{name} {sum(used[kind] for is_small, used in calls if not is_small):,}"
        for name, kind in (("read", READ), ("written", WRITTEN), ("uncached", INPUT))
    )
    told = f"{total:,.0f} units (small model {small * SMALL:,.0f} in {sum(one for one, _ in calls)} calls; {kinds})"
    return Row(what, f"≤ {most:,}" if most else "", told, total <= most if most else None)


def units(used: Usage) -> float:
    """Returns the cost of a call's input."""
    return sum(used[kind] * price for kind, price in PRICES.items())


def cached_share(calls: list[tuple[bool, Usage]]) -> float:
    """Returns the share of the large model's input that was read from the cache."""
    answers = [used for is_small, used in calls if not is_small]
    return sum(used[READ] for used in answers) / sum(used[kind] for used in answers for kind in PRICES)
