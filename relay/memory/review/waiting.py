"""How long failed judging waits. Pure."""

from __future__ import annotations

from relay.core.errors import ModelError, ModelThrottled, ModelUnavailable
from relay.core.retry import RetryPolicy

PATIENCE = 3
"""How many times an unreachable model is tried before keywords judge."""
AGAIN_SECONDS = 600.0
"""After how many seconds a model judges again what keywords judged; sooner if it has answered something else."""
PAUSES = RetryPolicy(first=5.0, longest=300.0, obeyed=300.0)
"""The pauses between two tries of a thread."""


def gives_up(error: Exception, failures: int) -> bool:
    """Tests whether to give up waiting for the model: it was unreachable a few times, or its server refuses
    permanently. A busy model doesn't count."""
    if isinstance(error, ModelThrottled):
        return False
    if isinstance(error, ModelError) and not isinstance(error, ModelUnavailable):
        return True
    return isinstance(error, ModelError | TimeoutError) and failures >= PATIENCE
