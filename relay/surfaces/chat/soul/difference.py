"""The difference between two texts, for people to read. Pure."""

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
"""What texts are compared by, each with the gap before it. The end counts as one."""
MOST_LOOKS = 2_000_000
"""Pairs of equal units looked at for one difference, a pair again at each look; some 0.3 s."""
MOST_MARKS = 80
"""A Telegram message shows 100 stretches of formatting."""
AROUND = 80
"""Characters of an unchanged stretch that are shown at each end of it."""
REMOVED_AROUND = 200
HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U0010ffff]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f\u200c\u200d])"
)
"""What a person does not see. Joiners between letters that are not ASCII belong to their writing, or to an emoji."""


def difference(before: str, after: str) -> str:
    """What was removed (struck through) and added (bold), as Markdown; empty when nothing was.

    Unchanged and removed stretches are shortened when they are long; what was added is there whole.
    """
    if before == after:
        return ""
    found = few(pieces(before, after))
    told = ""
    for at, (sign, text) in enumerate(found):
        if sign == ADDED and at and not (text[0].isspace() or told[-1].isspace()):
            told += " "  # the marks of what was removed end just before
        told += as_markdown(sign, shortened(text, sign, first=at == 0, last=at == len(found) - 1))
    return told.strip("\n")


class Matcher(SequenceMatcher[str]):
    """Finds what is equal while there are looks left, and nothing more after that."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__(None, old, new, autojunk=False)
        self.looks_left = MOST_LOOKS
        counts = Counter(new)
        self._looks = list(accumulate((1 + counts[unit] for unit in old), initial=0))

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """As it is inherited; of no length where it would take more looks than are left."""
        self.looks_left -= self._looks[-1 if ahi is None else ahi] - self._looks[alo]
        return super().find_longest_match(alo, ahi, blo, bhi) if self.looks_left >= 0 else Match(alo, blo, 0)


def pieces(before: str, after: str) -> list[Piece]:
    """Both texts in one list: kept and removed pieces make up the first, kept and added ones the second."""
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
    return merged(found)


def merged(found: list[Piece]) -> list[Piece]:
    """The same with each stretch in one piece, what was removed before what was added."""
    result: list[Piece] = []
    texts = dict.fromkeys((REMOVED, ADDED, KEPT), "")
    for sign, text in found:
        if text and (texts[KEPT] if sign != KEPT else texts[REMOVED] or texts[ADDED]):
            result += texts.items()
            texts = dict.fromkeys(texts, "")
        texts[sign] += text
    return [piece for piece in [*result, *texts.items()] if piece[1]]


def few(found: list[Piece]) -> list[Piece]:
    """The same with so few changes that they can be read: what stands between two longer changes counts as changed."""
    reach = 1
    found = joined(found, reach)
    while sum(sign != KEPT for sign, _ in found) > MOST_MARKS:
        reach *= 4
        found = joined(found, reach)
    return found


def joined(found: list[Piece], reach: int) -> list[Piece]:
    """Changes made one where what was kept between them is shorter than both, or no longer than `reach` characters."""
    result: list[Piece] = []
    for at, (sign, text) in enumerate(found):
        before = max((len(piece) for kind, piece in found[max(at - 2, 0) : at] if kind != KEPT), default=0)
        after = max((len(piece) for kind, piece in found[at + 1 : at + 3] if kind != KEPT), default=0)
        short = len(text) <= reach or (len(text) <= min(before, after) and "\n" not in text)
        both = sign == KEPT and before and after and short
        result += [(REMOVED, text), (ADDED, text)] if both else [(sign, text)]
    return merged(result)


def shortened(text: str, sign: str, first: bool = False, last: bool = False) -> str:
    """A stretch without its middle when it is long; of an unchanged one at the beginning or the end of all, only what
    is next to a change."""
    around = AROUND if sign == KEPT else REMOVED_AROUND
    head = 0 if sign == KEPT and first else around
    tail = 0 if sign == KEPT and last else around
    if sign == ADDED or len(text) <= head + tail + AROUND:
        return text
    begin = re.sub(r"\S*$", "", text[:head]) or text[:head]
    end = (re.sub(r"^\S*", "", text[-tail:]) or text[-tail:]) if tail else ""
    return f"{begin}[…]{end}"


def as_markdown(sign: str, text: str) -> str:
    """A piece with its marks; white space around it stays outside of them."""
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
    """A text as Markdown that shows just it, line by line, and also what in it cannot be seen."""
    return "\n".join(_exact_line(line) for line in text.split("\n"))


def _exact_line(line: str) -> str:
    inner = line.strip()
    if not inner:
        return line[:1] and " "
    shown = escape_markdown(HIDDEN.sub(lambda hidden: f"⟨U+{ord(hidden[0]):04X}⟩", inner))
    if inner[0] in "-+=" or inner[0].isdigit():  # else it may begin a list, or make a heading of the line above
        shown = f"&#{ord(inner[0])};{shown[1:]}"
    indent = len(line) - len(line.lstrip())
    begin = "&#160;" * indent if indent > 1 else " " * indent
    return f"{begin}{shown}{' ' if line[-1].isspace() else ''}"
