"""The retry policy of Relay: when something that failed is tried again. The loop is tenacity's."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, stop_after_delay
from tenacity.stop import stop_any

from relay.core.frozen import frozen

T = TypeVar("T")
Note = Callable[[BaseException], Awaitable[None]]


@frozen
class RetryPolicy:
    """Exponential backoff with jitter, in seconds. If the server asks for more, it gets that."""

    first: float = 0.5
    longest: float = 30.0
    obeyed: float = math.inf
    """The longest pause that a server may ask for."""

    def pause(self, failures: int, error: BaseException | None = None) -> float:
        """Returns the seconds to wait after a number of failures in a row (1, 2 …).

        This is first · 2^(failures - 1), at most `longest`, with its upper half random ("equal jitter", AWS
        Architecture Blog, 2015); or the error's `retry_after` plus up to 5 %, if that is longer.
        """
        asked = float(getattr(error, "retry_after", None) or 0)
        whole = min(self.longest, self.first * 2.0 ** min(failures - 1, 30))
        own = whole / 2 + random.uniform(0, whole / 2)  # noqa: S311 - jitter, not a secret
        return max(own, min(asked, self.obeyed) * random.uniform(1, 1.05))  # noqa: S311 - jitter, not a secret

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
        """Runs `work` and returns its result. Repeats it after errors of the types `on`, except those of the types
        `but`.

        `note` is called with the error before each pause. The last error is raised after `tries`, or once `seconds`
        have passed; without either, there is no limit.
        """

        def helps(error: BaseException) -> bool:
            return isinstance(error, on) and not isinstance(error, but)

        def pause(state: RetryCallState) -> float:
            return self.pause(state.attempt_number, state.outcome.exception() if state.outcome else None)

        async def tell(state: RetryCallState) -> None:
            if note and state.outcome and (error := state.outcome.exception()):
                await note(error)

        async def attempt() -> T:  # tenacity awaits it, so it must be a coroutine function, not a lambda
            return await work()

        stops = [stop_after_attempt(tries)] if tries else []
        stops += [stop_after_delay(seconds)] if seconds else []  # type: ignore[list-item]
        retrying = AsyncRetrying(
            sleep=sleep or asyncio.sleep, retry=retry_if_exception(helps), wait=pause, before_sleep=tell, reraise=True,
            stop=stop_any(*stops),
        )  # fmt: skip
        return await retrying(attempt)
