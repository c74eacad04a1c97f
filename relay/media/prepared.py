"""Files made ready for the model, kept in memory for a while. Nothing of them is on the disk."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

MOST_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Prepared:
    """A picture as the model sees it, or a document."""

    content: bytes
    mime: str
    width: int = 0
    height: int = 0
    frames: int = 1
    """Of how many pictures the animation is made of which this shows some."""
    preview: bool = False
    """Only the small picture that Telegram made of the file."""


class Cache:
    """What was prepared last, by the file's unique id."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        """`most`: bytes. What takes more than half of that is not kept."""
        self._most = most
        self._used = 0
        self._kept: OrderedDict[str, Prepared] = OrderedDict()

    def get(self, unique_id: str) -> Prepared | None:
        """What was made of a file; None when it is not here (any more)."""
        found = self._kept.get(unique_id)
        if found is not None:
            self._kept.move_to_end(unique_id)
        return found

    def put(self, unique_id: str, prepared: Prepared) -> None:
        """Keeps it, and lets go of what was not looked at for the longest time."""
        if unique_id in self._kept:
            self._used -= len(self._kept.pop(unique_id).content)
        if len(prepared.content) > self._most // 2:
            return
        self._kept[unique_id] = prepared
        self._used += len(prepared.content)
        while self._used > self._most:
            self._used -= len(self._kept.popitem(last=False)[1].content)
