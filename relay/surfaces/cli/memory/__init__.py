"""`relay memory …`: a person's own memory in the shell; with --json, for programs."""

from __future__ import annotations

from relay.surfaces.cli.memory import change, look, work
from relay.surfaces.cli.memory.group import memory

__all__ = ["change", "look", "memory", "work"]
