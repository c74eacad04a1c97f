"""Which of Postgres's error codes (SQLSTATE) mean that the same call may be made again."""

from __future__ import annotations

import re

TRANSIENT = ("08", "53", "57P", "57014", "58", "40", "25006")
"""Classes or codes: connection, resources (disk full, too many connections), shutdown, statement timeout, system,
serialization, read-only (a failover in progress)."""


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
