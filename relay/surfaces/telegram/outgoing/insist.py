"""Repeats requests until Telegram answers them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from relay.core import metrics
from relay.core.errors import (
    DeliveryUncertain,
    MessengerError,
    MessengerThrottled,
    MessengerUnavailable,
    PollConflict,
    TokenRefused,
)
from relay.core.ports import Messenger
from relay.core.retry import RetryPolicy
from relay.core.tasks import wait_for, wait_or_cancel

REFUSED_SECONDS = 30.0
"""The pause while Telegram refuses the token, or the address of the webhook: a person has to fix it."""
RETRIES = RetryPolicy(first=0.75, longest=45.0)
T = TypeVar("T")


class Stopped(Exception):
    """The user stopped the answer while it waited."""


class RetryPauses:
    """The pauses before a failed request is repeated."""

    def __init__(self) -> None:
        self._failures = 0

    def next_pause(self, error: MessengerError) -> float:
        """Returns the pause in seconds. Raises the error if repeating is pointless."""
        pause = self._next_pause(error)
        metrics.RETRIES.labels("telegram", type(error).__name__).inc()
        return pause

    def _next_pause(self, error: MessengerError) -> float:
        if isinstance(error, TokenRefused | PollConflict):
            return REFUSED_SECONDS
        if not isinstance(error, MessengerThrottled | MessengerUnavailable | DeliveryUncertain):
            raise error
        self._failures += not isinstance(error, MessengerThrottled)
        return RETRIES.pause(self._failures, error)


async def sleep_or_stop(seconds: float, stop: asyncio.Event | None) -> None:
    """Sleeps. Raises `Stopped` as soon as `stop` is set."""
    if stop is None:
        await asyncio.sleep(seconds)
        return
    if await wait_for(stop, seconds):
        raise Stopped


async def run_or_stop(work: Awaitable[T], stop: asyncio.Event | None) -> T:
    """Returns the result of some work, which is not None. Raises `Stopped` as soon as `stop` is set."""
    done = await wait_or_cancel(stop or asyncio.Event(), work)
    if done is None:
        raise Stopped
    return done


async def call_until_answered(
    messenger: Messenger, method: str, stop: asyncio.Event | None = None, **parameters: Any
) -> Any:
    """Repeats an idempotent call until Telegram answers it. Raises `Stopped` if `stop` is set while it waits."""
    return await repeat_until_answered(partial(messenger.call, method, **parameters), stop)


async def repeat_until_answered(attempt: Callable[[], Awaitable[T]], stop: asyncio.Event | None = None) -> T:
    """Repeats an attempt that is safe to repeat until Telegram answers it. Raises `Stopped` if `stop` is set while it
    waits."""
    pauses = RetryPauses()
    while True:
        try:
            return await attempt()
        except MessengerError as error:
            if isinstance(error, TokenRefused) and error.absent:
                raise  # the method is not known there
            await sleep_or_stop(pauses.next_pause(error), stop)
