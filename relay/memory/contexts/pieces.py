"""Divides a session into stretches, and these into what is compressed and what a version keeps word for word. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import accumulate

from relay.core.frozen import frozen
from relay.core.prompt_markup import estimate_tokens
from relay.memory.contexts.markers import HEAD, remove_markers
from relay.memory.contexts.settings import CompressionSettings, Tier
from relay.memory.rows.contexts.compression import MarkerFate, OutlineUnit, SourceUnit
from relay.memory.rows.contexts.versions import VersionRow

LEAST_TOKENS = 40
"""The target that a stretch has at least, in tokens."""


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


def divide(units: Sequence[OutlineUnit], settings: CompressionSettings) -> list[Segment]:
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
    units: Sequence[OutlineUnit], segments: Sequence[Segment], through: int | None = None
) -> list[dict[str, object]]:
    """Returns the messages of each stretch and how they are compressed, without gaps, for `relay_marker_fates`.
    `through`: the last message covered, if it is in no unit."""
    starts = [0, *(units[one.begin].first for one in segments[1:])]
    ends = [*(start - 1 for start in starts[1:]), through or max((unit.through for unit in units), default=0)]
    return [
        {"from": start, "through": end} | ({"ratio": one.tier.ratio, "level": one.tier.level} if one.tier else {})
        for start, end, one in zip(starts, ends, segments, strict=True)
    ]


def estimate(units: Sequence[OutlineUnit], segments: Sequence[Segment], kept: Sequence[int]) -> tuple[int, int]:
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


@frozen
class Piece:
    """A unit's text without the markers that survive."""

    unit: SourceUnit
    text: str
    tokens: int


@frozen
class Stretch:
    """A segment with what is kept and what is to be compressed."""

    segment: Segment
    tokens: int
    """The tokens of the whole segment."""
    kept: tuple[VersionRow, ...]
    pieces: tuple[Piece, ...]
    first: bool = field(default=False, kw_only=True)
    """The session begins with it. `last`: the session ends with it."""
    last: bool = field(default=False, kw_only=True)

    @property
    def target(self) -> int:
        """Returns how many tokens its pieces may have when compressed."""
        return self.segment.target(self.tokens, sum(estimate_tokens(row.text) for row in self.kept))


def stretches(
    units: Sequence[SourceUnit], segments: Sequence[Segment], fates: Sequence[MarkerFate], span_of: Sequence[range]
) -> Iterator[Stretch]:
    """Yields each segment with what is kept and what is to be compressed. `span_of`: the ids of its messages."""
    for segment, ids in zip(segments, span_of, strict=True):
        own = units[segment.begin : segment.end]
        surviving = [fate for fate in fates if fate.survived and fate.message_id in ids]
        kept = map(marked, surviving) if segment.tier else map(whole, own)
        pieces = tuple(list_left(own, surviving)) if segment.tier else ()
        tokens = sum(estimate_tokens(unit.text) for unit in own)
        yield Stretch(segment, tokens, tuple(kept), pieces, first=segment.begin == 0, last=segment.end == len(units))


def whole(unit: SourceUnit) -> VersionRow:
    """Returns the row of a unit that stays word for word."""
    text = remove_markers(unit.text).strip()
    return VersionRow(
        role=unit.role, text=text, at=unit.at, first=unit.first, through=unit.through, kept=True, keepit=unit.keepit
    )


def marked(fate: MarkerFate) -> VersionRow:
    """Returns the row of a marker that survives."""
    return VersionRow(
        role=fate.role, text=fate.content, at=fate.at, first=fate.message_id, through=fate.message_id, kept=True,
        weight=fate.weight, keepit=fate.id,
    )  # fmt: skip


def list_left(units: Sequence[SourceUnit], surviving: Sequence[MarkerFate]) -> Iterator[Piece]:
    """Yields the remaining text of units without the contents of the markers that survive."""
    held = {fate.id for fate in surviving}
    for unit in units:
        if unit.keepit in held:
            continue
        text = unit.text
        for fate in surviving:
            if unit.first <= fate.message_id <= unit.through:
                text = without(text, fate.content)
        if text := remove_markers(text).strip():
            yield Piece(unit, text, estimate_tokens(text))


def without(text: str, content: str) -> str:
    """Removes the content of a marker from a text: after its opening mark, or, if a button marked it, where it first
    occurs."""
    typed = re.search(HEAD.pattern + r"\s*" + re.escape(content), text, HEAD.flags)
    return text[: typed.start()] + text[typed.end() :] if typed else text.replace(content, "", 1)


def sort_rows(rows: Sequence[VersionRow]) -> tuple[VersionRow, ...]:
    """Sorts rows by the first message that they cover. What is kept of a message comes after the rest of it."""
    return tuple(sorted(rows, key=lambda row: (row.first, row.kept)))
