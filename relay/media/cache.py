"""An in-memory cache with a size limit."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """Results by the unique id of their file."""

    def __init__(self, most: int, weigh: Callable[[T], int]) -> None:
        """`most`: the total weight. A result that weighs more than half of that is not cached."""
        self._most = most
        self._weigh = weigh
        self._used = 0
        self._kept: OrderedDict[str, T] = OrderedDict()

    def get(self, unique_id: str) -> T | None:
        """Returns a file's result; None if it is not cached."""
        found = self._kept.get(unique_id)
        if found is not None:
            self._kept.move_to_end(unique_id)
        return found

    def put(self, unique_id: str, made: T) -> None:
        """Caches a result, and drops the least recently used ones."""
        if unique_id in self._kept:
            self._used -= self._weigh(self._kept.pop(unique_id))
        if self._weigh(made) > self._most // 2:
            return
        self._kept[unique_id] = made
        self._used += self._weigh(made)
        while self._used > self._most:
            self._used -= self._weigh(self._kept.popitem(last=False)[1])
