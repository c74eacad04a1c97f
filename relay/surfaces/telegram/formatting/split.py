"""Splits a formatted text into messages of at most 4,096 UTF-16 code units and 100 entities."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from relay.core.text import utf16_offsets
from relay.surfaces.telegram.formatting.styled import QUOTES, Span, clip, is_blank

LIMIT = 4096
_MOST_CARRIERS = (
    90  # that begin in one part; leaves room for those continued from the part before, and for the footer's
)
_LEAST_FILL = 0.3  # the least share of a part that must be filled to cut at a border
_MOST_HEADINGS = 3  # in a row; more are not headings but ordinary text
_PREVIEW_STEP = 1024
_CARRIERS = frozenset({"text_link", "spoiler", "pre"}) | QUOTES
"""Kinds that lose content if they are left out."""
_NOT_SPACE = re.compile(r"\S")
_SENTENCE_END = re.compile("[.!?…؟][\"')\\]»”]*(?=\\s)|[。！？][」』”]*")


def split(text: str, spans: list[Span]) -> list[tuple[str, list[Span]]]:
    """Splits a tidy text into parts that fit in one message each. A span across a border is in both parts."""
    parts: list[tuple[str, list[Span]]] = []
    waiting = spans
    for start, end in _Cutter(text, spans).ranges():
        waiting = [span for span in waiting if span.end > start]
        parts.append((text[start:end], clip(text, waiting, start, end)))
    return parts


def tail_start(text: str) -> int:
    """Returns where to begin so that the rest and a line before it fit in one message. Stays the same for a while as
    the text grows."""
    offsets = utf16_offsets(text)
    excess = offsets[-1] - (LIMIT - 2)
    if excess <= 0:
        return 0
    position = bisect_left(offsets, -(-excess // _PREVIEW_STEP) * _PREVIEW_STEP)
    for border, reach in (("\n", 600), (" ", 100)):
        found = text.find(border, position, position + reach)
        if found >= 0 and not is_blank(text[found:]):
            return found + 1
    while position < len(text) - 1 and _is_inside_character(text, position):
        position += 1
    return position


class _Cutter:
    """Finds the best borders to cut a text."""

    def __init__(self, text: str, spans: list[Span]) -> None:
        self._text = text
        self._offsets = utf16_offsets(text)
        self._pre = [span for span in spans if span.kind == "pre"]
        self._pre_starts = [span.start for span in self._pre]
        self._carriers = [span.start for span in spans if span.kind in _CARRIERS]
        self._bold = {span.start: span.end for span in spans if span.kind == "bold"}
        self._code = {span.start: span.end for span in spans if span.kind == "code"}

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Yields the parts, without the white space around them."""
        start = self._skip(0)
        while start < len(self._text):
            reach = self._reach(start)
            stop = len(self._text) if reach >= len(self._text) else self._cut(start, reach)
            part = self._text[start:stop].rstrip()
            if not is_blank(part):
                yield start, start + len(part)
            start = self._skip(stop)

    def _skip(self, position: int) -> int:
        """Returns the first index from `position` on that is not white space; of code, where its indentation begins."""
        match = _NOT_SPACE.search(self._text, position)
        ink = match.start() if match else len(self._text)
        line = max(position, self._text.rfind("\n", position, ink) + 1)
        pre = self._pre_at(ink)
        return max(line, pre.start) if pre else ink

    def _reach(self, start: int) -> int:
        """Returns the last index at which a part from `start` may end."""
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
        return self._find_character(floor, reach)

    def _pre_at(self, position: int) -> Span | None:
        """Returns the code block that contains `position`."""
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

    def _find_character(self, floor: int, reach: int) -> int:
        for cut in range(reach, max(floor, reach - 64), -1):
            if not _is_inside_character(self._text, cut):
                return cut
        return reach

    def _before_headings(self, start: int, cut: int) -> int:
        """Returns `cut`, or the start of headings that would end the part there, if enough of the part remains."""
        moved = cut
        for _ in range(_MOST_HEADINGS + 1):
            end = start + len(self._text[start:moved].rstrip())
            line = self._text.rfind("\n", start, end) + 1
            if line <= start + (cut - start) // 10 or not self._is_heading(line, end):
                return moved
            moved = line
        return cut

    def _is_heading(self, line: int, end: int) -> bool:
        """Tests whether the whole line is bold, apart from code."""
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


def _is_inside_character(text: str, cut: int) -> bool:
    """Tests whether `cut` is inside of one visible character: an accent, a skin tone, a joined emoji, a flag."""
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
