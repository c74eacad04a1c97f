"""Shows the difference between two texts to people. Pure."""

from __future__ import annotations

import re
from collections import Counter
from difflib import Match, SequenceMatcher
from itertools import accumulate

from relay.core.text import escape_markdown

Piece = tuple[str, str]
"""KEPT, REMOVED or ADDED, and a stretch of text."""
KEPT, REMOVED, ADDED = "=", "-", "+"
MARKS = {REMOVED: "~~", ADDED: "**"}

WORDS = re.compile(r"(\s*)(\S+|$)")
LINES = re.compile(r"(\n*)([^\n]+|$)")
"""The units to compare, each with the gap before it. The end counts as one."""
MOST_LOOKS = 2_000_000
"""The most comparisons of equal units for one difference; about 0.3 s."""
MOST_MARKS = 80
"""The most changes to mark: a Telegram message shows 100 stretches of formatting."""
AROUND = 80
"""Characters to show at each end of an unchanged stretch."""
REMOVED_AROUND = 200
HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U0010ffff]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f\u200c\u200d])"
)
"""Invisible characters. Joiners between letters that are not ASCII belong to a script, or to an emoji."""


def difference(before: str, after: str) -> str:
    """Marks removed text (struck through) and added text (bold), as Markdown; empty if the texts are equal.

    Long unchanged and removed stretches are shortened; added text is shown in full.
    """
    if before == after:
        return ""
    found = limit_changes(pieces(before, after))
    marked = ""
    for at, (sign, text) in enumerate(found):
        if sign == ADDED and at and not (text[0].isspace() or marked[-1].isspace()):
            marked += " "  # the marks of the removed text end just before
        marked += as_markdown(sign, shorten_piece(text, sign, first=at == 0, last=at == len(found) - 1))
    return marked.strip("\n")


class Matcher(SequenceMatcher[str]):
    """Finds equal stretches until `MOST_LOOKS` is used up, and none after that."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__(None, old, new, autojunk=False)
        self.looks_left = MOST_LOOKS
        counts = Counter(new)
        self._looks = list(accumulate((1 + counts[unit] for unit in old), initial=0))

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """Finds the longest match; an empty one if that would take more looks than are left."""
        self.looks_left -= self._looks[-1 if ahi is None else ahi] - self._looks[alo]
        return super().find_longest_match(alo, ahi, blo, bhi) if self.looks_left >= 0 else Match(alo, blo, 0)


def pieces(before: str, after: str) -> list[Piece]:
    """Splits both texts into one list: kept and removed pieces are the first text, kept and added ones the second."""
    for units in (WORDS, LINES):
        old, new = units.findall(before), units.findall(after)
        matcher = Matcher([unit for _, unit in old], [unit for _, unit in new])
        changes = matcher.get_opcodes()
        if matcher.looks_left >= 0:
            break
    found: list[Piece] = []
    for kind, i, j, k, m in changes:
        if kind == "equal":
            for (gap, unit), (other, _) in zip(old[i:j], new[k:m], strict=True):
                found += [(KEPT, gap)] if gap == other else [(REMOVED, gap), (ADDED, other)]
                found.append((KEPT, unit))
        else:
            found += [(REMOVED, "".join(gap + unit for gap, unit in old[i:j]))]
            found += [(ADDED, "".join(gap + unit for gap, unit in new[k:m]))]
    return merge_pieces(found)


def merge_pieces(found: list[Piece]) -> list[Piece]:
    """Joins neighbours of the same kind, removed text before added text."""
    result: list[Piece] = []
    texts = dict.fromkeys((REMOVED, ADDED, KEPT), "")
    for sign, text in found:
        if text and (texts[KEPT] if sign != KEPT else texts[REMOVED] or texts[ADDED]):
            result += texts.items()
            texts = dict.fromkeys(texts, "")
        texts[sign] += text
    return [piece for piece in [*result, *texts.items()] if piece[1]]


def limit_changes(found: list[Piece]) -> list[Piece]:
    """Joins changes until there are few enough to read."""
    reach = 1
    found = join_changes(found, reach)
    while sum(sign != KEPT for sign, _ in found) > MOST_MARKS:
        reach *= 4
        found = join_changes(found, reach)
    return found


def join_changes(found: list[Piece], reach: int) -> list[Piece]:
    """Joins changes if the kept text between them is shorter than both, or at most `reach` characters long."""
    result: list[Piece] = []
    for at, (sign, text) in enumerate(found):
        before = max((len(piece) for kind, piece in found[max(at - 2, 0) : at] if kind != KEPT), default=0)
        after = max((len(piece) for kind, piece in found[at + 1 : at + 3] if kind != KEPT), default=0)
        short = len(text) <= reach or (len(text) <= min(before, after) and "\n" not in text)
        both = sign == KEPT and before and after and short
        result += [(REMOVED, text), (ADDED, text)] if both else [(sign, text)]
    return merge_pieces(result)


def shorten_piece(text: str, sign: str, first: bool = False, last: bool = False) -> str:
    """Cuts the middle out of a long piece. An unchanged first or last piece keeps only the part next to a change."""
    around = AROUND if sign == KEPT else REMOVED_AROUND
    head = 0 if sign == KEPT and first else around
    tail = 0 if sign == KEPT and last else around
    if sign == ADDED or len(text) <= head + tail + AROUND:
        return text
    begin = re.sub(r"\S*$", "", text[:head]) or text[:head]
    end = (re.sub(r"^\S*", "", text[-tail:]) or text[-tail:]) if tail else ""
    return f"{begin}[…]{end}"


def as_markdown(sign: str, text: str) -> str:
    """Puts marks around a piece; its outer white space stays outside of them."""
    if sign == KEPT:
        return exact(text)
    mark, inner = MARKS[sign], text.strip()
    if not inner:
        symbol = "¶" if "\n" in text else "␣"
        return f" {mark}{symbol}{mark} " + (exact(text) if sign == ADDED else "")
    at = text.index(inner)
    # An empty line would end the marks.
    shown = "\n".join(line if line.strip() else "&#8203;" for line in exact(inner).split("\n"))
    return f"{exact(text[:at])}{mark}{shown}{mark}{exact(text[at + len(inner) :])}"


def exact(text: str) -> str:
    """Escapes a text so that Markdown shows it verbatim, line by line, with its invisible characters."""
    return "\n".join(_exact_line(line) for line in text.split("\n"))


def _exact_line(line: str) -> str:
    inner = line.strip()
    if not inner:
        return line[:1] and " "
    shown = escape_markdown(HIDDEN.sub(lambda hidden: f"⟨U+{ord(hidden[0]):04X}⟩", inner))
    # It could begin a list, or make the line above a heading.
    if shown[0] == inner[0] and (inner[0] in "-+=" or inner[0].isdigit()):
        shown = f"&#{ord(inner[0])};{shown[1:]}"
    indent = len(line) - len(line.lstrip())
    begin = "&#160;" * indent if indent > 1 else " " * indent
    return f"{begin}{shown}{' ' if line[-1].isspace() else ''}"
