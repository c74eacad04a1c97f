"""Markers in what a person writes: `##keepit0.80## passage ##/keepit##`. Pure.

The format is given: a marker has exactly two decimals, in any case; its content ends at the next marker, at
`##/keepit##` or at the end of the text, and is trimmed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from relay.core.frozen import frozen
from relay.core.limits import MARKERS_PER_MESSAGE
from relay.core.models import Block
from relay.core.prompt_markup import remove_invisible

PRESETS: Mapping[str, Decimal] = {
    "pinned": Decimal("1.00"),
    "critical": Decimal("0.90"),
    "important": Decimal("0.75"),
    "notable": Decimal("0.50"),
    "minor": Decimal("0.25"),
    "hint": Decimal("0.10"),
}
"""Weights with names, highest first."""
FAINT = "faint"
"""A weight below all presets."""
CONTEXT = 50
"""Characters on either side of a marker that are stored with it."""

SIGN = "##keepit"
_FLAGS = re.IGNORECASE | re.ASCII
HEAD = re.compile(r"##keepit(\d+\.\d{2})##", _FLAGS)
STOP = re.compile(r"##keepit|##/keepit##", _FLAGS)
"""The end of a passage. It is searched for separately, because that is much faster than a lazy pattern with a
lookahead."""
SYNTAX = re.compile(r"##keepit\d+\.\d{2}##[ \t]?|[ \t]?##/keepit##", _FLAGS)
"""The syntax that the model doesn't see. `relay.without_markers` removes the same in SQL."""
NEARLY = re.compile(r"##keepit(?!\d+\.\d{2}##)(\d+(?:[.,]\d*)?)##", _FLAGS)
"""A weight without exactly two decimals."""


@frozen
class Marker:
    """A marked passage of a text."""

    weight: Decimal
    """0.00–1.00, two decimals."""
    content: str
    start: int
    """Offset of the first `#`, in characters."""
    end: int
    """Offset after the untrimmed content."""


def find_markers(text: str) -> list[Marker]:
    """Returns a text's markers, in order. An empty passage doesn't make one."""
    markers = []
    for head in HEAD.finditer(text) if "##" in text else ():
        stop = STOP.search(text, head.end())
        end = stop.start() if stop else len(text)
        content = text[head.end() : end].strip()
        if remove_invisible(content).strip():
            markers.append(Marker(round_weight(Decimal(head[1])), content, head.start(), end))
    return markers


def markers_in(blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """Returns the markers in a person's own words, in order, as `relay_begin` and `relay_read_keepits` take them.
    Markers in what others wrote don't count."""
    found = (
        {
            "weight": str(one.weight),
            "content": one.content,
            "block": place,
            "start": one.start,
            "end": one.end,
            "context": context_of(text, one.start, one.end),
        }
        for place, text in own_texts(blocks)
        for one in find_markers(text)
    )
    return [row for row, _ in zip(found, range(MARKERS_PER_MESSAGE), strict=False)]


def own_texts(blocks: Sequence[Block]) -> Iterator[tuple[int, str]]:
    """Yields the place and text of each block that the person wrote themselves."""
    for place, block in enumerate(blocks):
        if block["type"] == "text" and not block.get("untrusted"):
            yield place, block["text"]


def context_of(text: str, start: int, end: int) -> str:
    """Returns the text on both sides of a passage, on one line."""
    before = remove_markers(text[max(0, start - CONTEXT) : start])
    after = remove_markers(text[end : end + CONTEXT])
    return " ".join(f"{before} … {after}".split()) if before.strip() or after.strip() else ""


def remove_markers(text: str) -> str:
    """Returns a text without the syntax of markers; the passages stay."""
    return SYNTAX.sub("", text) if "##" in text else text


def marker_notes(blocks: Sequence[Block]) -> list[str]:
    """Returns sentences for the person about markers of theirs that are invalid or don't count, each once. One in a
    caption doesn't: captions are untrusted, because the file's own words look the same."""
    own = [text for _, text in own_texts(blocks) if "##" in text]
    notes = []
    if nearly := next(filter(None, map(NEARLY.search, own)), None):
        meant = round_weight(Decimal(nearly[1].replace(",", ".")))
        notes.append(f"⚠️ a marker needs two decimals: {SIGN}{meant}##")
    if sum(len(find_markers(text)) for text in own) > MARKERS_PER_MESSAGE:
        notes.append(f"⚠️ only the first {MARKERS_PER_MESSAGE} markers of a message count")
    captions = [block["text"] for block in blocks if block.get("untrusted") == "caption"]
    if inside := next((one for text in captions for one in find_markers(text)), None):
        notes.append(f"⚠️ a marker in a caption doesn't count: reply to the file with /keepit {inside.weight}")
    return notes


def round_weight(weight: Decimal) -> Decimal:
    """Returns a weight within 0–1 with two decimals, rounded half up."""
    return min(max(weight, Decimal(0)), Decimal(1)).quantize(Decimal("0.01"), ROUND_HALF_UP)


def read_weight(word: str) -> Decimal | None:
    """Reads a weight: a preset's name, or a number from 0 to 1; None for anything else."""
    if word.lower() in PRESETS:
        return PRESETS[word.lower()]
    if not re.fullmatch(r"[0-9]{0,3}[.,]?[0-9]{0,9}", word):
        return None
    try:
        number = Decimal(word.replace(",", "."))
    except InvalidOperation:
        return None
    return round_weight(number) if number <= 1 else None


def name_weight(weight: Decimal) -> str:
    """Returns the name of a weight: that of the highest preset that is not above it."""
    return next((name for name, least in PRESETS.items() if weight >= least), FAINT)
