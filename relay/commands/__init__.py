"""What a user or an operator can do. Importing the rooms declares their verbs."""

from relay.commands.history import digest, search, sessions, summary, why
from relay.commands.memory import (
    browse,
    consolidation,
    controls,
    decisions,
    erase,
    export,
    forgetting,
    private,
    promote,
    remember,
)
from relay.commands.people import groups, people
from relay.commands.registry import ANSWERS, BUTTONS, VERBS
from relay.commands.session import session, settings, usage, voice
from relay.commands.soul import persona, soul

__all__ = [
    "ANSWERS",
    "BUTTONS",
    "VERBS",
    "browse",
    "consolidation",
    "controls",
    "decisions",
    "digest",
    "erase",
    "export",
    "forgetting",
    "groups",
    "people",
    "persona",
    "private",
    "promote",
    "remember",
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
