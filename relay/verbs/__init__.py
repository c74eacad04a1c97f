"""What a user or an operator can do. Importing the rooms declares their verbs."""

from relay.verbs import (
    decisions,
    export,
    memories,
    memory,
    people,
    persona,
    place,
    search,
    session,
    sessions,
    settings,
    soul,
    summary,
    usage,
    voice,
    why,
)
from relay.verbs.registry import ANSWERS, BUTTONS, VERBS

__all__ = [
    "ANSWERS",
    "BUTTONS",
    "VERBS",
    "decisions",
    "export",
    "memories",
    "memory",
    "people",
    "persona",
    "place",
    "search",
    "session",
    "sessions",
    "settings",
    "soul",
    "summary",
    "usage",
    "voice",
    "why",
]
