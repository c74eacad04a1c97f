"""Renders commands in a chat: in Telegram and at a terminal. Importing this package declares all handlers."""

from __future__ import annotations

# ruff: noqa: F401
from relay.commands.registry import COMMANDS
from relay.surfaces.chat.contexts import (
    compose,
    composition,
    compress,
    pruning,
    sessions,
    space_settings,
    version,
)
from relay.surfaces.chat.contexts.markers import keepit
from relay.surfaces.chat.handlers import ANSWERS, BUTTONS, HANDLERS
from relay.surfaces.chat.history import digest, search, summary, why
from relay.surfaces.chat.memory import (
    browse,
    cards,
    controls,
    decisions,
    erase,
    forgetting,
    remember,
)
from relay.surfaces.chat.people import groups, invites, people
from relay.surfaces.chat.preferences import choice, preferences, tags
from relay.surfaces.chat.reminders import dated, heartbeat, made, reminders
from relay.surfaces.chat.session import session, settings, status, usage, voice
from relay.surfaces.chat.soul import growth, persona, soul, trial

__all__ = ["ANSWERS", "BUTTONS", "COMMANDS", "HANDLERS"]
