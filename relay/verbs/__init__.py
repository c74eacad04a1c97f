"""What a user or an operator can do. Importing the rooms declares their verbs."""

from relay.verbs import memory, search, session, sessions, soul, summary
from relay.verbs.registry import ANSWERS, BUTTONS, VERBS

__all__ = ["ANSWERS", "BUTTONS", "VERBS", "memory", "search", "session", "sessions", "soul", "summary"]
