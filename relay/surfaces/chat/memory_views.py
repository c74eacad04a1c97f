"""Which page of a list of memories or changes a button leads to. Its form in a button's data never changes."""

from __future__ import annotations

import re

from relay.core.frozen import frozen
from relay.core.text import parse_number
from relay.memory.rows.memories import MemoryFilter

WORDS = 32
"""Bytes of a search that fit into a button's data."""
LAST_PAGE = 999_999
CHOSEN = {
    "a": MemoryFilter(),
    "f": MemoryFilter(facts=True),
    "t": MemoryFilter(kind="fact"),
    "r": MemoryFilter(kind="preference"),
    "d": MemoryFilter(kind="decision"),
    "g": MemoryFilter(kind="goal"),
    "e": MemoryFilter(kind="event"),
    "h": MemoryFilter(kind="person"),
    "m": MemoryFilter(kind="feeling"),
    "l": MemoryFilter(kind="learning"),
    "i": MemoryFilter(kind="learning", category="identity"),
    "k": MemoryFilter(kind="learning", category="knowledge"),
    "o": MemoryFilter(kind="learning", category="operational"),
    "p": MemoryFilter(pinned=True),
    "n": MemoryFilter(unconfirmed=True),
    "z": MemoryFilter(past=True),
}
"""The filters of a list, by their letters in buttons."""


def page_in(text: str) -> int:
    """Parses a page number from 1; anything else is the first page."""
    return min(max(parse_number(text) or 1, 1), LAST_PAGE)


@frozen
class View:
    """A page of a filtered list: a filter (one of CHOSEN, `u` with a person's id, `w` for words) and a page from 1."""

    chosen: str = "a"
    page: int = 1
    words: str = ""

    @classmethod
    def decode(cls, text: str) -> View:
        """Parses a button's data; anything unknown is the first page of everything."""
        chosen, _, rest = text.partition(".")
        page, _, words = rest.partition(".")
        if chosen not in CHOSEN and not re.fullmatch(r"u[0-9]{1,18}", chosen) and (chosen != "w" or not words):
            return cls()
        if len(words.encode("utf-8", "replace")) > WORDS:
            return cls()
        return cls(chosen, page_in(page), words if chosen == "w" else "")

    @classmethod
    def search(cls, text: str) -> View:
        """Searches for as many of these words as fit into a button's data."""
        text = " ".join(text.replace(":", " ").split())
        words = text.encode("utf-8", "ignore")[:WORDS].decode("utf-8", "ignore").strip()
        if len(words) < len(text) and text[len(words)] != " ":
            words = words.rpartition(" ")[0] or words
        return cls("w", 1, words) if words else cls()

    def encode(self) -> str:
        """Returns its form in a button's data."""
        return f"{self.chosen}.{self.page}" + (f".{self.words}" if self.words else "")

    @property
    def filter(self) -> MemoryFilter:
        """The filter of the memories to show."""
        if self.chosen == "w":
            return MemoryFilter(words=self.words)
        return CHOSEN[self.chosen] if self.chosen in CHOSEN else MemoryFilter(subject_id=int(self.chosen[1:]))


@frozen
class HistoryView:
    """A page of changes: all of them, or those waiting for a tap."""

    waiting: bool = False
    page: int = 1

    @classmethod
    def decode(cls, text: str) -> HistoryView:
        """Parses a button's data (`a.1`, `w.2`); anything unknown is the first page of all changes."""
        kind, _, page = text.partition(".")
        return cls(kind == "w", page_in(page))

    def encode(self) -> str:
        """Returns its form in a button's data."""
        return f"{'w' if self.waiting else 'a'}.{self.page}"
