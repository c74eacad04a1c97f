"""How a chat shows commands, in Telegram and at a terminal. Importing this package declares all handlers."""

from relay.commands.registry import COMMANDS
from relay.surfaces.chat.handlers import ANSWERS, BUTTONS, HANDLERS
from relay.surfaces.chat.history import digest, search, sessions, summary, why
from relay.surfaces.chat.memory import (
    browse,
    consolidation,
    controls,
    decisions,
    erase,
    export,
    forgetting,
    private,
    remember,
)
from relay.surfaces.chat.people import groups, invites, people
from relay.surfaces.chat.preferences import preferences, tags
from relay.surfaces.chat.session import session, settings, status, usage, voice
from relay.surfaces.chat.soul import persona, soul

__all__ = [
    "ANSWERS",
    "BUTTONS",
    "COMMANDS",
    "HANDLERS",
    "browse",
    "consolidation",
    "controls",
    "decisions",
    "digest",
    "erase",
    "export",
    "forgetting",
    "groups",
    "invites",
    "people",
    "persona",
    "preferences",
    "private",
    "remember",
    "search",
    "session",
    "sessions",
    "settings",
    "soul",
    "status",
    "summary",
    "tags",
    "usage",
    "voice",
    "why",
]
