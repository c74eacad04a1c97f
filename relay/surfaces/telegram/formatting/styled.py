"""Formatted spans of a text as Telegram allows them: well nested, trimmed, and counted in UTF-16 code units."""

from __future__ import annotations

import heapq
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypedDict

from relay.core.text import utf16_offsets

MOST_ENTITIES = 100
MOMENT = re.compile(r"tg://time\?unix=(\d{1,12})")
"""A link to a moment: Telegram shows it in the reader's own zone and language."""

# Outer first, for spans over the same text.
_ORDER = (
    "expandable_blockquote",
    "blockquote",
    "text_link",
    "spoiler",
    "strikethrough",
    "bold",
    "italic",
    "pre",
    "code",
)
KINDS = frozenset(_ORDER)
_RANK = {kind: rank for rank, kind in enumerate(_ORDER)}
QUOTES = frozenset({"blockquote", "expandable_blockquote"})
_CODE = frozenset({"pre", "code"})
_LEFT_OUT_LAST = ("strikethrough", "bold", "code", "italic")  # the first of the others is dropped last

_INK = re.compile(
    "[^\\s\u00ad\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufffc"
    "\U000e0000-\U000e01ef]"
)


class Span(NamedTuple):
    """`text[start:end]` has one kind of formatting; `value` is a link's address or the language of a code block."""

    start: int
    end: int
    kind: str
    value: str = ""


class Entity(TypedDict, total=False):
    """A Bot API entity; offset and length in UTF-16 code units."""

    type: str
    offset: int
    length: int
    url: str
    language: str
    unix_time: int
    date_time_format: str


def is_blank(text: str) -> bool:
    """Tests whether Telegram would refuse `text` as empty: it has only white space and invisible characters."""
    return _INK.search(text) is None


def tidy(text: str, spans: Iterable[Span]) -> list[Span]:
    """Returns the spans as Telegram allows them: well nested, trimmed, quotes flat, nothing combined with code."""
    nested = _nest(spans)
    nested = list(_cut_at(nested, [span for span in nested if span.kind in QUOTES], inside=True))
    nested = list(_cut_at(nested, [span for span in nested if span.kind in _CODE], inside=False))
    return sorted(filter(None, (_trim(text, span) for span in nested)), key=_by_position)


def _by_position(span: Span) -> tuple[int, int, int]:
    return span.start, -span.end, _RANK[span.kind]


def _nest(spans: Iterable[Span]) -> list[Span]:
    """Cuts crossing spans, and drops those that are redundant or not allowed inside the spans around them."""
    queue = [(*_by_position(span), span) for span in spans if span.start < span.end]
    heapq.heapify(queue)
    kept: list[Span] = []
    around: list[Span] = []
    while queue:
        span = heapq.heappop(queue)[-1]
        while around and around[-1].end <= span.start:
            around.pop()
        if around and span.end > around[-1].end:
            rest = span._replace(start=around[-1].end)
            heapq.heappush(queue, (*_by_position(rest), rest))
            span = span._replace(end=around[-1].end)
        if all(_may_hold(outer.kind, span.kind) for outer in around):
            around.append(span)
            kept.append(span)
    return kept


def _may_hold(outer: str, inner: str) -> bool:
    if outer in _CODE or outer == inner:
        return False
    if outer in QUOTES:
        return inner not in QUOTES
    # A link, a spoiler or a strikethrough matters more than the monospace of code in it.
    return not (inner == "code" and outer in ("text_link", "spoiler", "strikethrough"))


def _cut_at(spans: list[Span], blocks: list[Span], *, inside: bool) -> Iterator[Span]:
    """Cuts spans at the borders of `blocks` that they contain. `inside`: whether they continue inside the blocks."""
    if not blocks:
        yield from spans
        return
    starts = [block.start for block in blocks]
    for span in spans:
        if span.kind in _CODE or span.kind in QUOTES:
            yield span
            continue
        position = span.start
        for block in blocks[bisect_left(starts, span.start) : bisect_left(starts, span.end)]:
            yield span._replace(start=position, end=block.start)
            if inside:
                yield span._replace(start=block.start, end=min(block.end, span.end))
            position = block.end
        yield span._replace(start=position)


def _trim(text: str, span: Span) -> Span | None:
    """Trims white space from a span's ends, except the indentation of a block's first line. None: it is empty."""
    body = text[span.start : span.end]
    lead = len(body) - len(body.lstrip())
    if span.kind == "pre" or span.kind in QUOTES:
        lead = body.rfind("\n", 0, lead) + 1
    end = span.start + len(body.rstrip())
    return span._replace(start=span.start + lead, end=end) if span.start + lead < end else None


def entities(text: str, spans: Iterable[Span]) -> list[Entity]:
    """Returns the Bot API entities of a part, at most the 100 most important."""
    chosen = sorted(spans, key=_by_position)
    if len(chosen) > MOST_ENTITIES:
        weight = {kind: rank for rank, kind in enumerate(_LEFT_OUT_LAST, start=1)}
        chosen = sorted(chosen, key=lambda span: weight.get(span.kind, 0))[:MOST_ENTITIES]
        chosen.sort(key=_by_position)
    offsets = utf16_offsets(text)
    found: list[Entity] = []
    for start, end, kind, value in chosen:
        entity: Entity = {"type": kind, "offset": offsets[start], "length": offsets[end] - offsets[start]}
        if kind == "text_link" and (moment := MOMENT.fullmatch(value)):
            entity |= {"type": "date_time", "unix_time": int(moment[1]), "date_time_format": "wDt"}
        elif value:
            name: Literal["url", "language"] = "url" if kind == "text_link" else "language"
            entity[name] = value
        found.append(entity)
    return found


def clip(text: str, spans: Iterable[Span], start: int, end: int) -> list[Span]:
    """Returns the parts of ordered spans in `text[start:end]`, counted from `start`."""
    clipped: list[Span] = []
    for span in spans:
        if span.start >= end:
            break
        inside = _trim(text, span._replace(start=max(span.start, start), end=min(span.end, end)))
        if inside:
            clipped.append(inside._replace(start=inside.start - start, end=inside.end - start))
    return clipped
