"""How long failed judging waits. Pure."""

from __future__ import annotations

from relay.core.errors import ModelError, ModelThrottled, ModelUnavailable
from relay.core.retry import RetryPolicy

PATIENCE = 3
"""How often an unreachable model is tried before keywords judge."""
AGAIN_SECONDS = 600.0
"""When to retry what keywords judged; sooner if the model has answered something else."""
PAUSES = RetryPolicy(first=5.0, longest=300.0, obeyed=300.0)
"""Between two tries of a thread."""


def gone(error: Exception, failures: int) -> bool:
    """Tests whether to give up waiting for the model: it was unreachable a few times, or its server refuses
    permanently. A busy model doesn't count."""
    if isinstance(error, ModelThrottled):
        return False
    if isinstance(error, ModelError) and not isinstance(error, ModelUnavailable):
        return True
    return isinstance(error, ModelError | TimeoutError) and failures >= PATIENCE
