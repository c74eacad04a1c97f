"""What was worked out lately, kept in memory within a bound."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """What was made of files, by their unique ids."""

    def __init__(self, most: int, weigh: Callable[[T], int]) -> None:
        """`most`: what all may weigh together. What weighs more than half of that is not kept."""
        self._most = most
        self._weigh = weigh
        self._used = 0
        self._kept: OrderedDict[str, T] = OrderedDict()

    def get(self, unique_id: str) -> T | None:
        """What was made of a file; None when it is not here (any more)."""
        found = self._kept.get(unique_id)
        if found is not None:
            self._kept.move_to_end(unique_id)
        return found

    def put(self, unique_id: str, made: T) -> None:
        """Keeps it, and lets go of what was not looked at for the longest time."""
        if unique_id in self._kept:
            self._used -= self._weigh(self._kept.pop(unique_id))
        if self._weigh(made) > self._most // 2:
            return
        self._kept[unique_id] = made
        self._used += self._weigh(made)
        while self._used > self._most:
            self._used -= self._weigh(self._kept.popitem(last=False)[1])
