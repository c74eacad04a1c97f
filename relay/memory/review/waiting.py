"""How long failed judging waits. Pure."""

from __future__ import annotations

from relay.core.errors import BudgetUsedUp, ModelError, ModelThrottled, ModelUnavailable

PATIENCE = 3
"""How often an unreachable model is tried before keywords judge."""
AGAIN_SECONDS = 600.0
"""When to retry what keywords judged; sooner if the model has answered something else."""
LONGEST_PAUSE = 300.0


def gone(error: Exception, failures: int) -> bool:
    """Tests whether to give up waiting for the model: it was unreachable a few times, or its server refuses
    permanently. A busy model doesn't count."""
    if isinstance(error, ModelThrottled):
        return False
    if isinstance(error, ModelError) and not isinstance(error, ModelUnavailable):
        return True
    return isinstance(error, ModelError | TimeoutError) and failures >= PATIENCE


def pause_after(error: Exception, failures: int, again: bool) -> float:
    """Returns seconds until a retry: as the model asks, else doubling each time."""
    if isinstance(error, ModelThrottled) and error.retry_after:
        return min(LONGEST_PAUSE, error.retry_after)
    if isinstance(error, BudgetUsedUp):
        return LONGEST_PAUSE
    return AGAIN_SECONDS if again else float(min(LONGEST_PAUSE, 5.0 * 2 ** min(failures, 10)))
