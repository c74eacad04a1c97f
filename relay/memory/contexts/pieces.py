"""Splits a session into what is compressed and what a version keeps word for word. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field

from relay.core.frozen import frozen
from relay.core.prompt_markup import estimate_tokens
from relay.memory.contexts.markers import HEAD, remove_markers
from relay.memory.contexts.segments import Segment
from relay.memory.rows.contexts.compression import MarkerFate, SourceUnit
from relay.memory.rows.contexts.versions import VersionRow


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
    """Removes the content of a marker from a text: behind its signs, or, if a button marked it, where it first
    occurs."""
    typed = re.search(HEAD.pattern + r"\s*" + re.escape(content), text, HEAD.flags)
    return text[: typed.start()] + text[typed.end() :] if typed else text.replace(content, "", 1)


def sort_rows(rows: Sequence[VersionRow]) -> tuple[VersionRow, ...]:
    """Sorts rows by the first message that they cover. What is kept of a message comes after the rest of it."""
    return tuple(sorted(rows, key=lambda row: (row.first, row.kept)))
