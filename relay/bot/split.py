"""A text and its formatting, cut into what Telegram takes: 4,096 UTF-16 code units and 100 entities a message."""

from __future__ import annotations

import heapq
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

LIMIT = 4096
MOST_ENTITIES = 100
_MOST_CARRIERS = 90  # begun in one part; leaves room for those carried over from the part before and for a footer's
_LEAST_FILL = 0.3  # a border nearer to the start than this share of a part makes the part too small to be worth it
_MOST_HEADINGS = 3  # one above the other; more are not headings but a way of writing
_PREVIEW_STEP = 1024

# Outer first, for spans over the same text. Those of _CARRIERS lose what was said when they are left out.
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
_QUOTES = frozenset({"blockquote", "expandable_blockquote"})
_CODE = frozenset({"pre", "code"})
_CARRIERS = frozenset({"text_link", "spoiler", "pre"}) | _QUOTES
_LEFT_OUT_LAST = ("strikethrough", "bold", "code", "italic")  # of the others, the first is the last to go

_INK = re.compile(
    "[^\\s\u00ad\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufffc"
    "\U000e0000-\U000e01ef]"
)
_NOT_SPACE = re.compile(r"\S")
_SENTENCE_END = re.compile("[.!?…؟][\"')\\]»”]*(?=\\s)|[。！？][」』”]*")


class Span(NamedTuple):
    """`text[start:end]` has one kind of formatting; `value` is a link's address or the language of a code block."""

    start: int
    end: int
    kind: str
    value: str = ""


def is_blank(text: str) -> bool:
    """Whether Telegram would refuse `text` as empty: nothing but white space and invisible characters."""
    return _INK.search(text) is None


def utf16_offsets(text: str) -> Sequence[int]:
    """The UTF-16 offset of every index of `text`, its end included."""
    if text.isascii() or max(text) < "\U00010000":
        return range(len(text) + 1)
    return list(accumulate((2 if char > "\uffff" else 1 for char in text), initial=0))


def tidy(text: str, spans: Iterable[Span]) -> list[Span]:
    """The spans as Telegram allows them: well nested, trimmed, quotes flat, nothing combined with code."""
    nested = _nest(spans)
    nested = list(_cut_at(nested, [span for span in nested if span.kind in _QUOTES], inside=True))
    nested = list(_cut_at(nested, [span for span in nested if span.kind in _CODE], inside=False))
    return sorted(filter(None, (_trim(text, span) for span in nested)), key=_by_position)


def _by_position(span: Span) -> tuple[int, int, int]:
    return span.start, -span.end, _RANK[span.kind]


def _nest(spans: Iterable[Span]) -> list[Span]:
    """Cut spans that cross, and drop those that add nothing to, or may not be in, the ones around them."""
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
    if outer in _QUOTES:
        return inner not in _QUOTES
    # A link, a spoiler or a deletion means more than the monospace of the code in it.
    return not (inner == "code" and outer in ("text_link", "spoiler", "strikethrough"))


def _cut_at(spans: list[Span], blocks: list[Span], *, inside: bool) -> Iterator[Span]:
    """Cut the spans that hold some of `blocks` at their borders, `inside` telling whether to go on within those."""
    if not blocks:
        yield from spans
        return
    starts = [block.start for block in blocks]
    for span in spans:
        if span.kind in _CODE or span.kind in _QUOTES:
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
    """The span without white space at its ends, but with the indentation of a block's first line; None if empty."""
    body = text[span.start : span.end]
    lead = len(body) - len(body.lstrip())
    if span.kind == "pre" or span.kind in _QUOTES:
        lead = body.rfind("\n", 0, lead) + 1
    end = span.start + len(body.rstrip())
    return span._replace(start=span.start + lead, end=end) if span.start + lead < end else None


def entities(text: str, spans: Iterable[Span]) -> list[dict[str, Any]]:
    """Bot API entities of a part, the 100 most important where there are more."""
    chosen = sorted(spans, key=_by_position)
    if len(chosen) > MOST_ENTITIES:
        weight = {kind: rank for rank, kind in enumerate(_LEFT_OUT_LAST, start=1)}
        chosen = sorted(chosen, key=lambda span: weight.get(span.kind, 0))[:MOST_ENTITIES]
        chosen.sort(key=_by_position)
    offsets = utf16_offsets(text)
    found: list[dict[str, Any]] = []
    for start, end, kind, value in chosen:
        entity: dict[str, Any] = {"type": kind, "offset": offsets[start], "length": offsets[end] - offsets[start]}
        if value:
            entity["url" if kind == "text_link" else "language"] = value
        found.append(entity)
    return found


def split(text: str, spans: list[Span]) -> list[tuple[str, list[Span]]]:
    """Cut a tidy text into parts that each fit one message, a span over a border being in both parts."""
    parts: list[tuple[str, list[Span]]] = []
    waiting = spans
    for start, end in _Cutter(text, spans).ranges():
        waiting = [span for span in waiting if span.end > start]
        parts.append((text[start:end], clip(text, waiting, start, end)))
    return parts


def clip(text: str, spans: Iterable[Span], start: int, end: int) -> list[Span]:
    """What the spans, in order of their start, mark in `text[start:end]`, counted from `start`."""
    clipped: list[Span] = []
    for span in spans:
        if span.start >= end:
            break
        inside = _trim(text, span._replace(start=max(span.start, start), end=min(span.end, end)))
        if inside:
            clipped.append(inside._replace(start=inside.start - start, end=inside.end - start))
    return clipped


def tail_start(text: str) -> int:
    """Where to begin so that the rest, and a line before it, fits one message; the same for a while as text grows."""
    offsets = utf16_offsets(text)
    excess = offsets[-1] - (LIMIT - 2)
    if excess <= 0:
        return 0
    position = bisect_left(offsets, -(-excess // _PREVIEW_STEP) * _PREVIEW_STEP)
    for border, reach in (("\n", 600), (" ", 100)):
        found = text.find(border, position, position + reach)
        if found >= 0 and not is_blank(text[found:]):
            return found + 1
    while position < len(text) - 1 and _joined(text, position):
        position += 1
    return position


class _Cutter:
    """Finds the borders at which a text is best cut."""

    def __init__(self, text: str, spans: list[Span]) -> None:
        self._text = text
        self._offsets = utf16_offsets(text)
        self._pre = [span for span in spans if span.kind == "pre"]
        self._pre_starts = [span.start for span in self._pre]
        self._carriers = [span.start for span in spans if span.kind in _CARRIERS]
        self._bold = {span.start: span.end for span in spans if span.kind == "bold"}
        self._code = {span.start: span.end for span in spans if span.kind == "code"}

    def ranges(self) -> Iterator[tuple[int, int]]:
        """The parts, without the white space around them."""
        start = self._skip(0)
        while start < len(self._text):
            reach = self._reach(start)
            stop = len(self._text) if reach >= len(self._text) else self._cut(start, reach)
            part = self._text[start:stop].rstrip()
            if not is_blank(part):
                yield start, start + len(part)
            start = self._skip(stop)

    def _skip(self, position: int) -> int:
        """The first index from `position` on that is not white space, or the indentation of the code there."""
        match = _NOT_SPACE.search(self._text, position)
        ink = match.start() if match else len(self._text)
        line = max(position, self._text.rfind("\n", position, ink) + 1)
        pre = self._pre_at(ink)
        return max(line, pre.start) if pre else ink

    def _reach(self, start: int) -> int:
        """The last index at which a part from `start` may end."""
        reach = bisect_right(self._offsets, self._offsets[start] + LIMIT) - 1
        carrier = bisect_left(self._carriers, start) + _MOST_CARRIERS
        return min(reach, self._carriers[carrier]) if carrier < len(self._carriers) else reach

    def _cut(self, start: int, reach: int) -> int:
        floor = start + int((reach - start) * _LEAST_FILL) + 1
        for border in (self._paragraph, self._line):
            if (cut := border(floor, reach)) >= floor:
                return self._before_headings(start, cut)
        for border in (self._sentence, self._word):
            if (cut := border(floor, reach)) >= floor:
                return cut
        return self._between_characters(floor, reach)

    def _pre_at(self, position: int) -> Span | None:
        """The code block that `position` is inside of, its first index counted."""
        index = bisect_right(self._pre_starts, position) - 1
        return self._pre[index] if index >= 0 and position < self._pre[index].end else None

    def _paragraph(self, floor: int, reach: int) -> int:
        cut = self._text.rfind("\n\n", floor, reach + 2)
        while cut >= 0 and (pre := self._pre_at(cut)):
            cut = self._text.rfind("\n\n", floor, pre.start)
        return cut

    def _line(self, floor: int, reach: int) -> int:
        return self._text.rfind("\n", floor, reach + 1)

    def _sentence(self, floor: int, reach: int) -> int:
        ends = (match.end() for match in _SENTENCE_END.finditer(self._text, floor, reach + 1))
        return max((end for end in ends if end <= reach), default=-1)

    def _word(self, floor: int, reach: int) -> int:
        return self._text.rfind(" ", floor, reach + 1)

    def _between_characters(self, floor: int, reach: int) -> int:
        for cut in range(reach, max(floor, reach - 64), -1):
            if not _joined(self._text, cut):
                return cut
        return reach

    def _before_headings(self, start: int, cut: int) -> int:
        """`cut`, or where the headings begin that would end the part there, if much stays in the part."""
        moved = cut
        for _ in range(_MOST_HEADINGS + 1):
            end = start + len(self._text[start:moved].rstrip())
            line = self._text.rfind("\n", start, end) + 1
            if line <= start + (cut - start) // 10 or not self._is_heading(line, end):
                return moved
            moved = line
        return cut

    def _is_heading(self, line: int, end: int) -> bool:
        """Whether the line is all bold, code in it apart."""
        if line not in self._bold:
            return False
        while line < end:
            if line in self._bold or line in self._code:
                line = self._bold.get(line) or self._code[line]
            elif self._text[line] == " ":
                line += 1
            else:
                return False
        return True


def _joined(text: str, cut: int) -> bool:
    """Whether one visible character goes on across `cut`: an accent, a skin tone, a joined emoji, a flag."""
    before, after = text[cut - 1], text[cut]
    if before == "\u200d" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if unicodedata.category(after) in ("Mn", "Me", "Mc", "Cf"):
        return True
    return _is_flag_letter(after) and _flag_letters_before(text, cut) % 2 == 1


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_letters_before(text: str, cut: int) -> int:
    count = 0
    while count < min(cut, LIMIT) and _is_flag_letter(text[cut - count - 1]):
        count += 1
    return count
