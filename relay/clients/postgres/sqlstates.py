"""Classifies PostgreSQL's error codes (SQLSTATE): whether and when a call may be repeated."""

from __future__ import annotations

import re

from relay.core.errors import DatabaseError, DataReplaced, TurnLost, TurnUndone

TRANSIENT = ("08", "53", "57P", "57014", "58", "40", "25006")
"""Classes or codes: connection, resources (disk full, too many connections), shutdown, statement timeout, system,
serialization, read-only (a failover in progress)."""
TOO_SLOW = "57014"
"""The statement was cancelled, as by a statement timeout."""
IN_THE_WAY = ("40P01", "40001")
"""Deadlock and serialization failure: another call interfered. This one was rolled back and can be repeated."""
OWN: dict[str, type[DatabaseError]] = {"RL001": TurnLost, "RL002": TurnUndone, "RL003": DataReplaced}
"""The codes that Relay's own functions raise."""
REFUSED = ("22", "54")
"""Classes: data exception, program limit exceeded."""


def is_refused(state: str) -> bool:
    """Tests whether a call with this SQLSTATE will always fail for its values."""
    return state.startswith(REFUSED)


def is_transient(state: str) -> bool:
    """Tests whether a call with this SQLSTATE can safely be repeated later."""
    return state.startswith(TRANSIENT)


def remove_values(state: str, message: str) -> str:
    """Returns PostgreSQL's message about a refused value without the value, which may quote what someone wrote."""
    return re.sub('".*"', '"…"', message, flags=re.DOTALL) if is_refused(state) else message
