"""How long what could not be judged waits. Pure."""

from __future__ import annotations

from relay.core.errors import BudgetUsedUp, ModelError, ModelThrottled, ModelUnavailable

PATIENCE = 3
"""So often a model that is away is tried before keywords judge."""
AGAIN_SECONDS = 600.0
"""After so long what keywords have judged is tried again; sooner when the model has answered something else."""
LONGEST_PAUSE = 300.0


def gone(error: Exception, failures: int) -> bool:
    """Whether there is no use in waiting for the model: it was away a few times, or its server refuses for good.
    One that is only busy is not gone."""
    if isinstance(error, ModelThrottled):
        return False
    if isinstance(error, ModelError) and not isinstance(error, ModelUnavailable):
        return True
    return isinstance(error, ModelError | TimeoutError) and failures >= PATIENCE


def pause_after(error: Exception, failures: int, again: bool) -> float:
    """Seconds until something that failed is tried again: as long as the model asks, else twice as long each time."""
    if isinstance(error, ModelThrottled) and error.retry_after:
        return min(LONGEST_PAUSE, error.retry_after)
    if isinstance(error, BudgetUsedUp):
        return LONGEST_PAUSE
    return AGAIN_SECONDS if again else float(min(LONGEST_PAUSE, 5.0 * 2 ** min(failures, 10)))
