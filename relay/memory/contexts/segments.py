"""Divides a session into stretches that are compressed in the same way. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Protocol

from relay.core.frozen import frozen
from relay.memory.contexts.settings import CompressionSettings, Tier

LEAST_TOKENS = 40
"""The target that a stretch has at least, in tokens."""


class Measured(Protocol):
    """A message, or a row that covers several."""

    @property
    def role(self) -> str: ...
    @property
    def first(self) -> int: ...
    @property
    def through(self) -> int: ...
    @property
    def tokens(self) -> int: ...


@frozen
class Sized:
    """The size of a message, or of a row that covers several."""

    first: int
    through: int
    role: str
    tokens: int


@frozen
class Segment:
    """A stretch of units from `begin` to before `end`. Without a tier, they stay word for word."""

    begin: int
    end: int
    tier: Tier | None

    def target(self, tokens: int, kept: int) -> int:
        """Returns how many tokens the compressed stretch may have besides the `kept` ones. `tokens`: its present
        size."""
        return max(LEAST_TOKENS, math.ceil(tokens / self.tier.ratio) - kept) if self.tier else tokens

    def rows(self) -> int:
        """Returns how many rows its units become."""
        return max(1, math.ceil((self.end - self.begin) / self.tier.ratio)) if self.tier else self.end - self.begin


def divide(units: Sequence[Measured], settings: CompressionSettings) -> list[Segment]:
    """Divides units into the settings' tiers, by tokens. Each tier begins at the nearest beginning of an exchange. The
    first `skip_first` units are a separate stretch."""
    skipped = min(settings.skip_first, len(units))
    before = [0, *accumulate(unit.tokens for unit in units)]
    starts = [at for at in range(skipped, len(units)) if at == skipped or units[at].role == "user"] + [len(units)]
    found = [Segment(0, skipped, None)] if skipped else []
    begin = skipped
    for tier in settings.tiers():
        wanted = before[skipped] + (before[-1] - before[skipped]) * tier.end_percent / 100
        end = len(units) if tier.end_percent == 100 else min(starts, key=lambda at: abs(before[at] - wanted))
        if end > begin:
            found.append(Segment(begin, end, tier))
            begin = end
    return found


def spans(
    units: Sequence[Measured], segments: Sequence[Segment], through: int | None = None
) -> list[dict[str, object]]:
    """Returns the messages of each stretch and how they are compressed, without gaps, for `relay_marker_fates`.
    `through`: the last message covered, if it is in no unit."""
    starts = [0, *(units[one.begin].first for one in segments[1:])]
    ends = [*(start - 1 for start in starts[1:]), through or max((unit.through for unit in units), default=0)]
    return [
        {"from": start, "through": end} | ({"ratio": one.tier.ratio, "level": one.tier.level} if one.tier else {})
        for start, end, one in zip(starts, ends, segments, strict=True)
    ]


def estimate(units: Sequence[Measured], segments: Sequence[Segment], kept: Sequence[int]) -> tuple[int, int]:
    """Estimates a version's tokens and rows. `kept`: the tokens of each segment's markers that survive."""
    tokens, rows = 0, 0.0
    for one, held in zip(segments, kept, strict=True):
        own = sum(unit.tokens for unit in units[one.begin : one.end])
        tokens += own if one.tier is None else min(own, held + one.target(own, held))
        rows += (one.end - one.begin) / (one.tier.ratio if one.tier else 1)
    return tokens, math.ceil(round(rows, 6))


def two_digits(number: int) -> int:
    """Rounds a number to two digits: 3,341 to 3,300."""
    size = max(0, len(str(abs(number))) - 2)
    return round(number, -size) if size else number
