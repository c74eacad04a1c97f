"""Limits the requests of each person."""

import math
import time
from collections.abc import Callable

from relay.core.limits import REQUESTS_PER_MINUTE

MOST_PEOPLE = 10_000


class RateLimiter:
    """A bucket of requests for each person, which refills within a minute."""

    def __init__(self, per_minute: int = REQUESTS_PER_MINUTE, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = per_minute
        self._clock = clock
        self._left: dict[int, tuple[float, float]] = {}
        """By user id: how many requests were left, and when (clock seconds)."""

    def take(self, user_id: int) -> int:
        """Takes a request from the person's bucket. Returns 0, or the seconds until there is one again."""
        now = self._clock()
        left, at = self._left.pop(user_id, (float(self._most), now))
        left = min(self._most, left + (now - at) * self._most / 60)
        taken = left >= 1
        self._left[user_id] = (left - taken, now)
        if len(self._left) > MOST_PEOPLE:
            self._left.pop(next(iter(self._left)))  # the person who has been silent longest
        return 0 if taken else math.ceil((1 - left) * 60 / self._most)
