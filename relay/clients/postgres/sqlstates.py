"""Which of Postgres's error codes (SQLSTATE) mean that the same call may be made again, and when."""

from __future__ import annotations

import re

TRANSIENT = ("08", "53", "57P", "57014", "58", "40", "25006")
"""Classes or codes: connection, resources (disk full, too many connections), shutdown, statement timeout, system,
serialization, read-only (a failover in progress)."""
IN_THE_WAY = ("40P01", "40001")
"""Deadlock, serialization failure: another call was in the way, and goes on now that nothing of this one remains."""
REFUSED = ("22", "54")
"""Classes: data exception, program limit exceeded."""


def is_refused(state: str) -> bool:
    """Whether a call that failed with this SQLSTATE will always fail for its very values."""
    return state.startswith(REFUSED)


def is_transient(state: str) -> bool:
    """Whether a call that failed with this SQLSTATE is safe to repeat, later."""
    return state.startswith(TRANSIENT)


def without_values(state: str, message: str) -> str:
    """What Postgres says about a value that it refused, without the value: it quotes what somebody wrote."""
    return re.sub('".*"', '"…"', message, flags=re.DOTALL) if is_refused(state) else message
