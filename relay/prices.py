"""What models cost: list prices in US dollars for a million tokens.

Source: https://platform.claude.com/docs/en/about-claude/pricing, as of 10 October 2026. A cache write (of five minutes,
as ours are) costs 1.25 times the input. Haiku 5.5 costs five times as much for prompts beyond 100,000 tokens, which its
work here (summaries) does not reach; web searches cost extra and are not counted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CACHE_WRITE = 1.25


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens: of input, of output, of input that was read from the cache."""

    input: float
    output: float
    cached: float


OPUS = Price(5.0, 25.0, 0.5)
OLD_OPUS = Price(15.0, 75.0, 1.5)
OLD_SONNET = Price(3.0, 15.0, 0.3)
PRICES = {
    "claude-fable-5-1": Price(10.0, 50.0, 0.25),
    "claude-fable-5": Price(10.0, 50.0, 1.0),
    "claude-opus-5-5": Price(4.0, 20.0, 0.2),
    "claude-opus-5": OPUS,
    "claude-opus-4-8": OPUS,
    "claude-opus-4-7": OPUS,
    "claude-opus-4-6": OPUS,
    "claude-opus-4-5": OPUS,
    "claude-opus-4-1": OLD_OPUS,
    "claude-opus-4": OLD_OPUS,
    "claude-sonnet-5-5": Price(2.0, 10.0, 0.1),
    "claude-sonnet-5": Price(2.0, 10.0, 0.2),
    "claude-sonnet-4-6": OLD_SONNET,
    "claude-sonnet-4-5": OLD_SONNET,
    "claude-sonnet-4": OLD_SONNET,
    "claude-haiku-5-5": Price(0.1, 0.5, 0.01),
    "claude-haiku-4-5": Price(1.0, 5.0, 0.1),
}
DATED = re.compile(r"(-\d{8}|-latest|-0)$")
"""What a model's name may end with besides its version."""


def price_of(model: str | None) -> Price | None:
    """A model's price; None when it is not known."""
    return PRICES.get(DATED.sub("", (model or "").lower()))


def cost(model: str | None, usage: Mapping[str, Any]) -> float | None:
    """Dollars for a use as the Messages API counts it; None when the model's price is not known."""
    price = price_of(model)
    if price is None:
        return None
    tokens = {kind: number for kind, number in usage.items() if isinstance(number, int)}
    written = tokens.get("cache_creation_input_tokens", 0)
    return (
        tokens.get("input_tokens", 0) * price.input
        + written * price.input * CACHE_WRITE
        + tokens.get("cache_read_input_tokens", 0) * price.cached
        + tokens.get("output_tokens", 0) * price.output
    ) / 1e6


def dollars(amount: float) -> str:
    """An amount as people read it: to the cent, small ones to a hundredth of it."""
    return f"${amount:,.2f}" if amount >= 0.1 or not amount else f"${amount:.4f}"
