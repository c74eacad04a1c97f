"""Finds tags in a model's reply and removes them from the visible text.

The scanner reads the reply once from left to right and never changes its output. So the text shown while a reply grows
is a prefix of the final text, except for white space at the end. Where later input could change a bracket's meaning,
the scanner stops and waits.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from functools import reduce
from typing import Any

from relay.core.limits import TAGGED_FACT_LENGTH

TAGS = ("LEARN", "FORGET", "VOICE_REPLY", "REMEMBER")
TAG_WINDOW = 400  # a LEARN or FORGET that is not closed within this many characters is text
MOST_TAGS = 100
"""The most tags in a reply. A reply with more is broken, and the rest is text."""
JSON_WINDOW = 16_000  # the same for the JSON of a REMEMBER: fits 2000 characters written as \uXXXX

_TAG = re.compile(r"\[[ \t]{0,8}(?:(LEARN|FORGET)[ \t]{0,8}[:：]|(VOICE_REPLY|REMEMBER)[ \t]{0,8}\])", re.I | re.A)
# The beginning of a tag at the end of the text; each of its characters may be the last one there.
_HALVES = (reduce(lambda rest, char: f"(?:{char}{rest})?", reversed(name), r"[ \t]{0,8}") for name in TAGS)
_HALF = re.compile(rf"\[[ \t]{{0,8}}(?:{'|'.join(_HALVES)})\Z", re.I | re.A)
_SPECIAL = re.compile(r"[\\`\[\n]")
_BRACKET = re.compile(r"[\[\]]")
_FIRST_CLOSING = re.compile(r"[^]\n]*]")
_RUN = re.compile(r"`+")
_SPACE = re.compile(r"[ \t]*")
_ANY_SPACE = re.compile(r"[ \t\r\n]*")
_LINE_END = re.compile(r"\r?(?:\n|\Z)")
_PREFIX = re.compile(r"[ \t]*+(?:(?:[-+*]|\d{1,3}[.)])(?:[ \t]++|(?=\r?(?:\n|\Z))))*+", re.A)
_FENCE = re.compile(r"(`{3,})[^`\n]*(?:\n|\Z)|(~{3,})")
# What ends a paragraph, after the prefix: a blank line, a quote, a heading, a fence, a rule.
_BREAK = re.compile(r"\r?(?:\n|\Z)|>|#{1,6}(?:[ \t\r\n]|\Z)|`{3,}[^`\n]*(?:\n|\Z)|~{3}|[-*_= \t]++\r?(?:\n|\Z)")
# The start of a line that is still growing and could become any of these, or a list item.
_UNDECIDED = re.compile(r"(?:\d{1,3}[.)]?|#{0,6}|[-+*_= \t]*+|`*+|~{0,2})\r?\Z", re.A)
_NO_SPACE_BEFORE = frozenset(".,;!?)…。，；！？）\r")


Remembered = dict[str, Any]
"""The JSON object of a REMEMBER, as the model wrote it."""


def storable(text: str) -> str:
    """Removes what PostgreSQL can't store: NUL and lone surrogates (JSON can escape both)."""
    return text.replace("\0", "").encode("utf-8", "ignore").decode()


def one_line(text: str) -> str:
    """Returns the text on one line, as PostgreSQL can store it."""
    return " ".join(storable(text).split())


def _read_json(source: str) -> tuple[Remembered | None, int, bool]:
    """Parses the JSON object at the start of the source. Returns it, its length, and whether more text could still
    complete it."""
    try:
        data, end = json.JSONDecoder().raw_decode(source)
    except json.JSONDecodeError as error:
        # The longest thing whose error is reported at its beginning, strings apart, is a \u pair of surrogates.
        unfinished = error.msg.startswith("Unterminated") or error.pos >= len(source.rstrip()) - 12
        return None, 0, unfinished
    except (ValueError, RecursionError):  # a number of thousands of digits, a nesting of thousands of levels
        return None, 0, False
    if "content" not in data:
        data = next((value for value in data.values() if isinstance(value, dict) and "content" in value), data)
    return data, end, False


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


class Scanner:
    """One pass over a reply. Its output never changes; it waits where later input could change a meaning."""

    def __init__(self, text: str, *, growing: bool, most: int = MOST_TAGS) -> None:
        self.text, self.growing, self.pos, self.held = text, growing, 0, False
        self.most = most
        self.found: list[tuple[str, str, Any]] = []  # tag, payload, its JSON or the reason why it is refused
        self.voice_reply = False
        self.out: list[str] = []  # whole lines
        self.last = ""  # what the line before was, if it was "blank", "code" (indented) or "dropped"
        self.fence, self.fence_indent, self.list_indent = "", 0, 0
        self.block_end, self.block_open = 0, False  # the paragraph that pos is in, and whether it may still grow
        self.runs: dict[int, list[int]] | None = None  # its backtick runs: where, by length
        self.pending = False  # after a backtick that may or may not find its partner
        self._new_line("")

    def _new_line(self, last: str) -> None:
        self.last, self.line, self.column = last, [""], 0
        self.at_start, self.bare, self.touched = True, True, False  # bare: has only a prefix; touched: had a tag
        self.gap: str | None = None  # after a tag: the space there was around it

    def run(self) -> str:
        """Returns the text to show; tags are in `found` and `voice_reply`."""
        while self.pos < len(self.text) and not self.held:
            if self.at_start:
                self._start_line()
            else:
                self._inline()
        empty = self.bare and (self.touched or self.growing)
        return "".join(self.out if empty else self.out + self.line).strip()

    def _start_line(self) -> None:
        """Copies a line of code or a quote whole, keeps or drops an empty one, or enters the paragraph."""
        text, start = self.text, self.pos
        stop = text.find("\n", start) + 1 or len(text)
        unfinished = self.growing and text[stop - 1] != "\n"
        if not (self.out or self.fence):
            start = self.pos = _end(_SPACE, text, start)  # as the result is stripped
        rest = _end(_PREFIX, text, start)
        prefix = text[start:rest]
        marker = bool(prefix.strip())
        self.column += len(prefix.expandtabs(4))
        if self.fence:
            marks = text[start:stop].strip(" \t\r\n")
            closes = marks.startswith(self.fence) and not marks.strip(self.fence[0])
            self.fence = "" if closes and self.column <= self.fence_indent + 3 else self.fence
            self._copy_line(stop)
        elif unfinished and _UNDECIDED.match(text, rest):
            self.held = True
        elif _LINE_END.match(text, rest) and (self.touched or not marker):
            # No two blank lines in place of one before and one after a dropped line.
            if not (self.touched or (self.last == "dropped" and (not self.out or self.out[-1].isspace()))):
                self.out.append(text[start:stop])
                self.last = "blank"
            self._new_line("dropped" if self.touched else self.last)
            self.pos = stop
        elif not (marker or self.touched) and self.last in ("blank", "code") and self.column >= self.list_indent + 4:
            self._copy_line(stop, "code")
        else:
            self._enter(prefix, stop, unfinished)

    def _enter(self, prefix: str, stop: int, unfinished: bool) -> None:
        """Copies the line if it is a quote or opens a fence; otherwise continues in its paragraph after the prefix."""
        self.list_indent = self.column if prefix.strip() else min(self.list_indent, self.column)
        start = self.pos + len(prefix)
        fence = _FENCE.match(self.text, start)
        if fence and self.column <= self.list_indent + 3 and not (unfinished and fence[1]):  # no backtick may follow
            self.fence, self.fence_indent = fence[1] or fence[2], self.column
            self._copy_line(stop)
        elif self.text.startswith(">", start):
            self._copy_line(stop)
        else:
            if self.pos >= self.block_end:
                self._find_block()
            self.line.append(prefix)
            self.at_start, self.pos = False, start

    def _copy_line(self, stop: int, kind: str = "") -> None:
        self.out += [*self.line, self.text[self.pos : stop]]
        self.pos = stop
        self._new_line(kind)

    def _find_block(self) -> None:
        """Finds the end of the paragraph that starts here; backticks and tags don't reach beyond it."""
        text, at = self.text, self.text.find("\n", self.pos) + 1
        self.runs, self.pending = None, False
        self.block_end, self.block_open = len(text), self.growing
        while at:
            rest, after = _end(_PREFIX, text, at), text.find("\n", at) + 1
            fence = _FENCE.match(text, rest)
            undecided = _UNDECIDED.match(text, rest) or (fence and fence[1])
            self.block_open = bool(self.growing and not after and undecided)
            if self.block_open or text[at:rest].strip() or _BREAK.match(text, rest):
                self.block_end = at
                return
            at = after
        self.block_open = self.growing

    def _inline(self) -> None:
        """Advances past the next special character."""
        text, start = self.text, self.pos
        special = _SPECIAL.search(text, start)
        stop = special.start() if special else len(text)
        if stop > start:
            self._emit(stop)
        elif text[start] == "\n":
            self.line[-1] += "\n"
            self.out += self.line
            self.pos += 1
            self._new_line("")
        elif text[start] == "\\":  # an escaped bracket or backtick is text
            self._emit(start + (2 if text[start + 1 : start + 2] in ("\\", "`", "[") else 1))
        elif text[start] == "`":
            self._backticks()
        else:
            self._bracket()

    def _emit(self, stop: int) -> None:
        """Writes the text up to `stop`, after any space that a removed tag needs between its neighbours."""
        piece = self.text[self.pos : stop]
        if self.gap is not None and piece[0] != "\r":
            tight = piece[0] in _NO_SPACE_BEFORE if self.gap else not (self.line[-1][-1] + piece[0]).isascii()
            piece = piece if tight else f" {piece}"
        if piece.isspace():  # never alone, so that _remove finds it at the end of the last piece
            self.line[-1] += piece
        else:
            self.line.append(piece)
        self.pos, self.bare, self.gap = stop, False, None

    def _remove(self, stop: int) -> None:
        """Removes a tag and the spaces around it; what follows at the start of a line decides what the line is."""
        after = _end(_SPACE, self.text, stop)
        if not self.bare:
            kept = self.line[-1].rstrip(" \t")
            self.gap = (self.gap or "") + self.line[-1][len(kept) :] + self.text[stop:after]
            self.line[-1] = kept
        self.pos, self.at_start, self.touched = after, self.bare, True

    def _backticks(self) -> None:
        """Copies a code span, or unmatched backticks."""
        if self.runs is None:
            self.runs = {}
            for run in _RUN.finditer(self.text, self.pos, self.block_end):
                if not (self.growing and run.end() == len(self.text)):  # this one may still grow
                    self.runs.setdefault(len(run[0]), []).append(run.start())
        stop = _end(_RUN, self.text, self.pos)
        partners = self.runs.get(stop - self.pos, [])
        at = bisect_left(partners, stop)
        if at == len(partners):
            self.pending = self.pending or self.block_open
            self._emit(stop)
        else:
            self._emit(partners[at] + stop - self.pos)

    def _bracket(self) -> None:
        """Removes a tag; waits if there may be one, or if it may turn out to be in code."""
        tag = _TAG.match(self.text, self.pos) if len(self.found) < self.most else None
        if (tag and self.pending) or (self.growing and _HALF.match(self.text, self.pos)):
            self.held = True
        elif not tag:
            self._emit(self.pos + 1)
        elif tag[1]:
            self._words(tag[1].upper(), tag.end())
        elif tag[2].upper() == "REMEMBER":
            self._json(tag.end())
        else:
            self.voice_reply = True
            self._remove(tag.end())

    def _words(self, tag: str, start: int) -> None:
        """Removes a LEARN or FORGET, closed by its own bracket or else by the line's first."""
        text, limit = self.text, min(self.block_end, self.pos + TAG_WINDOW)
        depth = 1
        for bracket in _BRACKET.finditer(text, start, limit):
            depth += 1 if bracket[0] == "[" else -1
            if not depth:
                self._add_tag(tag, start, bracket.start())
                return
        if self.block_open and limit < self.pos + TAG_WINDOW:
            self.held = True
            return
        first = _FIRST_CLOSING.match(text, start, limit)
        if first and not _TAG.search(text, start, first.end()):
            self._add_tag(tag, start, first.end() - 1)
        else:
            reason = "not closed" if limit == self.block_end else f"longer than {TAGGED_FACT_LENGTH} characters"
            self.found.append((tag, one_line(text[start:limit]), reason))
            self._emit(start)

    def _add_tag(self, tag: str, start: int, stop: int) -> None:
        self.found.append((tag, one_line(self.text[start:stop]), None))
        self._remove(stop + 1)

    def _json(self, start: int) -> None:
        """Removes a REMEMBER with its JSON, or leaves it visible if that is invalid."""
        at = min(_end(_ANY_SPACE, self.text, start), self.block_end)
        source = self.text[at : min(self.block_end, at + JSON_WINDOW)]
        data, size, unfinished = _read_json(source) if source.startswith("{") else (None, 0, not source)
        if data is not None:
            self.found.append(("REMEMBER", str(data.get("content", source[:size])), data))
            self._remove(at + size)
        elif unfinished and self.block_open and len(source) < JSON_WINDOW:
            self.held = True
        else:
            self.found.append(
                ("REMEMBER", one_line(source[:TAGGED_FACT_LENGTH]), "not followed by a valid JSON object")
            )
            self._emit(start)
