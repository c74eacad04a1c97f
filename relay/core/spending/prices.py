"""Model prices: list prices in US dollars per million tokens.

Source: https://platform.claude.com/docs/en/about-claude/pricing, as of `AS_OF`. A five-minute cache write, the kind
Relay uses, costs 1.25 times the input; a thousand web searches cost 10 dollars. Haiku 5.5 costs five times as much for
prompts beyond 100,000 tokens. Summaries and titles stay below that, so the usual price is used.

RELAY_PRICES names a JSON file that adds or overrides prices: `{"model": {"input": 2, "output": 10, "cached": 0.2,
"cache_write": 2.5}}`. `cached` defaults to the input price, `cache_write` to 1.25 times the input price.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import field
from datetime import date
from pathlib import Path
from typing import Any

from relay.core.errors import SettingsError
from relay.core.frozen import frozen

AS_OF = date(2026, 10, 10)
CACHE_WRITE = 1.25
SEARCH = 0.01
"""Dollars for one web search."""
KINDS = ("input", "output", "cached", "cache_write")
MOST_BYTES = 1_000_000
MOST_DOLLARS = 1_000_000


@frozen
class Price:
    """Dollars per million tokens of input, output, cached input and cache writes."""

    input: float
    output: float
    cached: float
    cache_write: float | None = None
    """None: 1.25 times the input price."""

    @property
    def written(self) -> float:
        return self.input * CACHE_WRITE if self.cache_write is None else self.cache_write


OPUS = Price(5.0, 25.0, 0.5)
OLD_OPUS = Price(15.0, 75.0, 1.5)
OLD_SONNET = Price(3.0, 15.0, 0.3)
LISTED = {
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
"""Suffixes that a model name may have after its version."""


@frozen
class ModelUse:
    """Total tokens and web searches of one model, from the database."""

    model: str | None
    input: int
    """Tokens that were neither read from the cache nor written to it."""
    cached: int
    written: int
    output: int
    searches: int


@frozen
class Prices:
    """A table of prices by model."""

    known: Mapping[str, Price] = field(default_factory=lambda: LISTED, hash=False)

    def of(self, model: str | None) -> Price | None:
        """Returns a model's price; None if unknown."""
        name = (model or "").lower()
        return self.known.get(name) or self.known.get(DATED.sub("", name))

    def cost(self, model: str | None, usage: Mapping[str, Any]) -> float | None:
        """Returns the cost in dollars of a use, as the Messages API counts it; None if the price is unknown."""
        price = self.of(model)
        if price is None:
            return None
        used = {kind: number for kind, number in usage.items() if isinstance(number, int)}
        tokens = (
            used.get("input_tokens", 0) * price.input
            + used.get("cache_creation_input_tokens", 0) * price.written
            + used.get("cache_read_input_tokens", 0) * price.cached
            + used.get("output_tokens", 0) * price.output
        )
        return round_dollars(tokens / 1e6 + used.get("web_search_requests", 0) * SEARCH)

    def cost_of(self, use: ModelUse) -> float | None:
        """Returns the cost in dollars of summed use; None if the price is unknown."""
        usage = {
            "input_tokens": use.input,
            "cache_read_input_tokens": use.cached,
            "cache_creation_input_tokens": use.written,
            "output_tokens": use.output,
            "web_search_requests": use.searches,
        }
        return self.cost(use.model, usage)


def load(path: Path | None) -> Prices:
    """Returns the built-in prices overridden by a file's. Raises `SettingsError` for an invalid file."""
    if path is None:
        return Prices()
    try:
        if path.stat().st_size > MOST_BYTES:
            raise SettingsError(f"RELAY_PRICES: {path} is too large for a table of prices.")
        told = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"RELAY_PRICES: {path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise SettingsError(f"RELAY_PRICES: {path} is not JSON: {error}.") from None
    if not isinstance(told, dict):
        raise SettingsError(f"RELAY_PRICES: {path} must be an object with the models' names and prices.")
    return Prices({**LISTED, **{name.lower(): _price(path, name, given) for name, given in told.items()}})


def _price(path: Path, name: str, given: Any) -> Price:
    """Reads one model's price from a file."""
    where = f"RELAY_PRICES: {path}: the price of {name}"
    if not isinstance(given, dict) or not {"input", "output"} <= given.keys():
        raise SettingsError(
            f'{where} must be an object such as {{"input": 2, "output": 10, "cached": 0.2}}, '
            "in dollars for a million tokens."
        )
    if unknown := sorted(given.keys() - set(KINDS)):
        raise SettingsError(f"{where} has {', '.join(unknown)}; the kinds are {', '.join(KINDS)}.")
    for kind, amount in given.items():
        if not isinstance(amount, int | float) or isinstance(amount, bool) or not 0 <= amount <= MOST_DOLLARS:
            shown = json.dumps(amount)[:40]
            raise SettingsError(f"{where} has {shown} for {kind}; it must be a number from 0 to {MOST_DOLLARS:,}.")
    return Price(**({"cached": given["input"]} | given))


def round_dollars(amount: float) -> float:
    """Returns an amount without the artefacts of binary fractions, such as 0.30000000000000004."""
    return round(amount, 10)


def format_dollars(amount: float) -> str:
    """Formats an amount in dollars: to the cent, small amounts to a hundredth of a cent."""
    whole, _, cents = f"{amount:,.{2 if amount >= 0.1 else 4}f}".partition(".")
    return f"${whole}.{cents[:2]}{cents[2:].rstrip('0')}"
