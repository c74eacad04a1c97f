"""When something that failed is tried again: the one policy of Relay. The loop is tenacity's."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, stop_after_delay
from tenacity.stop import stop_any

T = TypeVar("T")
Note = Callable[[BaseException], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential backoff with jitter, in seconds; a server that says when to come back is obeyed."""

    first: float = 0.5
    longest: float = 30.0
    obeyed: float = math.inf
    """How long a pause a server may ask for."""

    def pause(self, failures: int, error: BaseException | None = None) -> float:
        """Seconds to wait after so many failures in a row (1, 2 …).

        The error's `retry_after` where it has one, plus up to 5 %; else first · 2^(failures - 1), at most `longest`,
        of which the upper half is random ("equal jitter", AWS Architecture Blog, 2015).
        """
        asked = getattr(error, "retry_after", None)
        if asked is not None:
            return min(float(asked), self.obeyed) * random.uniform(1, 1.05)  # noqa: S311 - jitter, not a secret
        whole = min(self.longest, self.first * 2.0 ** min(failures - 1, 30))
        return whole / 2 + random.uniform(0, whole / 2)  # noqa: S311 - jitter, not a secret

    async def run(
        self,
        work: Callable[[], Awaitable[T]],
        on: tuple[type[BaseException], ...],
        *,
        but: tuple[type[BaseException], ...] = (),
        note: Note | None = None,
        tries: int | None = None,
        seconds: float | None = None,
        sleep: Callable[[float], Awaitable[None]] | None = None,
    ) -> T:
        """Does `work`, and again after each error of the types `on` that is none of `but`.

        `note` hears of the error before the pause. After `tries`, or once `seconds` have passed, the last error is
        raised; without either it is tried forever.
        """

        def helps(error: BaseException) -> bool:
            return isinstance(error, on) and not isinstance(error, but)

        def pause(state: RetryCallState) -> float:
            return self.pause(state.attempt_number, state.outcome.exception() if state.outcome else None)

        async def tell(state: RetryCallState) -> None:
            if note and state.outcome and (error := state.outcome.exception()):
                await note(error)

        async def attempt() -> T:  # what tenacity awaits must be a coroutine function, which a lambda is not
            return await work()

        stops = [stop_after_attempt(tries)] if tries else []
        stops += [stop_after_delay(seconds)] if seconds else []  # type: ignore[list-item]
        retrying = AsyncRetrying(
            sleep=sleep or asyncio.sleep, retry=retry_if_exception(helps), wait=pause, before_sleep=tell, reraise=True,
            stop=stop_any(*stops),
        )  # fmt: skip
        return await retrying(attempt)
