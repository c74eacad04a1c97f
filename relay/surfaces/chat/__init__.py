"""Renders commands in a chat: in Telegram and at a terminal. Importing this package declares all handlers."""

# ruff: noqa: F401

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
from relay.surfaces.chat.preferences import choice, critique, preferences, tags
from relay.surfaces.chat.session import session, settings, status, usage, voice
from relay.surfaces.chat.soul import persona, soul

__all__ = ["ANSWERS", "BUTTONS", "COMMANDS", "HANDLERS"]
